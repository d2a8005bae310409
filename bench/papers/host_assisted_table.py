#!/usr/bin/env python3
"""Draws the figures from the measurements of figures.sh --paper host-assisted, and prints the ratios that have goals.

usage: host_assisted_table.py ROUNDS --out DIR

ROUNDS is a folder; each folder round-* in it has the outputs of one round of figures-bench and raw-verbs. A point of a
figure is the median over the rounds; a ratio is taken within each round, and is the median of those. Beside a goal
stands the same ratio with the bare device in librma's place. If that misses the goal too, no library can reach the
goal on this device ("bare missed").
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

from figure_tools import figure, point, size_text, write_figures

ROW = re.compile(r"(put|get) (contiguous|strided|2-D|whole) [0-9]+ (?:B|KiB|MiB): (.*)")
TIMES = ("pure", "computation", "both", "call")
LEAST_SEGMENT = 1 << 10
LEAST_OVERLAP = 256 << 10
# If raw verbs' overlap is less than this, in percent, nothing is compared with it.
USABLE_OVERLAP = 10

# The names of the protocols in the figures, with contiguous data and with other data.
CONTIGUOUS = {"raw": "raw verbs", "host_assisted": "zero-copy", "pipelined": "pipelined", "packed": "buffered"}
BARE = {"bare": "raw verbs, asleep"}
BARE_STRIDED = {"bare": "raw gathers, not granted"}
STRIDED = {"host_assisted": "host-assisted", "segments": "segments", "pipelined": "pipelined", "packed": "packed"}


def read_round(folder):
    """Returns {(suite, call, layout, quantity, bytes, form): median}; other rows have the key (suite, row, form)."""
    values = {}
    for file in sorted(folder.glob("*.json")):
        for row in json.loads(file.read_text())["rows"]:
            match = ROW.fullmatch(row["row"])
            if match:
                call, layout, quantity = match.groups()
                values[(row["suite"], call, layout, quantity, row["bytes"], row["form"])] = row["median"]
            else:
                values[(row["suite"], row["row"], row["form"])] = row["median"]
    return values


def series(rounds, name, suite, call, layout, quantity, form):
    """Returns one curve, by bytes, or None if nothing was measured."""
    wanted = (suite, call, layout, quantity)
    sizes = sorted({key[4] for each in rounds for key in each if key[:4] == wanted and key[-1] == form})
    points = [
        point(size, [each[key] for each in rounds if (key := (*wanted, size, form)) in each]) for size in sizes
    ]
    return {"name": f"{name} {call}", "call": call, "form": form, "points": points} if points else None


def bandwidth_figure(rounds, name, title, x, layout, names, state):
    curves = [
        series(rounds, label, "cpu-tolerance", call, layout, state, form)
        for call in ("put", "get") for form, label in names.items()
    ]
    return figure(name, title, x, "MiB/s", curves)


def overlap_figure(rounds, name, title, layouts):
    """`layouts`: pairs of a layout and its names. Each curve has the times from which it is computed, in ns."""
    curves = []
    for call in ("put", "get"):
        for layout, names in layouts:
            for form, label in names.items():
                curve = series(rounds, label, "overlap", call, layout, "overlap", form)
                if curve is None:
                    continue
                curve["times_ns"] = {
                    quantity: series(rounds, label, "overlap", call, layout, quantity, form)["points"]
                    for quantity in TIMES
                }
                curves.append(curve)
    return figure(name, title, "bytes of a transfer", "overlap, %", curves)


def atomics_figure(rounds):
    curves = []
    for domain, label in (("nic", "network device"), ("helper", "helper thread")):
        points = []
        for row in ("fetch-add", "compare-swap"):
            values = [each[key] / 1e3 for each in rounds if (key := ("rmw", row, domain)) in each]
            if values:
                points.append(point(row, values))
        curves.append({"name": label, "form": domain, "points": points} if points else None)
    return figure("section43", "Read-modify-write of 8 bytes", "", "us", curves)


def figures(rounds):
    size, segment = "bytes of a transfer", "bytes of a segment"
    contiguous, strided = "Contiguous transfers", "Strided transfers"
    return [
        bandwidth_figure(rounds, "figure05", f"{contiguous}, target idle", size, "contiguous", CONTIGUOUS | BARE,
                         "idle"),
        bandwidth_figure(rounds, "figure06", f"{contiguous}, target computing", size, "contiguous",
                         CONTIGUOUS | BARE, "busy"),
        overlap_figure(rounds, "figure07a", "Overlap, contiguous", [("contiguous", CONTIGUOUS | BARE)]),
        overlap_figure(rounds, "figure07b", "Overlap, two-dimensional",
                       [("2-D", STRIDED | BARE_STRIDED), ("contiguous", {"raw": "raw verbs, contiguous"})]),
        bandwidth_figure(rounds, "figure09", f"{strided}, target idle", segment, "strided",
                         STRIDED | BARE_STRIDED, "idle"),
        bandwidth_figure(rounds, "figure10", f"{strided}, target computing", segment, "strided",
                         STRIDED | BARE_STRIDED, "busy"),
        atomics_figure(rounds),
    ]


def ratio(rounds, above, below):
    """Returns the median over the rounds of `above` divided by `below`, which are keys or functions; None if no
    round has both."""
    get = lambda what, each: what(each) if callable(what) else each.get(what)  # noqa: E731
    found = [
        (a, b) for each in rounds if (a := get(above, each)) is not None and (b := get(below, each)) is not None
    ]
    return statistics.median(a / b for a, b in found if b) if any(b for _, b in found) else None


def sizes_of(rounds, layout, least):
    return sorted({key[4] for each in rounds for key in each
                   if len(key) == 6 and key[2] == layout and key[4] >= least})


def entry(row, value, goal, at_least=True, bare=None):
    """`bare` is the same ratio of the bare device, if it was measured."""
    return {"row": row, "value": value, "goal": goal, "at_least": at_least, "bare": bare}


def strided_entries(rounds):
    found = []
    for call in ("put", "get"):
        for size in sizes_of(rounds, "strided", LEAST_SEGMENT):
            key = lambda form, size=size: ("cpu-tolerance", call, "strided", "idle", size, form)  # noqa: E731
            for other, goal in (("packed", 1.3), ("segments", 1.0)):
                found.append(entry(f"{call} strided {size_text(size)}: host_assisted / {other}",
                                   ratio(rounds, key("host_assisted"), key(other)), goal))
            whole = next((key for each in rounds for key in each
                          if len(key) == 6 and key[1:4] == (call, "whole", "idle") and key[-1] == "host_assisted"), None)
            bare_whole = ("cpu-tolerance", call, "contiguous", "idle", whole[4], "bare") if whole else None
            found.append(entry(f"{call} strided {size_text(size)}: host_assisted / contiguous",
                               ratio(rounds, key("host_assisted"), whole), 0.9,
                               bare=ratio(rounds, key("bare"), bare_whole)))
    return found


def kept(call, layout, size, form):
    """Returns the share of the idle target's bandwidth that a computing target keeps, in one round."""
    def share(each):
        idle, busy = (each.get(("cpu-tolerance", call, layout, state, size, form)) for state in ("idle", "busy"))
        return busy / idle if idle and busy is not None else None
    return share


