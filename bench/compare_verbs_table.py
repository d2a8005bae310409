#!/usr/bin/env python3
"""Joins the measurements of compare_verbs.sh into tables.

usage: compare_verbs_table.py RESULTS [--json FILE]

RESULTS is a folder; every *.raw in it and below is the output of a program of perftest, every *.json the
output of one network-bench --json. A figure is the median over the rounds. With --json the comparison is written as
[{"row", "unit", "ours", "peers": {"raw": value}, "ratio_to_best", "goal"}]. A ratio is always ours divided by the
other: of times (us) it must not exceed the goal, of bandwidths (MiB/s) it must reach it.
"""

import argparse
import json
import pathlib
import statistics
import sys

# By the name of perftest's file: the row and its goal.
LATENCIES = {
    "put-latency": ("put latency 8 B", 1.15),
    "get-latency": ("get latency 8 B", 1.10),
    "fetch-add-latency": ("fetch-add latency", 1.10),
}
BANDWIDTH_GOAL = 0.95
RAILS_GOAL = 1.5
SIZES = {"65536": "64 KiB", "1048576": "1 MiB"}
STRATEGIES = ("register", "cache", "pipeline", "bounce")


def parse_perftest(text):
    """Returns the one line of results in a perftest program's output, by the names of its columns.

    Columns are parted by tabs or several blanks and named as in '#bytes #iterations t_min[usec]'; 'BW average[MB/sec]'
    is one name of two words.
    """
    lines = [line.strip() for line in text.splitlines()]
    for number, line in enumerate(lines[:-1]):
        if not line.startswith("#bytes"):
            continue
        joined = line.replace("BW peak", "BW_peak").replace("BW average", "BW_average")
        joined = joined.replace("% percentile", "%_percentile")
        names = joined.split()
        values = lines[number + 1].split()
        if len(values) < len(names):
            raise ValueError(f"perftest's line '{lines[number + 1]}' does not fit '{line}'")
        return dict(zip(names, (float(value) for value in values)))
    raise ValueError("perftest printed no table")


def raw_figures(name, text):
    """Returns {row: (unit, value)} of one output of perftest."""
    table = parse_perftest(text)
    if name in LATENCIES:
        row = LATENCIES[name][0]
        return {row: ("us", table["t_typical[usec]"]), row + ", least": ("us", table["t_min[usec]"])}
    call, _, size = name.rpartition("-")
    row = f"{call.replace('-', ' ')} {SIZES[size]}"
    return {row: ("MiB/s", table["BW_average[MB/sec]"])}  # perftest's megabyte is 2^20


def our_figures(report):
    """Returns {row: (unit, value)} of one output of network-bench."""
    figures = {}
    for row in report["rows"]:
        unit, scale = ("us", 1e-3) if row["unit"] == "ns" else (row["unit"], 1)
        figures[row["row"]] = (unit, row["median"] * scale)
        if row["suite"] == "latency":
            figures[row["row"] + ", least"] = (unit, row["min"] * scale)
    return figures


def figure(row, values):
    """Returns the figure that represents the values of all rounds."""
    return min(values) if row.endswith(", least") else statistics.median(values)


def gather(outputs):
    """Returns {row: (unit, [value of each round])} of several outputs."""
    samples = {}
    for figures in outputs:
        for row, (unit, value) in figures.items():
            samples.setdefault(row, (unit, []))[1].append(value)
    return samples


def goal_of(row):
    """Returns the goal of a row that is compared with perftest; None if the row only explains another."""
    for name, goal in LATENCIES.values():
        if row == name:
            return goal
    return BANDWIDTH_GOAL if " bandwidth " in row else None


def is_time(entry):
    """Returns whether less is better."""
    return entry["unit"] in ("us", "s", "instructions")


def meets(entry):
    if entry["goal"] is None or entry["ratio_to_best"] is None:
        return True
    if is_time(entry):
        return entry["ratio_to_best"] <= entry["goal"]
    return entry["ratio_to_best"] >= entry["goal"]


def entry_of(row, unit, ours, name, theirs, goal):
    return {
        "row": row,
        "unit": unit,
        "ours": ours,
        "peers": {name: theirs},
        "ratio_to_best": ours / theirs if theirs else None,
        "goal": goal,
    }


def compare(raw, ours):
    """Returns entries for the rows that both measured, and for two rails compared with one."""
    table = []
    for row, (unit, values) in raw.items():
        if row in ours:
            table.append(
                entry_of(row, unit, figure(row, ours[row][1]), "raw", figure(row, values), goal_of(row))
            )
    for call, goal in (("put", RAILS_GOAL), ("get", None)):
        one, two = (f"{rails}: {call} bandwidth 1 MiB" for rails in ("1 rail", "2 rails"))
        if one in ours and two in ours:
            row = f"{call} bandwidth 1 MiB, two rails to one"
            table.append(
                entry_of(row, "MiB/s", statistics.median(ours[two][1]), "one rail", statistics.median(ours[one][1]), goal)
            )
    return table


def aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join([line[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(line[1:], widths[1:])]).rstrip()
        for line in lines
    ]


def spread(values):
    return f"{min(values):.4g} .. {max(values):.4g}"


