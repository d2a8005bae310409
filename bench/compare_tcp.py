#!/usr/bin/env python3
"""Compares librma's MPI with Open MPI and MPICH over TCP, between two hosts: network namespaces with a cable between them.
Each round runs all of them in turn. A library whose program fails or takes longer than two minutes has no figure.

usage: compare_tcp.py --build DIR [--rounds N] [--iterations N] [--megabytes N] [--json FILE]

The programs of the other libraries are compiled in DIR/compare-ofi. Exit code 77: network namespaces are not permitted.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = "mpi-network-bench"
LIMIT = 120  # seconds

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
options.add_argument("--rounds", type=int, default=3)
options.add_argument("--iterations", type=int, default=1000)
options.add_argument("--megabytes", type=int, default=128)
options.add_argument("--json", type=pathlib.Path)
chosen = options.parse_args()
build = chosen.build.resolve()

# The hosts of rmarun's tests; their module takes the launcher from the command line.
sys.path.insert(0, str(ROOT / "tests" / "launcher"))
sys.argv = [sys.argv[0], "", str(build / "bin" / "rmarun"), ""]
from network import Network  # noqa: E402


def compiled(name: str, compiler: str, folder: pathlib.Path) -> str:
    """The program of another library, or an empty text if it is not installed."""
    if shutil.which(compiler) is None:
        return ""
    program = folder / f"{PROGRAM}-{name}"
    sources = [str(ROOT / "bench" / "network" / "mpi_network.cpp"), *map(str, (ROOT / "bench" / "harness").glob("*.cpp"))]
    subprocess.run([compiler, "-std=c++20", "-O3", "-DNDEBUG", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-I{ROOT / 'bench'}",
                    f'-DRMA_BENCH_MPI="{name}"', *sources, "-o", str(program)], check=True)
    return str(program)


def commands(hosts: Network, folder: pathlib.Path) -> dict:
    """For each library the words that start two ranks on the two hosts."""
    result = {"librma": [str(build / "bin" / "rmarun"), "--agent", hosts.agent, "--hosts", "a:1,b:1", "--env", "RMA_SHM=off",
                         "--env", "RMA_NETWORK=ofi", str(build / "bin" / PROGRAM)]}
    lan = "10.99.0.0/16"
    if program := compiled("openmpi", "mpicxx.openmpi", folder):
        result["Open MPI"] = ["mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", hosts.agent, "--host", "a:1,b:1",
                              "-n", "2", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "osc", "pt2pt,rdma", "--mca", "btl", "tcp,self", "--mca",
                              "btl_tcp_if_include", lan, "--mca", "oob_tcp_if_include", lan, program]
    if program := compiled("mpich", "mpicxx.mpich", folder):
        result["MPICH"] = ["mpirun.mpich", "-launcher", "ssh", "-launcher-exec", hosts.agent, "-iface", "lan0", "-hosts", "a,b",
                           "-n", "2", "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0", program]
    return result


def measure(hosts: Network, command: list, folder: pathlib.Path) -> dict:
    """Returns the median of each row in nanoseconds; nothing if the program fails."""
    file = folder / "rows.json"
    file.unlink(missing_ok=True)
    words = hosts.inside("head", "timeout", str(LIMIT), *command, str(chosen.iterations), str(chosen.megabytes), str(file))
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0 or not file.exists():
        print(f"compare_tcp: {command[0]}: exit code {done.returncode}: {done.stderr[-400:]}", file=sys.stderr)
        return {}
    return {row["row"]: row["median"] for row in json.loads(file.read_text())["rows"]}


def main() -> None:
    found: dict = {}
    with tempfile.TemporaryDirectory(prefix="rma-tcp-") as name, Network(name, "a", "b") as hosts:
        folder = build / "compare-ofi"
        folder.mkdir(exist_ok=True)
        programs = commands(hosts, folder)
        for _ in range(chosen.rounds):
            for library, command in programs.items():
                for row, value in measure(hosts, command, folder).items():
                    found.setdefault(row, {}).setdefault(library, []).append(value)
    rows = []
    others = [library for library in programs if library != "librma"]
    print(f"{'between two hosts by TCP':<34}{'librma us':>12}" + "".join(f"{name + ' us':>14}{'ratio':>8}" for name in others))
    for row, values in found.items():
        medians = {library: statistics.median(each) / 1000 for library, each in values.items()}
        ours = medians.get("librma", float("nan"))
        cells = "".join(f"{medians[name]:>14.2f}{ours / medians[name]:>8.2f}" if name in medians else f"{'-':>14}{'-':>8}"
                        for name in others)
        print(f"{row:<34}{ours:>12.2f}{cells}")
        rows.append({"row": row, "us": medians})
    if chosen.json:
        chosen.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
