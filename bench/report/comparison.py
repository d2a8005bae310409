"""The comparisons with other libraries: reads their results, sorts the rows into suites, and draws each suite
as times relative to librma."""

import dataclasses
import json
import pathlib
import re

import chart
import compare_table

# Colour and marker of a library, by how its name ends; and its name for readers. A backend's name may have its suite's
# in front, as in twosided-mpich.
LIBRARIES = (
    ("armci-openmpi", 3, "ARMCI-MPI on Open MPI"),
    ("armci-mpich", 4, "ARMCI-MPI on MPICH"),
    ("coarrays-openmpi", 3, "OpenCoarrays on Open MPI"),
    ("coarrays-mpich", 4, "OpenCoarrays on MPICH"),
    ("openmpi", 0, "Open MPI"),
    ("mpich", 1, "MPICH"),
    ("openshmem", 2, "OpenSHMEM (Open MPI)"),
    ("limit", 5, "the limit"),
    (compare_table.CONTROL_ROW, 5, "cache-line crossing"),
)
BARE = (5, "plain loads and stores")
SIZED = re.compile(r"(?P<before>.*?)(?P<size>\d+) (?P<unit>B|KiB|MiB)(?P<after>.*)")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
LEAST_SIZES = 3  # fewer are rows, and no curve
MOST_ROWS = 26  # of one chart


@dataclasses.dataclass
class Suite:
    title: str
    pattern: str
    command: str  # that measures it
    entries: list = dataclasses.field(default_factory=list)


def suites():
    one_sided, armci = "bench/compare.sh", "bench/compare.sh --suite armci"
    messages, collectives = "bench/compare.sh --suite twosided", "bench/compare.sh --suite collectives"
    return [
        Suite("One-sided: put, get, rate", r"(put|get|rate) .*", one_sided),
        Suite("One-sided: strided and vector", r"(strided|vector) .*", one_sided),
        Suite("One-sided: accumulate, atomics, notification", r"(accumulate|fetch-add|notify) .*", one_sided),
        Suite("Barrier and allreduce of rma.h", r"(barrier|allreduce) .*", one_sided),
        Suite("Processor time while waiting", r"CPU time .*", one_sided),
        Suite("OpenSHMEM calls", r"shmem .*", "bench/compare.sh --suite shmem"),
        Suite("Coarrays of Fortran", r"coarray .*", "bench/compare.sh --suite coarrays"),
        Suite("ARMCI: contiguous", r"armci (put|get|accumulate) \d.*", armci),
        Suite("ARMCI: strided", r"armci (small )?strided .*", armci),
        Suite("ARMCI: atomics, locks, fences, memory", r"armci .*", armci),
        Suite("MPI messages: latency", r"twosided latency .*", messages),
        Suite("MPI messages: bandwidth", r"twosided (bandwidth|bidirectional) .*", messages),
        Suite("MPI messages: rate, pairs, exchange, halo", r"twosided .*", messages),
        *(Suite(f"MPI collectives: {ranks} ranks", rf"coll .* {ranks} ranks", collectives) for ranks in (2, 4, 8, 16)),
    ]


# ---- Results ----------------------------------------------------------------------------------------------------


def read_table(paths):
    """Returns compare_table's entries. A path is a folder of results, or a table that compare.sh --json wrote."""
    files = [file for path in paths for file in sorted(path.glob("round-*/*.json"))]
    entries = compare_table.compare([json.loads(file.read_text()) for file in files])[0] if files else []
    return entries + [entry for path in paths if path.is_file() for entry in json.loads(path.read_text())]


def measured_when(*paths):
    """Returns the time of the newest result, as seconds since 1970; None if there is none."""
    files = [file for path in paths for file in (path, *path.rglob("*")) if file.is_file()]
    return max((file.stat().st_mtime for file in files), default=None)


def sorted_into_suites(table):
    """Returns all suites, each with its entries. A row that fits none is an error: it would be lost."""
    found = suites()
    for entry in table:
        suite = next((suite for suite in found if re.fullmatch(suite.pattern, entry["row"])), None)
        if suite is None:
            raise ValueError(f"no suite of the report (bench/report/comparison.py) has the row '{entry['row']}'")
        suite.entries.append(entry)
    return found


# ---- Pictures ---------------------------------------------------------------------------------------------------


def library(name):
    """Returns (number of the colour, name for readers) of a peer."""
    for end, number, title in LIBRARIES:
        if name == end or name.endswith(f"-{end}"):
            return number, title
    return 4, name


def ratios(entry):
    """Returns [(number, name for readers, time)] of the peers of a row, and of its control."""
    found = [(*library(name), time) for name, time in entry["peers"].items() if time]
    return found + ([(*BARE, entry["bare"])] if entry.get("bare") else [])


def tooltip(entry, name, time):
    text = compare_table.figure
    return f"{entry['row']}: {name} {text(time, entry['unit'])}, librma {text(entry['ours'], entry['unit'])}"


def series_of(entries, x_of):
    """Returns the series of a chart of these entries: a point is the time of a library divided by librma's.
    """
    found = {}
    for entry in entries:
        for number, name, time in ratios(entry):
            points = found.setdefault((number, name), [])
            points.append(chart.Point(x_of(entry), time / entry["ours"], text=tooltip(entry, name, time)))
    return [chart.Series(name, points, number, dashed=name == BARE[1])
            for (number, name), points in sorted(found.items())]


def drawable(entries):
    """Entries of a further goal (`..., to plain`) compare librma with itself: the tables have them."""
    return [entry for entry in entries if entry["ours"] and ratios(entry) and ", to " not in entry["row"]]


def curves_and_rows(entries):
    """Returns ({(before, after): entries of one curve}, the other entries). A row is part of a curve if it
    has one size in its name and others differ from it by that alone."""
    groups, single = {}, []
    for entry in entries:
        match = SIZED.fullmatch(entry["row"])
        if match and not re.search(r"\d x \d", entry["row"]):
            groups.setdefault((match["before"], match["after"]), []).append(entry)
        else:
            single.append(entry)
    for key in [key for key, group in groups.items() if len(group) < LEAST_SIZES]:
        single += groups.pop(key)
    order = {id(entry): number for number, entry in enumerate(entries)}
    return groups, sorted(single, key=lambda entry: order[id(entry)])


def size_of(entry):
    match = SIZED.fullmatch(entry["row"])
    return int(match["size"]) * UNITS[match["unit"]]


AXIS = "time relative to librma"
REFERENCE = (1.0, "librma")


def pictures(suite):
    """Returns [(title, SVG)] of a suite. A chart of all its rows has no title of its own."""
    groups, single = curves_and_rows(drawable(suite.entries))
    found = []
    for (before, after), entries in groups.items():
        title = " ".join(f"{before}{after}".split())
        series = series_of(entries, size_of)
        found.append((title, chart.lines(title, series, "size", AXIS, log_y=True, reference=REFERENCE)))
    for start in range(0, len(single), MOST_ROWS):
        part = single[start:start + MOST_ROWS]
        title = "other rows" if groups else ""
        names = [entry["row"] for entry in part]
        found.append((title, chart.rows(title or suite.title, names, series_of(part, lambda entry: entry["row"]), AXIS,
                                        reference=REFERENCE)))
    return found