def comparison_text(table, raw, ours):
    lines = [["row", "unit", "ours", "rounds", "raw", "rounds", "ratio", "goal", ""]]
    for entry in table:
        row = entry["row"]
        (name, other), = entry["peers"].items()
        if name == "raw":
            spreads = spread(ours[row][1]), spread(raw[row][1])
        else:
            call = row.split()[0]
            spreads = (
                spread(ours[f"2 rails: {call} bandwidth 1 MiB"][1]),
                spread(ours[f"1 rail: {call} bandwidth 1 MiB"][1]),
            )
        goal = entry["goal"]
        sign = "<=" if is_time(entry) else ">="
        ratio = entry["ratio_to_best"]
        lines.append(
            [row, entry["unit"], f"{entry['ours']:.4g}", spreads[0], f"{other:.4g}", spreads[1],
             "-" if ratio is None else f"{ratio:.2f}", "-" if goal is None else f"{sign} {goal:.2f}",
             "" if meets(entry) else "missed"]
        )
    goals = [entry for entry in table if entry["goal"] is not None]
    missed = sum(not meets(entry) for entry in goals)
    text = aligned(lines) + [f"{len(goals)} goals, {missed} missed"]
    # Rows that share a name with perftest's have no label in front.
    empty = [row for row in ours if goal_of(row) is not None and ":" not in row and row not in raw]
    return text + [f"not measured by perftest: {row}" for row in empty]


def busy_text(ours):
    lines = [["hosts' processors busy, %", "rank 0's", "rank 1's"]]
    for row, (_, values) in ours.items():
        if row.endswith(": busy here"):
            name = row.removesuffix(": busy here")
            there = ours[name + ": busy there"][1]
            lines.append([name, f"{statistics.median(values):.0f}", f"{statistics.median(there):.0f}"])
    return aligned(lines) if len(lines) > 1 else []


def reuse_text(ours):
    """Returns the table of buffer reuse: a line for each number of uses, a column for each strategy."""
    uses = {}
    for row, (_, values) in ours.items():
        strategy, _, rest = row.partition(": ")
        if strategy in STRATEGIES:
            uses.setdefault(rest, {})[strategy] = values
    if not uses:
        return []
    lines = [["MiB/s of a put", *STRATEGIES, "pipeline / cache"]]
    for name, by_strategy in uses.items():
        medians = {strategy: statistics.median(values) for strategy, values in by_strategy.items()}
        cells = [f"{medians[strategy]:.4g}" if strategy in medians else "-" for strategy in STRATEGIES]
        both = "pipeline" in medians and "cache" in medians
        lines.append([name, *cells, f"{medians['pipeline'] / medians['cache']:.3f}" if both else "-"])
    return aligned(lines)


def memory_text(reports):
    """Returns the table of memory: a line for each number of ranks. Figures are KiB per rank, unless the column differs."""
    if not reports:
        return []
    states = ("after start", "pairwise", "all-to-all")
    lines = [["KiB of a rank (median)", *(f"{figure} {state}" for state in states for figure in ("Pss", "kernel")),
              "a connection: Pss", "kernel"]]
    for sharing, name in (("shared", "shared receive queue"), ("own", "each peer its own")):
        for report in sorted(reports, key=lambda report: report["ranks"]):
            rows = {row["row"]: row["median"] for row in report["rows"]}
            if f"{sharing}: Pss pairwise" not in rows:
                continue
            ranks = report["ranks"]
            pss = [rows[f"{sharing}: Pss {state}"] for state in states]
            kernel = [rows[f"{sharing}: kernel {state}"] / ranks for state in states]
            cells = [f"{value:.0f}" for pair in zip(pss, kernel) for value in pair]
            more = ranks - 1
            cells += [f"{(pss[2] - pss[0]) / more:.0f}", f"{(kernel[2] - kernel[0]) / more:.0f}"]
            lines.append([f"{ranks} ranks, {name}", *cells])
    return aligned(lines)


def read(results):
    """Returns (figures of perftest, figures of librma, both as gather() has them, and the reports on memory)."""
    raw = gather(raw_figures(file.stem, file.read_text()) for file in sorted(results.rglob("*.raw")))
    reports = [json.loads(file.read_text()) for file in sorted(results.rglob("*.json"))]
    memory = [report for report in reports if any(row["suite"] == "memory" for row in report["rows"])]
    return raw, gather(our_figures(report) for report in reports if report not in memory), memory


def main(arguments):
    parser = argparse.ArgumentParser(description="Joins what compare_verbs.sh measured into tables.")
    parser.add_argument("results", type=pathlib.Path, help="folder with the programs' outputs")
    parser.add_argument("--json", type=pathlib.Path, help="write the comparison as JSON to this file")
    options = parser.parse_args(arguments)
    raw, ours, memory = read(options.results)
    if not ours and not memory:
        print(f"compare_verbs_table: no results in {options.results}", file=sys.stderr)
        return 1
    table = compare(raw, ours)
    parts = [comparison_text(table, raw, ours) if table or raw else [], busy_text(ours), reuse_text(ours), memory_text(memory)]
    print("\n\n".join("\n".join(part) for part in parts if part))
    if options.json:
        options.json.write_text(json.dumps(table, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
