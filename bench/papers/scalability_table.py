#!/usr/bin/env python3
"""Draws the figures from the measurements of figures.sh --paper scalability, and prints them, with a model of the
memory of larger jobs.

usage: scalability_table.py ROUNDS --out DIR

ROUNDS is a folder; each folder round-* in it has the outputs of messages-bench and network-bench of one round. The
memory of a process is its Pss, and its share of what the host's kernel has taken since the start, which is most of a
queue pair. The model is a straight line that does not fall: what a process has without peers, and so much for each
peer. It is fitted to the jobs of LEAST_FITTED ranks and more.
"""

import re
import sys

from figure_tools import curve, entry, figure, middle, ratio, read_rounds, read_rows, run_table

FORMS = {"shared": "shared queue", "own": "a queue for each peer", "ring": "a ring for each peer"}
PATTERNS = {"after start": ("figure04", "no communication"), "pairwise": ("figure05", "pairwise"),
            "all-to-all": ("figure06", "all to all")}
MEMORY = re.compile(r"(shared|own|ring) ([0-9]+): Pss after start")
PEERS = re.compile(r"([0-9]+) peers")
LEAST_FITTED = 8
BEYOND = (256, 1024, 4096)
KIB = 1 / 1024


def read_round(folder):
    """Returns the rows of the programs, and ("memory", pattern, ranks, form): MiB of a process."""
    values = read_rows(folder)
    for key in list(values):
        match = MEMORY.fullmatch(key[1])
        if not match:
            continue
        form, ranks = match.group(1), int(match.group(2))
        row = lambda what: values.get(("memory", f"{form} {ranks}: {what}", 0, ""))  # noqa: E731,B023
        for pattern in PATTERNS:
            pss, kernel, before = row(f"Pss {pattern}"), row(f"kernel {pattern}"), row("kernel after start")
            if None not in (pss, kernel, before):
                values[("memory", pattern, ranks, form)] = (pss + max(kernel - before, 0) / ranks) * KIB
    return values


def ranks_of(rounds, pattern, form):
    return sorted({key[2] for each in rounds for key in each if key[1] == pattern and key[3] == form})


def peers_of(rounds):
    return sorted({int(match.group(1)) for each in rounds for key in each
                   if key[0] == "peers" and (match := PEERS.fullmatch(key[1]))})


def line(points):
    """Returns (a, b) of the least squares y = a + b x; None for fewer than two points."""
    if len({x for x, _ in points}) < 2:
        return None
    mean_x, mean_y = (sum(each[i] for each in points) / len(points) for i in (0, 1))
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x)**2 for x, _ in points))
    return mean_y - slope * mean_x, slope


def fitted(rounds, pattern, form):
    """Returns (MiB without peers, MiB for each peer, the largest error of the fit in MiB); None without enough jobs."""
    points = [(ranks - 1, middle(rounds, ("memory", pattern, ranks, form)))
              for ranks in ranks_of(rounds, pattern, form) if ranks >= LEAST_FITTED]
    found = line(points)
    if found is None:
        return None
    fixed, peer = found
    if peer < 0:
        # More processes of a host share the pages of its libraries. No job gets smaller by that for ever.
        fixed, peer = sum(y for _, y in points) / len(points), 0.0
    return fixed, peer, max(abs(y - fixed - peer * x) for x, y in points)


def figures(rounds):
    drawn = []
    for pattern, (name, title) in PATTERNS.items():
        drawn.append(figure(name, f"Memory of a process, {title}", "ranks", "MiB", [
            curve(rounds, label, form,
                  {ranks: ("memory", pattern, ranks, form) for ranks in ranks_of(rounds, pattern, form)})
            for form, label in FORMS.items()], plain_x=True))
    drawn.append(figure("figure07", "Latency of 8 B by active peers", "peers", "us, one way", [
        curve(rounds, label, form, {count: ("peers", f"{count} peers", 8, form) for count in peers_of(rounds)}, 1e-3)
        for form, label in FORMS.items()], plain_x=True))
    return drawn


def entries(rounds):
    found = []
    for form, label in FORMS.items():
        for pattern, (_, title) in PATTERNS.items():
            ranks = ranks_of(rounds, pattern, form)
            if not ranks:
                continue
            first, last = (middle(rounds, ("memory", pattern, count, form)) for count in (ranks[0], ranks[-1]))
            model = fitted(rounds, pattern, form)
            note = f"{first:.2f} MiB of {ranks[0]} ranks, {last:.2f} MiB of {ranks[-1]}"
            if model:
                fixed, peer, error = model
                note += f"; model: {fixed:.2f} MiB + {1024 * peer:.1f} KiB x peers, within {error:.2f} MiB; so "
                note += ", ".join(f"{fixed + peer * (count - 1):.0f} MiB of {count}" for count in BEYOND)
            found.append(entry(f"memory, {title}, {label}: most ranks / fewest", last / first, note=note))
    peers = peers_of(rounds)
    latency = lambda count, form: ("peers", f"{count} peers", 8, form)  # noqa: E731
    for form in ("shared", "ring"):
        if peers:
            found.append(entry(f"latency, {FORMS[form]}: {peers[-1]} peers / {peers[0]}",
                               ratio(rounds, latency(peers[-1], form), latency(peers[0], form))))
    for count in peers:
        found.append(entry(f"latency, {count} peers: ring / shared queue",
                           ratio(rounds, latency(count, "ring"), latency(count, "shared")),
                           paper=0.74 if count == 1 else None))
    return found


def main(arguments):
    return run_table(arguments, __doc__, lambda folder: (read_rounds(folder, read_round),), figures, entries)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
