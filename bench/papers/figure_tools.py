"""The common parts of the scripts that draw figures: points, files, and the table of values with goals."""

import argparse
import json
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))
import chart  # noqa: E402
import figure_chart  # noqa: E402


def point(x, values):
    return {
        "x": x, "median": statistics.median(values), "min": min(values), "max": max(values), "rounds": len(values)
    }


def figure(name, title, x, y, curves, **layout):
    """`x` is the title of the axis; figures without one have bars. `layout` may have `plain_x`: the axis has numbers and
    not sizes."""
    series = [each for each in curves if each]
    return {"figure": name, "title": title, "x": x, "y": y, "series": series, **layout}


def size_text(size):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def write_figures(drawn_figures, out):
    """Writes the JSON and the picture of each figure that has curves."""
    out.mkdir(parents=True, exist_ok=True)
    for drawn in drawn_figures:
        if drawn["series"]:
            (out / f"{drawn['figure']}.json").write_text(json.dumps(drawn, indent=2) + "\n")
            (out / f"{drawn['figure']}.svg").write_text(chart.standalone(figure_chart.draw(drawn)))


# ---- The measurements of the programs ---------------------------------------------------------------------------


def read_rows(folder):
    """Returns {(suite, row, bytes, form): median} of one round."""
    values = {}
    for file in sorted(folder.glob("*.json")):
        for row in json.loads(file.read_text())["rows"]:
            values[(row["suite"], row["row"], row["bytes"], row["form"])] = row["median"]
    return values


def read_rounds(folder, read):
    return [values for each in sorted(folder.glob("round-*")) if (values := read(each))]


def curve(rounds, name, form, keys, scale=1.0):
    """Returns one curve, or None if nothing was measured. `keys` has the keys of the values by x."""
    points = []
    for x, key in keys.items():
        found = [each[key] * scale for each in rounds if key in each]
        if found:
            points.append(point(x, found))
    return {"name": name, "form": form, "points": points} if points else None


def sizes(rounds, suite, row, form):
    """Returns the sizes for which the row was measured."""
    return sorted({key[2] for each in rounds for key in each if (key[0], key[1], key[3]) == (suite, row, form)})


def by_size(rounds, suite, row, form):
    """Returns the keys of a row by size, as curve() wants them."""
    return {size: (suite, row, size, form) for size in sizes(rounds, suite, row, form)}


def middle(rounds, key):
    """Returns the median over the rounds; None if no round has the key."""
    found = [each[key] for each in rounds if key in each]
    return statistics.median(found) if found else None


def ratio(rounds, above, below):
    """Returns the median over the rounds of the ratio of two keys' values; None if no round has both."""
    found = [each[above] / each[below] for each in rounds if above in each and each.get(below)]
    return statistics.median(found) if found else None


# ---- The table --------------------------------------------------------------------------------------------------


def entry(row, value, goal=None, at_least=True, paper=None, limit=None, note=""):
    """A line of the table. `paper` is the paper's own figure; `limit` is the best value that this machine allows, as
    the same run measured it."""
    return {"row": row, "value": value, "goal": goal, "at_least": at_least, "paper": paper, "limit": limit, "note": note}


def reaches(each, value):
    return value >= each["goal"] if each["at_least"] else value <= each["goal"]


def verdict(each):
    """Says whether a goal was missed, and whether the limit misses it too."""
    if each["value"] is None or each["goal"] is None or reaches(each, each["value"]):
        return ""
    return "missed" if each["limit"] is None or reaches(each, each["limit"]) else "limit missed"


def number(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 1000 else f"{value:.0f}"


def table_text(entries, title):
    lines = [(title, "value", "goal", "paper", "limit", "", "")]
    for each in entries:
        goal = "-" if each["goal"] is None else f"{'>=' if each['at_least'] else '<='} {each['goal']:g}"
        lines.append((each["row"], number(each["value"]), goal, number(each["paper"]), number(each["limit"]),
                      verdict(each), each["note"]))
    widths = [max(len(line[i]) for line in lines) for i in range(6)]
    aligned = ("<", ">", ">", ">", ">", "<")
    text = ["  ".join([*(f"{cell:{side}{width}}" for cell, side, width in zip(line, aligned, widths)), line[6]]).rstrip()
            for line in lines]
    goals = [each for each in entries if each["goal"] is not None and each["value"] is not None]
    verdicts = [verdict(each) for each in goals]
    return [*text, f"{len(goals)} goals, {len(goals) - verdicts.count('')} missed, "
                   f"{verdicts.count('limit missed')} of these by the limit too"]


def run_table(arguments, about, read, figures, entries):
    """The main function of the scripts that draw one paper's figures. read(folder) returns a tuple whose first element
    is the list of rounds; the tuple goes to figures() and entries()."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("rounds", type=pathlib.Path, help="folder with the programs' outputs, by round")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where the figures and the table go")
    options = parser.parse_args(arguments)
    measured = read(options.rounds)
    if not measured[0]:
        print(f"figures: no results in {options.rounds}", file=sys.stderr)
        return 1
    write_figures(figures(*measured), options.out)
    table = entries(*measured)
    (options.out / "summary.json").write_text(json.dumps(table, indent=2) + "\n")
    print("\n".join(table_text(table, f"medians of {len(measured[0])} rounds")))
    return 0
