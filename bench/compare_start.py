#!/usr/bin/env python3
"""Measures how long jobs take from their command to their end, on hosts that are network namespaces: `true`, started by
Open MPI's mpirun alone and by rmarun, which runs it as its engine, and a program of librma whose ranks communicate.

usage: compare_start.py --build DIR [--rounds N] [--quick] [--json FILE]

--quick measures only the smallest job. Exit code 77: network namespaces are not permitted, or there is no mpirun.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOSTS = "abcdefgh"
JOBS = ((2, 1), (2, 2), (8, 2), (16, 4), (32, 8), (64, 8))  # (ranks, hosts)
LIMIT = 120  # seconds

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
options.add_argument("--rounds", type=int, default=3)
options.add_argument("--quick", action="store_true")
options.add_argument("--json", type=pathlib.Path)
chosen = options.parse_args()
programs = chosen.build.resolve() / "bin"

# The hosts of rmarun's tests; their module takes the launcher from the command line.
sys.path.insert(0, str(ROOT / "tests" / "launcher"))
sys.argv = [sys.argv[0], "", str(programs / "rmarun"), ""]
from network import Network  # noqa: E402


def commands(hosts: Network, ranks: int, count: int) -> dict:
    """For each starter the words that run a job."""
    places = ",".join(f"{name}:{ranks // count}" for name in HOSTS[:count])
    engine = ["mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", hosts.agent, "--bind-to", "none", "--oversubscribe",
              "--host", places, "-n", str(ranks)]
    rmarun = [str(programs / "rmarun"), "--agent", hosts.agent, "--hosts", places]
    network = ["--env", "RMA_SHM=off", "--env", "RMA_NETWORK=ofi", str(programs / "example-hello_put")]
    return {"engine": [*engine, "true"], "rmarun": [*rmarun, "true"], "librma": [*rmarun, *network]}


def seconds(hosts: Network, command: list) -> float:
    begin = time.monotonic()
    subprocess.run(hosts.inside("head", *command), check=True, capture_output=True, timeout=LIMIT)
    return time.monotonic() - begin


def main() -> None:
    if shutil.which("mpirun.openmpi") is None:
        print("compare_start: skipped: there is no mpirun.openmpi")
        sys.exit(77)
    jobs = JOBS[:1] if chosen.quick else JOBS
    found: dict = {}
    with tempfile.TemporaryDirectory(prefix="rma-start-") as name, Network(name, *HOSTS) as hosts:
        for _ in range(chosen.rounds):
            for job in jobs:
                for starter, command in commands(hosts, *job).items():
                    found.setdefault(job, {}).setdefault(starter, []).append(seconds(hosts, command))
    rows = []
    print(f"{'from the command to the end':<34}{'mpirun s':>12}{'rmarun s':>12}{'with librma s':>16}")
    for (ranks, count), times in found.items():
        medians = {starter: statistics.median(each) for starter, each in times.items()}
        row = f"{ranks} ranks on {count} host{'s' if count > 1 else ''}"
        print(f"{row:<34}{medians['engine']:>12.2f}{medians['rmarun']:>12.2f}{medians['librma']:>16.2f}")
        rows.append({"row": row, "s": medians})
    if chosen.json:
        chosen.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
