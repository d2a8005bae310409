"""The comparison of librma with the bare RDMA device, between hosts: reads what compare_verbs.sh left, and draws it."""

import re
import statistics

import chart
import compare_verbs_table

USES = re.compile(r"(?P<strategy>\w+): (?P<size>.*) used (?P<uses>\d+) times")
SHARING = {"shared": "shared receive queue", "own": "each peer its own"}


def read(folder):
    """Returns (compare_verbs_table's entries, librma's figures as its gather() has them, the reports on memory)."""
    raw, ours, memory = compare_verbs_table.read(folder)
    return compare_verbs_table.compare(raw, ours), ours, memory


def ratio_picture(entries, title="librma divided by the bare device", other_name="the device"):
    """Returns a chart of librma's figures divided by the others', of the rows that have a goal; None without any."""
    kinds = {"less is better": [], "more is better": []}
    for entry in entries:
        if entry["goal"] is None or entry["ratio_to_best"] is None:
            continue
        (name, other), = entry["peers"].items()
        kind = list(kinds)[0 if compare_verbs_table.is_time(entry) else 1]
        kinds[kind].append(chart.Point(entry["row"], entry["ratio_to_best"], text=(
            f"{entry['row']}: librma {entry['ours']:.4g} {entry['unit']}, "
            f"{'perftest' if name == 'raw' else name} {other:.4g}; goal {entry['goal']:g}")))
    series = [chart.Series(kind, points, number) for number, (kind, points) in enumerate(kinds.items()) if points]
    names = [point.x for each in series for point in each.points]
    if not names:
        return None
    return chart.rows(title, names, series, f"librma divided by {other_name}", log=False, reference=(1.0, other_name))


def reuse_picture(ours):
    """Returns a chart of the bandwidth by how often a buffer is used, with a curve for each strategy."""
    curves = {}
    for row, (unit, values) in ours.items():
        match = USES.fullmatch(row)
        if match:
            points = curves.setdefault(match["strategy"], [])
            points.append(chart.Point(int(match["uses"]), statistics.median(values), min(values), max(values),
                                      f"{row}: {statistics.median(values):.4g} {unit}"))
    if not curves:
        return None
    series = [chart.Series(name, sorted(points, key=lambda p: p.x), number)
              for number, (name, points) in enumerate(curves.items())]
    return chart.lines("Puts by reuse of buffers", series, "uses of a buffer", "MiB/s", x_text=chart.number_text)


def memory_picture(reports):
    """Returns a chart of the memory of a rank, all-to-all, by the number of ranks."""
    series = []
    for number, (sharing, name) in enumerate(SHARING.items()):
        found = {}
        for report in reports:
            rows = {row["row"]: row["median"] for row in report["rows"]}
            if f"{sharing}: Pss all-to-all" in rows:
                found[report["ranks"]] = rows[f"{sharing}: Pss all-to-all"] / 1024
        if found:
            series.append(chart.Series(name, [chart.Point(ranks, mib, text=f"{ranks} ranks, {name}: {mib:.2f} MiB")
                                              for ranks, mib in sorted(found.items())], number))
    if not series:
        return None
    return chart.lines("Memory of a rank, all to all", series, "ranks of one host", "MiB (Pss)",
                       x_text=chart.number_text)


def pictures(entries, ours, memory):
    """Returns [(title, SVG, or None where it was not measured)]."""
    return [("Latency and bandwidth", ratio_picture(entries)), ("Puts by reuse of buffers", reuse_picture(ours)),
            ("Memory of a rank, all to all", memory_picture(memory))]
