#!/usr/bin/env python3
"""Joins the results of several measuring programs and rounds into one table of ratios.

usage: compare_table.py RESULTS [--json FILE]

RESULTS is a folder; every *.json in it and below is one program's output (rma-bench --json). A figure is the median
over the rounds of the programs' medians. If a program measured a row in several forms, its best form counts.
Some rows have further goals, against the control or against another row of ours; each is an entry of its own behind the
row's.
If a program also measured the same work by plain loads and stores on the same pages (the row's control), the table has
that figure too. A row above its goal is then "at limit" instead of "missed" if its control is as slow, and "bare
missed" if the control is faster but also above the goal.
A virtual machine's processors move. The programs note how long a cache line took between the processors while they
measured a row (harness/placement.h). Up to twice the least such time of the comparison they were *near* each other, else
*far*. A row's figures are those of the near rounds, if every program has some; else those of the far ones; else of all,
and the row is "mixed": its programs were not measured alike.
With --json the table is written as [{"row", "unit", "ours", "peers": {name: value}, "ratio_to_best", "goal",
"bare", "placement"}]; "placement" is null where it is not known.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

OURS = "rma"
CONTROL = "cache-line"
CONTROL_ROW = "cache-line crossing"
# Rows with this suffix are controls: plain loads and stores on the same pages, measured by our program beside
# the row.
BARE = " bare"
# A row that took at most this much of its control cannot be faster on this machine, whatever its goal is.
BARE_LIMIT = 1.03
IDLE_LIMIT_MS = 50.0
# Processors are near each other up to this multiple of the least time of a cache line.
NEAR = 2.0

# The greatest good ratio of a row, by the row's name or by its beginning. The last column names the divisor of the
# ratio, if that is not the best peer: one peer, the control, or a fixed limit.
GOALS_BY_NAME = {
    "put 8 B": (0.6, None),
    "put 8 B inline": (0.6, None),
    "get 8 B": (0.6, None),
    "get 8 B inline": (0.6, None),
    "notify one way": (1.3, CONTROL_ROW),
    "barrier 16 ranks": (0.2, "openmpi"),
}
GOALS_BY_START = {
    "strided ": (0.6, None),
    # Large clients issue mostly these operations. The more special words come first.
    "armci small strided put": (0.1, None),
    "armci small strided accumulate": (0.1, None),
    "armci small strided mix": (0.1, None),
    "armci ": (0.5, None),
    "CPU time waiting ": (1.0, "limit"),
}
# Messages by name of the row: of the better MPI.
SHORT = r"(0|1|2|4|8|16|32|48) B"
LARGE = r"((64|128|256|512) KiB|\d+ MiB)"
GOALS_BY_PATTERN = [
    (rf"twosided latency {SHORT}", (0.7, None)),
    (r"twosided (latency|bandwidth|bidirectional) .* malloc", (0.35, None)),
    (rf"twosided (bandwidth|bidirectional|pairs) {LARGE}.*", (0.77, None)),
    (r"twosided (rate|pairs) .*", (0.77, None)),
    (r"twosided exchange .* 16 ranks", (0.33, None)),
    (r"twosided halo .*", (0.6, None)),
    (r"coll (barrier|allreduce 8 B) 2 ranks", (0.7, None)),
    (r"coll (?!overlap).* 16 ranks", (0.3, None)),
    (r"shmem (lock|malloc\+free) .*", (0.5, None)),
    (r"coarray (put|get) 8 B", (0.1, None)),
    (r"coarray (put|get) (a row|\d+x).*", (0.33, None)),
]
DEFAULT_GOAL = (1.0, None)

# The further goals of a row: its pattern, a text for the table, the goal, and the divisor: a row, which is a control or
# one of ours, as in re.sub; or a number in the row's unit.
FURTHER_GOALS = [
    (rf"twosided latency {SHORT}", "to a crossing", 1.4, CONTROL_ROW),
    (r"(twosided \w+ .*) any source", "to plain", 1.2, r"\1"),
    (r"(twosided latency .*) of \d+ peers", "to 1 peer", 1.2, r"\1 of 1 peer"),
    (r"shmem (.*) static", "to the heap", 1.1, r"shmem \1 heap"),
    (r"shmem [pg] \w+", "to 10 ns", 1.0, 10.0),
    (r"shmem (put|get)64 \w+", "to 20 ns", 1.0, 20.0),
    (r"shmem p\+wait \w+", "to 200 ns", 1.0, 200.0),
    (r"shmem barrier_all \w+", "to 500 ns", 1.0, 500.0),
    (r"coarray (put|get) 8 B", "to 20 ns", 1.0, 20.0),
    (r"coarray event post and wait", "to 250 ns", 1.0, 250.0),
    # Some 20 and 50 ns more than the runtime's own barrier and reduction.
    (r"coarray sync all", "to rma_barrier", 1.1, "coarray rma_barrier"),
    (r"coarray co_sum 8 B", "to rma_allreduce", 1.25, "coarray rma_allreduce 8 B"),
]


def goal_of(row):
    """Returns the largest good ratio of a row, and the name of its divisor (None: the best peer)."""
    if row in GOALS_BY_NAME:
        return GOALS_BY_NAME[row]
    for start, goal in GOALS_BY_START.items():
        if row.startswith(start):
            return goal
    for pattern, goal in GOALS_BY_PATTERN:
        if re.fullmatch(pattern, row):
            return goal
    return DEFAULT_GOAL


def further_entries(entry, values, placements):
    """Returns an entry for each further goal of an entry's row whose divisor was measured."""
    entries = []
    for pattern, text, goal, divisor in FURTHER_GOALS:
        if not re.fullmatch(pattern, entry["row"]):
            continue
        if isinstance(divisor, float):
            base_row, base = None, divisor
        else:
            base_row = re.sub(pattern, divisor, entry["row"])
            base = values.get(base_row, {}).get(CONTROL if base_row == CONTROL_ROW else OURS)
        if base:
            entries.append(
                {
                    "row": f"{entry['row']}, {text}",
                    "unit": entry["unit"],
                    "ours": entry["ours"],
                    "peers": {base_row: base} if base_row == CONTROL_ROW else {},
                    "ratio_to_best": entry["ours"] / base,
                    "goal": goal,
                    "bare": None,
                    "placement": entry["placement"]
                    if base_row is None or placements.get(base_row) == entry["placement"]
                    else "mixed",
                }
            )
    return entries


