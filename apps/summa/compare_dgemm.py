#!/usr/bin/env python3
"""Runs summa and one dgemm call on the same cores, alternately, and prints the ratio of their speeds."""

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
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--size", type=int, default=2048, help="rows and columns of all three matrices")
    parser.add_argument("--block", type=int, default=256, help="summa's --block")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser.parse_args()


def run(command):
    """The JSON that a program prints. Raises where it fails: a wrong product must not enter the ratio."""
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=600).stdout)


def summary(values):
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


def main():
    arguments = parse_arguments()
    size = str(arguments.size)
    shape = ["--m", size, "--n", size, "--k", size, "--json"]
    cores = len(os.sched_getaffinity(0))
    summa = [str(arguments.bin / "rmarun"), "-n", str(arguments.ranks), str(arguments.bin / "summa")]
    summa += shape + ["--block", str(arguments.block), "--verify"]
    dgemm = [str(arguments.bin / "dgemm-control")] + shape + ["--threads", str(cores)]

    rates = {"summa": [], "dgemm": []}
    for _ in range(arguments.rounds):
        rates["summa"].append(run(summa)["runs"][0]["gflops"])
        rates["dgemm"].append(run(dgemm)["gflops"])
    result = {
        "ranks": arguments.ranks,
        "cores": cores,
        "size": arguments.size,
        "rounds": arguments.rounds,
        "summa_gflops": summary(rates["summa"]),
        "dgemm_gflops": summary(rates["dgemm"]),
        # Neighbours in time share what else the machine is doing: the ratio of each pair, then the median.
        "ratio": summary([ours / theirs for ours, theirs in zip(rates["summa"], rates["dgemm"])]),
    }
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    print(f"{size} x {size}: summa on {arguments.ranks} ranks, dgemm on {cores} threads, {arguments.rounds} rounds")
    for name, unit in (("summa_gflops", "GFLOP/s"), ("dgemm_gflops", "GFLOP/s"), ("ratio", "")):
        value = result[name]
        print(f"{name:13} median {value['median']:.3g} {unit} ({value['lowest']:.3g} to {value['highest']:.3g})")


if __name__ == "__main__":
    try:
        main()
    except (subprocess.SubprocessError, OSError) as error:
        sys.exit(f"compare_dgemm.py: {error}")
