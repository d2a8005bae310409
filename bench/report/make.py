#!/usr/bin/env python3
"""Writes the report on all finished measurements: BUILD/report/index.html, a page of its own, and
performance.svg, the picture that the README shows.

usage: make.py [--build DIR] [--compare PATH...] [--out DIR]

It reads what bench/report.sh and the scripts that it calls left in the build folder. What was not measured is shown as "not measured".
"""

import argparse
import pathlib
import re
import sys

BENCH = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH / "papers")]
import between_hosts  # noqa: E402
import chart  # noqa: E402
import compare_picture  # noqa: E402
import comparison  # noqa: E402
import goals  # noqa: E402
import installed_programs  # noqa: E402
import instruction_counts  # noqa: E402
import machine  # noqa: E402
import over_tcp  # noqa: E402
import page  # noqa: E402
import paper_figures  # noqa: E402
import papers  # noqa: E402


def anchor(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def machine_of(what, folder):
    """Returns what page.machines_part() wants: the machine that was recorded beside results, or else this
    one."""
    file = folder / "machine.txt"
    if file.exists():
        pairs = (line.partition(": ") for line in file.read_text().splitlines())
        return what, {name: value for name, _, value in pairs}, True
    return what, machine.describe(), False


def comparisons(options):
    """Returns (the section, [(anchor, title, goals, note)] of its parts)."""
    entries = comparison.read_table(options.compare)
    parts, areas = [], []
    for suite in comparison.sorted_into_suites(entries):
        name = anchor(suite.title)
        parts.append(page.suite_part(name, suite, comparison.pictures(suite)))
        areas.append((name, suite.title, goals.of_comparison(suite.title, suite.entries), page.NOT_MEASURED))
    when = comparison.measured_when(*options.compare)
    lead = ("<p>Each mark is the time of another library, divided by librma's for the same operation: above the "
            "line, or right of it, the other is slower. Under a mark are the times themselves. Plain loads and "
            f"stores do the same work without any library. {page.when_text(when, 'bench/compare.sh')}</p>")
    return page.section("comparisons", "Comparisons on one host", lead, *parts), areas


def beside(name, title, area, lead, entries, pictures, folder, command):
    """Returns the section of a table whose rows stand beside one other each, and its areas. `folder` has the results
    of `command`."""
    when = page.when_text(comparison.measured_when(folder) if entries else None, command)
    return (page.section(name, title, f"<p>{lead} {when}</p>", page.verbs_part(entries, pictures)),
            [(name, title, goals.of_verbs(area, entries), page.NOT_MEASURED)])


def verbs(options):
    folder = options.build / "compare-verbs"
    entries, ours, memory = between_hosts.read(folder)
    return beside("verbs", "Between hosts: librma and the bare device", "Between hosts",
                  "librma beside the bare RDMA device, as perftest measures it, between two emulated hosts. Only the "
                  "ratios say something.",
                  entries, between_hosts.pictures(entries, ours, memory), folder, "bench/compare_verbs.sh")


# Tables without pictures of their own, of which each row stands beside one other: the anchor and the area of their goals,
# the title, the text, what reads them, their folder, the script that measures them, and how the picture names the others.
TABLES = (
    ("tcp", "Over TCP", "Over TCP: librma, libfabric and other MPIs",
     "librma beside libfabric itself, between two processes of one machine; its MPI beside others, between two hosts by "
     "TCP, which are network namespaces; and the time to start jobs there.",
     over_tcp.read, "compare-ofi", "bench/compare_ofi.sh", "the other"),
    ("instructions", "Instructions", "Instructions of a call",
     "The instructions of calls with 8 bytes between two ranks of a host, by Callgrind. They do not depend on what else "
     "the machine does. A row stands beside its goal, or beside the better of Open MPI and MPICH.",
     instruction_counts.read, "instructions", "bench/instructions.sh", "the other"),
    ("installed", "Installed programs", "Installed programs",
     "Programs of Debian that are linked to Open MPI, unchanged, on Open MPI and on librma in turn, with the launcher's "
     "start. Their results were compared.",
     installed_programs.read, "installed", "bench/installed.sh", "Open MPI"),
)


def tables(options):
    """Returns the sections of TABLES, and their areas."""
    sections, areas = [], []
    for name, area, title, lead, read, place, command, other in TABLES:
        folder = options.build / place
        entries = read(folder)
        pictures = [(title, between_hosts.ratio_picture(entries, f"librma divided by {other}", other))]
        section, its_areas = beside(name, title, area, lead, entries, pictures, folder, command)
        sections.append(section)
        areas += its_areas
    return sections, areas


def all_papers(options):
    parts, areas = [], []
    for paper in papers.PAPERS:
        drawn, entries = paper_figures.read(options.build, paper)
        command = "bench/apps.sh" if paper.name == "apps" else f"bench/figures.sh --paper {paper.name}"
        folder = paper_figures.folder_of(options.build, paper)
        when = page.when_text(comparison.measured_when(folder) if drawn else None, command)
        name = f"paper-{paper.name}"
        parts.append(page.paper_part(name, paper, paper_figures.pictures(paper, drawn), entries, when))
        areas.append((name, paper.title, goals.of_paper(paper.title, entries),
                      "measured; it has no goals" if drawn else page.NOT_MEASURED))
    lead = ("<p>The papers' hardware is of 2003 to 2006; here the network is emulated by the processor (Soft-RoCE). "
            "So shapes and ratios can be compared, and times and bandwidths cannot. A point is the median over the "
            "rounds, and the thin line through it goes from the least to the greatest round.</p>")
    return page.section("papers", "The papers' figures", lead, *parts), areas


def report(options):
    compared, compared_areas = comparisons(options)
    between, between_areas = verbs(options)
    others, other_areas = tables(options)
    figures, figure_areas = all_papers(options)
    machines = [*(machine_of("Comparisons on one host", path) for path in options.compare),
                machine_of("Between hosts", options.build / "compare-verbs"),
                machine_of("Over TCP", options.build / "compare-ofi"),
                machine_of("Installed programs", options.build / "installed")]
    machines += [machine_of(paper.title, paper_figures.folder_of(options.build, paper)) for paper in papers.PAPERS]
    # One table of this machine serves all results without a record.
    recorded = [each for each in machines if each[2]]
    if len(recorded) < len(machines):
        absent = ", ".join(what for what, _, is_recorded in machines if not is_recorded)
        recorded.append((absent, machine.describe(), False))
    links = [("glance", "At a glance"), ("comparisons", "Comparisons"), ("verbs", "Between hosts"),
             *((name, area) for name, area, *_ in TABLES), ("papers", "Papers"), ("machine", "Machine")]
    lead = "What librma's benchmarks say: its goals first, then every comparison, then the figures of the papers."
    return page.document("librma: measurements", lead, [
        page.glance([*compared_areas, *between_areas, *other_areas, *figure_areas]), compared, between, *others, figures,
        page.machines_part(recorded)], links)


def main(arguments):
    parser = argparse.ArgumentParser(description="Writes the report on all finished measurements.")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="the build folder")
    parser.add_argument("--compare", type=pathlib.Path, nargs="+", metavar="PATH",
                        help="results of compare.sh: its folders, or the tables of its --json (default: BUILD/compare)")
    parser.add_argument("--out", type=pathlib.Path, help="where index.html goes (default: BUILD/report)")
    options = parser.parse_args(arguments)
    options.compare = options.compare or [options.build / "compare"]
    out = options.out or options.build / "report"
    text = report(options)
    out.mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(text)
    picture = compare_picture.picture(comparison.read_table(options.compare))
    if picture:
        (out / "performance.svg").write_text(chart.standalone(picture))
    print(f"report: {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
