#!/usr/bin/env python3
"""Draws the figures from the measurements of figures.sh --paper pipeline, and prints the ratios that have goals.

usage: pipeline_table.py ROUNDS --out DIR

ROUNDS is a folder; each folder round-* in it has the outputs of messages-bench of one round. The limit of the pipeline
without reuse is a transfer without any registration: the bandwidth of `cache` with the most uses of a buffer. A
pipeline that hides all of the registration behind the transfer would reach it.
"""

import re
import sys

from figure_tools import (
    by_size, curve, entry, figure, middle, point, ratio, read_rounds, read_rows, run_table, size_text, sizes)

PROTOCOLS = ("copy", "read", "register", "cache", "pipeline", "caching_pipeline")
USES = re.compile(r"used ([0-9]+) times")
# b_eff per process by the paper, in MB/s.
PAPER_EFFECTIVE = {"caching_pipeline": 225, "pipeline": 189, "cache": 172, "copy": 171}
EFFECTIVE = ("b_eff", "b_eff at the longest", "b_eff at the longest, rings only")


def used(times, size, protocol):
    return ("reuse", f"used {times} times", size, protocol)


def uses(rounds):
    """Returns (the size of the buffers, the numbers of uses that were measured for it)."""
    found = {}
    for each in rounds:
        for suite, row, size, _ in each:
            match = USES.fullmatch(row)
            if suite == "reuse" and match:
                found.setdefault(size, set()).add(int(match.group(1)))
    size = max(found, key=lambda each: len(found[each]), default=0)
    return size, sorted(found.get(size, ()))


def figures(rounds):
    size, times = uses(rounds)
    text = size_text(size)
    effective = []
    for protocol in PROTOCOLS:
        points = [point(row, values) for row in EFFECTIVE
                  if (values := [each[key] for each in rounds if (key := ("effective", row, 0, protocol)) in each])]
        effective.append({"name": protocol, "form": protocol, "points": points} if points else None)
    return [
        figure("figure5", "No reuse of buffers", "bytes of a message", "MiB/s",
               [curve(rounds, each, each, by_size(rounds, "reuse", "used 1 times", each)) for each in PROTOCOLS]),
        figure("figure6", f"Reuse of buffers of {text}", "uses of a buffer", "MiB/s",
               [curve(rounds, each, each, {count: used(count, size, each) for count in times}) for each in PROTOCOLS],
               plain_x=True),
        figure("b_eff", "Effective bandwidth of all ranks", "", "MiB/s", effective),
    ]


def catches_up(rounds, size, times):
    """Returns the least number of uses with which `cache` is as fast as `pipeline`; None if it never is."""
    for count in times:
        value = ratio(rounds, used(count, size, "cache"), used(count, size, "pipeline"))
        if value is not None and value >= 1:
            return count
    return None


def entries(rounds):
    size, times = uses(rounds)
    found = []
    for each in sizes(rounds, "reuse", "used 1 times", "pipeline"):
        largest = each == size
        limit = ratio(rounds, used(times[-1], size, "cache"), used(1, size, "cache")) if largest and times else None
        found.append(entry(f"{size_text(each)}, no reuse: pipeline / cache",
                           ratio(rounds, used(1, each, "pipeline"), used(1, each, "cache")), 1.5 if largest else None,
                           paper=1.67 if largest else None, limit=limit))
    for count in times:
        found.append(entry(f"{size_text(size)}, {count} uses: caching_pipeline / cache",
                           ratio(rounds, used(count, size, "caching_pipeline"), used(count, size, "cache"))))
    found.append(entry(f"{size_text(size)}: uses until cache is as fast as pipeline", catches_up(rounds, size, times),
                       paper=45))
    for protocol in PROTOCOLS:
        paper = PAPER_EFFECTIVE.get(protocol)
        value = middle(rounds, ("effective", "b_eff of a rank", 0, protocol))
        found.append(entry(f"b_eff: {protocol} / copy",
                           ratio(rounds, ("effective", "b_eff", 0, protocol), ("effective", "b_eff", 0, "copy")),
                           paper=paper / PAPER_EFFECTIVE["copy"] if paper else None,
                           note="" if value is None else f"{value:.2f} MiB/s of each rank"))
    return found


def main(arguments):
    return run_table(arguments, __doc__, lambda folder: (read_rounds(folder, read_rows),), figures, entries)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