def busy(call, layout, size, form):
    return lambda each: each.get(("cpu-tolerance", call, layout, "busy", size, form))


def slowed(call, layout, size, form):
    def share(each):
        quiet, disturbed = (each.get(("cpu-tolerance", call, layout, f"computation {state}", size, form))
                            for state in ("quiet", "disturbed"))
        return disturbed / quiet if quiet and disturbed is not None else None
    return share


def middle(rounds, what):
    found = [value for each in rounds if (value := what(each)) is not None]
    return statistics.median(found) if found else None


def tolerance_entries(rounds):
    """Returns the shares kept, each also relative to the share of the device itself: at the same size, or at the
    largest size that does not exceed a strided transfer's."""
    found = []
    names = {"host_assisted": "zero-copy", "pipelined": "pipelined", "packed": "buffered"}
    totals = sizes_of(rounds, "whole", 1)
    for call in ("put", "get"):
        for layout, forms, least in (("contiguous", names, LEAST_OVERLAP), ("strided", STRIDED, LEAST_SEGMENT)):
            for size in sizes_of(rounds, layout, least):
                reference = size if layout == "contiguous" else max(totals, default=0)
                raw = kept(call, "contiguous", reference, "raw")
                for form, name in forms.items():
                    what = kept(call, layout, size, form)
                    goal = 0.9 if form == "host_assisted" else None
                    each = entry(f"{call} {layout} {size_text(size)}: {name} kept when busy / raw verbs'",
                                 ratio(rounds, what, raw), goal,
                                 bare=ratio(rounds, kept(call, layout, size, "bare"), raw) if goal else None)
                    each["busy"] = ratio(rounds, busy(call, layout, size, form), busy(call, "contiguous", reference, "raw"))
                    each["kept"] = middle(rounds, what)
                    each["raw_kept"] = middle(rounds, raw)
                    each["computation_kept"] = middle(rounds, slowed(call, layout, size, form))
                    each["raw_computation_kept"] = middle(rounds, slowed(call, "contiguous", reference, "raw"))
                    found.append(each)
    return found


