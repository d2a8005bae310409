#!/usr/bin/env python3
"""Runs nas_mg and nas_mg_mpi on the same cores, alternately, and prints the ratio of their run times."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/bin"), help="where the programs are")
    parser.add_argument("--mpirun", default="mpirun.openmpi", help="Open MPI's launcher")
    parser.add_argument("--ranks", type=int, default=2, help="at most as many as there are cores")
    parser.add_argument("--class", dest="problem", default="A", help="nas_mg's --class")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    if arguments.ranks > cores:
        parser.error(f"{arguments.ranks} ranks on {cores} cores would measure who gets the cores")
    return arguments


def run(command):
    """The seconds of one run. Raises where it fails: a wrong result must not enter the ratio."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=600, env=environment)
    return json.loads(done.stdout)["seconds"]


def summary(values):
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


def main():
    arguments = parse_arguments()
    ranks = ["-n", str(arguments.ranks)]
    shape = ["--class", arguments.problem, "--json"]
    rma = [str(arguments.bin / "rmarun"), *ranks, "--bind", "core", str(arguments.bin / "nas_mg"), *shape]
    mpi = [arguments.mpirun, *ranks, "--bind-to", "core", str(arguments.bin / "nas_mg_mpi"), *shape]

    seconds = {"rma": [], "mpi": []}
    for _ in range(arguments.rounds):
        seconds["rma"].append(run(rma))
        seconds["mpi"].append(run(mpi))
    result = {
        "class": arguments.problem,
        "ranks": arguments.ranks,
        "rounds": arguments.rounds,
        "rma_seconds": summary(seconds["rma"]),
        "mpi_seconds": summary(seconds["mpi"]),
        # Neighbours in time share what else the machine is doing: the ratio of each pair, then the median.
        "ratio": summary([ours / theirs for ours, theirs in zip(seconds["rma"], seconds["mpi"])]),
    }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"MG class {arguments.problem} on {arguments.ranks} ranks, {arguments.rounds} rounds")
    for name, unit in (("rma_seconds", "s"), ("mpi_seconds", "s"), ("ratio", "")):
        value = result[name]
        print(f"{name:11} median {value['median']:.3g} {unit} ({value['lowest']:.3g} to {value['highest']:.3g})")


if __name__ == "__main__":
    try:
        main()
    except (subprocess.SubprocessError, OSError) as error:
        sys.exit(f"compare_mpi.py: {error}")
