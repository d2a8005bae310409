#!/usr/bin/env python3
"""Checks that messages with strided and vector datatypes go without packing: librma counts their layouts.

usage: column_counts.py RMARUN PROGRAM
"""

import json
import subprocess
import sys


def counts(rmarun, program, columns, triangles):
    """The statistics of both ranks, by rank."""
    command = [rmarun, "-n", "2", "--timeout", "120", "--env", "RMA_STATS=json", program, str(columns), str(triangles)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)} has failed:\n{run.stdout}{run.stderr}")
    objects = [json.loads(line) for line in run.stderr.splitlines() if line.startswith("{")]
    if sorted(one["rank"] for one in objects) != [0, 1]:
        sys.exit(f"not one object per rank:\n{run.stderr}")
    return sorted(objects, key=lambda one: one["rank"])


def main():
    rmarun, program = sys.argv[1:]
    for columns, triangles in (0, 0), (7, 0), (0, 5), (6, 4):
        for one in counts(rmarun, program, columns, triangles):
            if (one["strided"], one["vector"]) != (columns, triangles):
                sys.exit(f"rank {one['rank']} counts {one['strided']} strided and {one['vector']} vector layouts of "
                         f"{columns} columns and {triangles} triangles")


if __name__ == "__main__":
    main()
