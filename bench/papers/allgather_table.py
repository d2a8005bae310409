#!/usr/bin/env python3
"""Draws the figures from the measurements of figures.sh --paper allgather, and prints the ratios that have goals.

usage: allgather_table.py ROUNDS --out DIR

ROUNDS is a folder; each folder round-* in it has the outputs of collectives-bench of one round, which are named after
the way, the local buffers and the number of hosts, as in rdma-cache-4.json. Each host has one rank.
"""

import json
import re
import sys

from figure_tools import curve, entry, figure, middle, ratio, read_rounds, run_table, size_text

NAME = re.compile(r"(p2p|rdma)-(cache|register)-([0-9]+)")
REUSE = {"cache": "with reuse of buffers", "register": "without reuse"}
GOAL_SIZE = 32768
GOAL_HOSTS = 4
# The latency over point to point divided by that of RDMA: 30 % less on 32 processes, and 4.75 times.
PAPER = {"cache": 1 / 0.7, "register": 4.75}
GOALS = {"cache": 1 / 0.75, "register": 3}


def read(folder):
    """Returns {(way, buffers, hosts, bytes): median} of one round."""
    values = {}
    for file in sorted(folder.glob("*.json")):
        match = NAME.fullmatch(file.stem)
        if not match:
            continue
        for row in json.loads(file.read_text())["rows"]:
            values[(match.group(1), match.group(2), int(match.group(3)), row["bytes"])] = row["median"]
    return values


def measured(rounds, place):
    return sorted({key[place] for each in rounds for key in each})


def figures(rounds):
    found = []
    for buffers, title in REUSE.items():
        for hosts in measured(rounds, 2):
            found.append(figure(f"{buffers}-{hosts}", f"MPI_Allgather on {hosts} hosts, {title}", "bytes of a block", "ns",
                                [curve(rounds, way, way, {size: (way, buffers, hosts, size) for size in measured(rounds, 3)})
                                 for way in ("p2p", "rdma")]))
        found.append(figure(f"{buffers}-hosts", f"MPI_Allgather of {size_text(GOAL_SIZE)}, {title}", "hosts", "ns",
                            [curve(rounds, way, way,
                                   {hosts: (way, buffers, hosts, GOAL_SIZE) for hosts in measured(rounds, 2)})
                             for way in ("p2p", "rdma")], plain_x=True))
    return found


def entries(rounds):
    found = []
    for buffers, title in REUSE.items():
        for hosts in measured(rounds, 2):
            for size in measured(rounds, 3):
                here = size == GOAL_SIZE and hosts == GOAL_HOSTS
                rdma = middle(rounds, ("rdma", buffers, hosts, size))
                found.append(entry(f"{hosts} hosts, {size_text(size)}, {title}: p2p / rdma",
                                   ratio(rounds, ("p2p", buffers, hosts, size), ("rdma", buffers, hosts, size)),
                                   GOALS[buffers] if here else None, paper=PAPER[buffers] if here else None,
                                   note="" if rdma is None else f"rdma: {rdma / 1000:.0f} us"))
    return found


def main(arguments):
    return run_table(arguments, __doc__, lambda folder: (read_rounds(folder, read),), figures, entries)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