def crossing_of(report, row):
    """Returns the time of a cache line while a row was measured; 0 if it is not known."""
    return row["median"] if report["backend"] == CONTROL else row.get("crossing", 0)


def in_rounds(programs, wanted):
    """Returns {program: {form: [median]}} of {program: {form: [(median, crossing)]}}: of the rounds with such a crossing."""
    chosen = {
        program: {form: [median for median, crossing in rounds if wanted(crossing)] for form, rounds in forms.items()}
        for program, forms in programs.items()
    }
    return {program: {form: medians for form, medians in forms.items() if medians} for program, forms in chosen.items()}


def placement_of(programs, limit):
    """Returns the placement in which all programs have measured a row, or "mixed", or None if it is not known."""
    rounds = [each for forms in programs.values() for form in forms.values() for each in form]
    if not any(crossing for _, crossing in rounds):
        return None
    for placement in ("near", "far"):
        if all(in_rounds(programs, wanted_in(placement, limit)).values()):
            return placement
    return "mixed"


def wanted_in(placement, limit):
    """Returns whether a round counts, as a function of the time of a cache line in it."""
    if placement == "near":
        return lambda crossing: 0 < crossing <= limit
    if placement == "far":
        return lambda crossing: crossing > limit
    return lambda _: True


def collect(reports):
    """Returns medians over rounds: ({row: {program: value}} with the best form of each, {row: unit}, {row: placement}).

    Rows come in the order in which we measure them, those of few ranks first.
    """
    samples = {}
    units = {}
    for report in sorted(reports, key=lambda report: (report["backend"] != OURS, report["ranks"])):
        for row in report["rows"]:
            name = row["row"]
            if units.setdefault(name, row["unit"]) != row["unit"]:
                raise ValueError(f"row '{name}' is in {units[name]} and in {row['unit']}")
            forms = samples.setdefault(name, {}).setdefault(report["backend"], {})
            forms.setdefault(row.get("form", ""), []).append((row["median"], crossing_of(report, row)))
    crossings = [crossing_of(report, row) for report in reports for row in report["rows"]]
    limit = NEAR * min((crossing for crossing in crossings if crossing), default=0)
    placements = {name: placement_of(programs, limit) for name, programs in samples.items() if not name.endswith(BARE)}
    values = {}
    for name, programs in samples.items():
        # A row and its control were measured together.
        placement = placements.get(name.removesuffix(BARE))
        medians = in_rounds(programs, wanted_in(placement, limit))
        values[name] = {
            program: min(statistics.median(rounds) for rounds in forms.values())
            for program, forms in medians.items()
            if forms
        }
    return values, units, placements


