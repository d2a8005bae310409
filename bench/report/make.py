#!/usr/bin/env python3
"""Writes the report on all finished measurements: BUILD/report/index.html, a page of its own, and
performance.svg, the picture that the README shows.

usage: make.py [--build DIR] [--compare PATH...] [--out DIR]

It reads what bench/compare.sh, bench/compare_verbs.sh, bench/compare_ofi.sh, bench/figures.sh and
bench/apps.sh left in the build folder. What was not measured is shown as "not measured".
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


def verbs(options):
    folder = options.build / "compare-verbs"
    entries, ours, memory = between_hosts.read(folder)
    when = page.when_text(comparison.measured_when(folder), "bench/compare_verbs.sh")
    lead = ("<p>librma beside the bare RDMA device, as perftest measures it, between two emulated hosts. Only the "
            f"ratios say something. {when}</p>")
    title = "Between hosts: librma and the bare device"
    return (page.section("verbs", title, lead, page.verbs_part(entries, between_hosts.pictures(entries, ours, memory))),
            [("verbs", title, goals.of_verbs("Between hosts", entries), page.NOT_MEASURED)])


def tcp(options):
    folder = options.build / "compare-ofi"
    entries = over_tcp.read(folder)
    when = page.when_text(comparison.measured_when(folder) if entries else None, "bench/compare_ofi.sh")
    lead = ("<p>librma beside libfabric itself, between two processes of one machine; its MPI beside others, between two "
            f"hosts by TCP, which are network namespaces; and the time to start jobs there. {when}</p>")
    title = "Over TCP: librma, libfabric and other MPIs"
    return (page.section("tcp", title, lead, page.verbs_part(entries, [("Times", between_hosts.ratio_picture(
                entries, "librma divided by the other", "the other"))])),
            [("tcp", title, goals.of_verbs("Over TCP", entries), page.NOT_MEASURED)])


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
    over, over_areas = tcp(options)
    figures, figure_areas = all_papers(options)
    machines = [*(machine_of("Comparisons on one host", path) for path in options.compare),
                machine_of("Between hosts", options.build / "compare-verbs"),
                machine_of("Over TCP", options.build / "compare-ofi")]
    machines += [machine_of(paper.title, paper_figures.folder_of(options.build, paper)) for paper in papers.PAPERS]
    # One table of this machine serves all results without a record.
    recorded = [each for each in machines if each[2]]
    if len(recorded) < len(machines):
        absent = ", ".join(what for what, _, is_recorded in machines if not is_recorded)
        recorded.append((absent, machine.describe(), False))
    links = [("glance", "At a glance"), ("comparisons", "Comparisons"), ("verbs", "Between hosts"), ("tcp", "Over TCP"),
             ("papers", "Papers"), ("machine", "Machine")]
    lead = "What librma's benchmarks say: its goals first, then every comparison, then the figures of the papers."
    return page.document("librma: measurements", lead, [
        page.glance([*compared_areas, *between_areas, *over_areas, *figure_areas]), compared, between, over, figures,
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
