#!/usr/bin/env python3
"""Prints the times of the applications that apps.sh measured and their ratios, and draws them.

usage: apps_table.py ROUNDS --out DIR

ROUNDS is a folder; each folder round-* in it has the programs' outputs, PROBLEM.WAY.json. A ratio is taken within each
round, and is the median of those. Beside a goal stands the limit: the same ratio if the one-sided program took only
the time that the two-sided one spends outside of its communication. If that misses the goal, no communication can
reach the goal on this machine ("limit missed").
"""

import json
import statistics
import sys

from figure_tools import entry, figure, point, read_rounds, run_table

WAYS = {"one-sided": "librma, one-sided", "two-sided": "librma, messages", "openmpi": "Open MPI"}
# The paper: MG of class A and B by 14 to 27 %, SUMMA by 18 to 80 % (host-assisted zero-copy, section 6).
GOALS = {"mg": (1.14, 1.14), "summa": (1.18, 1.18)}


def read_round(folder):
    """Returns {(problem, way): (seconds, seconds in communication)}. A problem of summa has its mode in its name."""
    found = {}
    for file in sorted(folder.glob("*.json")):
        problem, way = file.stem.split(".")
        document = json.loads(file.read_text())
        if "runs" not in document:
            found[(problem, way)] = (document["seconds"], document["exchange_seconds"])
            continue
        for run in document["runs"]:
            found[(f"{problem} {run['mode']}", way)] = (run["seconds"], run["communication_seconds"])
    return found


def problems(rounds):
    return list(dict.fromkeys(problem for each in rounds for problem, _ in each))


def median_of(rounds, problem, value):
    """`value` computes a value from {way: times} of one round."""
    found = [value({way: each[(problem, way)] for way in WAYS if (problem, way) in each}) for each in rounds]
    found = [each for each in found if each is not None]
    return statistics.median(found) if found else None


def times_ratio(way):
    """Returns a function for the time of that way, divided by the one-sided time."""
    return lambda times: times[way][0] / times["one-sided"][0] if way in times and "one-sided" in times else None


def bound(way):
    return lambda times: times[way][0] / (times[way][0] - times[way][1]) if way in times else None


def share(way):
    return lambda times: 100 * times[way][1] / times[way][0] if way in times else None


def entries(rounds):
    found = []
    for problem in problems(rounds):
        goal, paper = GOALS[problem.split("-")[0]]
        for way in ("two-sided", "openmpi"):
            shares = [f"{each} {value:.1f} %" for each in ("one-sided", way)
                      if (value := median_of(rounds, problem, share(each))) is not None]
            found.append(entry(f"{problem}: time of {WAYS[way]} / one-sided",
                               median_of(rounds, problem, times_ratio(way)), goal if way == "two-sided" else None,
                               paper=paper, limit=median_of(rounds, problem, bound(way)),
                               note="time in communication: " + ", ".join(shares)))
    return found


def figures(rounds):
    curves = []
    for way, name in WAYS.items():
        points = [point(problem, values) for problem in problems(rounds)
                  if (values := [each[(problem, way)][0] for each in rounds if (problem, way) in each])]
        curves.append({"name": name, "form": way, "points": points} if points else None)
    return [figure("apps", "MG and SUMMA", "", "s", curves)]


def main(arguments):
    return run_table(arguments, __doc__, lambda folder: (read_rounds(folder, read_round),), figures, entries)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