def peers_of(row, values):
    """Returns the peers of a row. A peer without an inlined form of an operation takes part with its plain one."""
    peers = {}
    if row.endswith(" inline"):
        peers.update(values.get(row.removesuffix(" inline"), {}))
    peers.update(values[row])
    peers.pop(OURS, None)
    against = goal_of(row)[1]
    if against == CONTROL_ROW and CONTROL in values.get(CONTROL_ROW, {}):
        peers[CONTROL_ROW] = values[CONTROL_ROW][CONTROL]
    if against == "limit":
        peers["limit"] = IDLE_LIMIT_MS
    return peers


def compare(reports):
    """Returns the table: one entry for each row that we measured."""
    values, units, placements = collect(reports)
    table = []
    for row, programs in values.items():
        if OURS not in programs or row.endswith(BARE):
            continue
        goal, against = goal_of(row)
        peers = peers_of(row, values)
        base = peers.get(against) if against else min(peers.values(), default=None)
        entry = {
            "row": row,
            "unit": units[row],
            "ours": programs[OURS],
            "peers": peers,
            "ratio_to_best": programs[OURS] / base if base else None,
            "goal": goal,
            "bare": values.get(row + BARE, {}).get(OURS),
            "placement": placements[row],
        }
        table += [entry, *further_entries(entry, values, placements)]
    return table, values.get(CONTROL_ROW, {}).get(CONTROL)


def figure(value, unit):
    """Returns the text of a value: about three digits, in a suitable unit."""
    units = ["ns", "us", "ms", "s"]
    while unit in units[:-1] and value >= 1000:
        value, unit = value / 1000, units[units.index(unit) + 1]
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{digits}f} {unit}"


def verdict(entry):
    """Returns the text of a row's last column; empty if the row meets its goal."""
    ratio, bare = entry["ratio_to_best"], entry["bare"]
    if ratio is None or ratio <= entry["goal"]:
        return ""
    if bare is not None and entry["ours"] <= BARE_LIMIT * bare:
        return "at limit"
    # The ratio has the same base, so this is the control's own ratio.
    if bare is not None and ratio * bare / entry["ours"] > entry["goal"]:
        return "bare missed"
    return "missed"


def text(table, control):
    """Returns the table for readers, with a line that sums it up."""
    names = sorted({name for entry in table for name in entry["peers"]} - {CONTROL_ROW, "limit"})
    lines = [["row", "ours"] + names + ["ratio", "goal", "bare", "of it", ""]]
    verdicts = [verdict(entry) for entry in table]
    for entry, said in zip(table, verdicts):
        unit = entry["unit"]
        ratio = entry["ratio_to_best"]
        bare = entry["bare"]
        line = [entry["row"], figure(entry["ours"], unit)]
        line += [figure(entry["peers"][name], unit) if name in entry["peers"] else "-" for name in names]
        line += ["-" if ratio is None else f"{ratio:.2f}", f"{entry['goal']:.2f}"]
        line += ["-", "-"] if bare is None else [figure(bare, unit), f"{entry['ours'] / bare:.2f}"]
        line += [", ".join(filter(None, [said, entry["placement"] if entry["placement"] != "near" else ""]))]
        lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    out = []
    for line in lines:
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        out.append("  ".join(cells).rstrip())
    if control is not None:
        out.append(f"control: a cache line crosses between two processors in {figure(control, 'ns')}")
    far, mixed = (sum(entry["placement"] == name for entry in table) for name in ("far", "mixed"))
    if far or mixed:
        out.append(
            f"The processors were far from each other in all rounds of {far} rows. The programs of {mixed} rows were"
            " never measured at the same distance."
        )
    out.append(
        f"{len(table)} rows, {len(table) - verdicts.count('')} above their goal; of these {verdicts.count('at limit')}"
        f" as fast as plain loads and stores, and {verdicts.count('bare missed')} where those miss it too"
    )
    return "\n".join(out)


def main(arguments):
    parser = argparse.ArgumentParser(description="Joins results of bench programs into one table of ratios.")
    parser.add_argument("results", type=pathlib.Path, help="folder with the programs' JSON files")
    parser.add_argument("--json", type=pathlib.Path, help="write the table as JSON to this file")
    options = parser.parse_args(arguments)
    files = sorted(options.results.rglob("*.json"))
    if not files:
        print(f"compare_table: no results in {options.results}", file=sys.stderr)
        return 1
    table, control = compare([json.loads(file.read_text()) for file in files])
    print(text(table, control))
    if options.json:
        options.json.write_text(json.dumps(table, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