def overlap_entries(rounds):
    found = []
    for call in ("put", "get"):
        for size in sizes_of(rounds, "contiguous", LEAST_OVERLAP):
            def overlap(layout, form, call=call, size=size):
                key = ("overlap", call, layout, "overlap", size, form)
                return middle(rounds, lambda each: each.get(key))
            raw = overlap("contiguous", "raw")
            usable = raw is not None and raw >= USABLE_OVERLAP
            for layout in ("contiguous", "2-D"):
                ours, bare = overlap(layout, "host_assisted"), overlap(layout, "bare")
                if raw is None or ours is None:
                    continue
                name = "zero-copy" if layout == "contiguous" else "host_assisted"
                each = entry(f"{call} {layout} {size_text(size)}: {name} overlap / raw verbs'",
                             ours / raw if usable else None, 0.95,
                             bare=bare / raw if usable and bare is not None else None)
                each.update({"overlap": ours, "raw_overlap": raw, "bare_overlap": bare})
                found.append(each)
    return found


def other_entries(rounds):
    found = [entry("fetch-and-add: network device's time / helper's",
                   ratio(rounds, ("rmw", "fetch-add", "nic"), ("rmw", "fetch-add", "helper")), 1.0, at_least=False)]
    found[0]["paper"] = 17.1 / 22.1
    for each in rounds:
        found += [entry(f"{key[1]}, ms", value, 5, at_least=False) for key, value in each.items() if key[0] == "idle"]
    return found


def reaches(each, value):
    return value >= each["goal"] if each["at_least"] else value < each["goal"]


def meets(each):
    return each["value"] is None or each["goal"] is None or reaches(each, each["value"])


def verdict(each):
    if meets(each):
        return ""
    return "missed" if each["bare"] is None or reaches(each, each["bare"]) else "bare missed"


def percent(value):
    return f"{100 * value:.0f} %"


def details(each):
    if "kept" in each and each["kept"] is not None and each["raw_kept"] is not None:
        text = f"kept {percent(each['kept'])}, raw {percent(each['raw_kept'])}"
        if each["busy"] is not None:
            text += f"; then {each['busy']:.2f} of raw's bandwidth"
        if each["computation_kept"] is not None and each["raw_computation_kept"] is not None:
            text += f"; target computes at {percent(each['computation_kept'])}, raw {percent(each['raw_computation_kept'])}"
        return text
    if "overlap" in each:
        text = f"{each['overlap']:.0f} %, raw {each['raw_overlap']:.0f} %"
        return text if each["bare_overlap"] is None else f"{text}, bare {each['bare_overlap']:.0f} %"
    return ""


def summary_text(entries):
    lines = [("ratio", "value", "goal", "bare", "", "")]
    for each in entries:
        value, bare = ("-" if each[what] is None else f"{each[what]:.2f}" for what in ("value", "bare"))
        goal = "-" if each["goal"] is None else f"{'>=' if each['at_least'] else '<'} {each['goal']:g}"
        lines.append((each["row"], value, goal, bare, verdict(each), details(each)))
    widths = [max(len(line[i]) for line in lines) for i in range(5)]
    sides = ("<", ">", ">", ">", "<")
    text = ["  ".join([*(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths)), line[5]]).rstrip()
            for line in lines]
    goals = [each for each in entries if each["goal"] is not None and each["value"] is not None]
    verdicts = [verdict(each) for each in goals]
    return [*text, f"{len(goals)} goals, {len(goals) - verdicts.count('')} missed, "
                   f"{verdicts.count('bare missed')} of these by the bare device too"]


def main(arguments):
    parser = argparse.ArgumentParser(description="Draws the figures that figures.sh measured.")
    parser.add_argument("rounds", type=pathlib.Path, help="folder with the programs' outputs, by round")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where the figures go")
    options = parser.parse_args(arguments)
    rounds = [values for folder in sorted(options.rounds.glob("round-*")) if (values := read_round(folder))]
    if not rounds:
        print(f"host_assisted_table: no results in {options.rounds}", file=sys.stderr)
        return 1
    write_figures(figures(rounds), options.out)
    entries = [*strided_entries(rounds), *tolerance_entries(rounds), *overlap_entries(rounds), *other_entries(rounds)]
    (options.out / "summary.json").write_text(json.dumps(entries, indent=2) + "\n")
    print("\n".join(summary_text(entries)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
