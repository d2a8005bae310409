#!/usr/bin/env python3
"""Tests the page of bench/report on made-up results: goals, reasons, pictures, links, and what was not
measured."""

import contextlib
import html.parser
import io
import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

import check_quick
import report_sample
import between_hosts
import chart
import comparison
import figure_chart
import figure_tools
import goals
import installed_programs
import instruction_counts
import make
import over_tcp
import paper_figures
import papers


class Page(html.parser.HTMLParser):
    """The parts of a page that tests look at."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.outside, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if "id" in values:
            self.ids.append(values["id"])
        self.links += [values["href"]] if tag == "a" else []
        self.outside += [value for name, value in attributes
                         if name in ("src", "href") and not value.startswith(("#", "data:"))]
        if tag not in ("meta", "link", "rect", "path", "circle"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("rect", "path", "circle"):
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> ends {self.open[-1:]}"
        self.open.pop()


def written(build):
    """Returns the page on a build folder."""
    with contextlib.redirect_stdout(io.StringIO()):
        assert make.main(["--build", str(build)]) == 0
    return (build / "report" / "index.html").read_text()


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.build = pathlib.Path(cls.folder.name)
        report_sample.make(cls.build)
        cls.text = written(cls.build)

    def test_every_link_leads_to_a_part_of_the_page(self):
        page = Page(self.text)
        self.assertEqual(page.open, [])
        self.assertEqual(page.outside, [])
        self.assertEqual(len(page.ids), len(set(page.ids)), "an id is there twice")
        self.assertGreater(len(page.links), 20)
        for link in page.links:
            self.assertIn(link.removeprefix("#"), page.ids)

    def test_nothing_is_loaded_and_nothing_runs(self):
        for word in ("<script", "url(", "@import", "http://", "https://"):
            self.assertNotIn(word, self.text.replace('xmlns="http://www.w3.org/2000/svg"', ""))

    def test_every_picture_is_valid(self):
        pictures = self.text.split("<svg ")[1:]
        self.assertGreater(len(pictures), 12)
        for picture in pictures:
            xml.etree.ElementTree.fromstring("<svg " + picture.partition("</svg>")[0] + "</svg>")
            self.assertNotIn("nan", picture.partition("</svg>")[0])

    def test_a_figure_without_a_result_says_so(self):
        for title in ("Contiguous transfers, target computing", "Memory of a process, pairwise", "MG and SUMMA"):
            part = self.text.partition(f"<h4>{title}</h4>")[2].partition("</figure>")[0]
            self.assertIn("not measured", part)
            self.assertNotIn("<svg", part)
        part = self.text.partition("<h3 id=\"mpi-collectives-16-ranks\">")[2][:300]
        self.assertIn("not measured: <code>bench/compare.sh --suite collectives</code>", part)

    def test_the_papers_numbers_stand_beside_ours(self):
        self.assertIn('<td>8 B one way: ring / send/receive</td><td class="num">0.90</td><td class="num">0.76</td>',
                      self.text)
        self.assertIn("17.1 us by the device, 22.1 us by the server", self.text)

    def test_the_machine_is_that_of_the_results(self):
        self.assertIn("<td>a sample &lt;processor&gt;</td>", self.text)
        self.assertIn("not recorded with the results", self.text)

    def test_the_readmes_picture_is_written(self):
        self.assertIn("put 8 B: Open MPI", (self.build / "report" / "performance.svg").read_text())

    def test_goals_have_outcomes_and_reasons(self):
        table = comparison.read_table([self.build / "compare"])
        found = {goal.row: goal for goal in goals.of_comparison("", table)}
        self.assertEqual(found["put 64 KiB"].outcome, goals.MET)
        self.assertEqual(found["armci puts alone 2 ranks"].outcome, goals.MET)
        self.assertEqual(found["strided put 128 x 512 B"].outcome, goals.LIMIT)
        self.assertIn("1.00 of plain loads and stores", found["strided put 128 x 512 B"].why)
        self.assertIn("miss the goal too", found["strided put 16 x 4 KiB"].why)
        self.assertEqual(found["twosided latency 8 B"].outcome, goals.MISSED)
        self.assertEqual(found["twosided latency 8 B"].why, goals.UNKNOWN)
        self.assertEqual((found["shmem p heap"].outcome, found["shmem g heap"].outcome), (goals.MET, goals.ABSENT))
        self.assertEqual(found["shmem p static, to the heap"].outcome, goals.MISSED)
        self.assertEqual(found["shmem p static, to 10 ns"].outcome, goals.MET)
        verbs = goals.of_verbs("", between_hosts.read(self.build / "compare-verbs")[0])
        self.assertEqual([goal.outcome for goal in verbs], [goals.MET])

    def test_goals_over_tcp(self):
        found = {goal.row: goal.outcome for goal in goals.of_verbs("", over_tcp.read(self.build / "compare-ofi"))}
        self.assertEqual(found, {"write 8 B, target polls": goals.MET, "two hosts: message 8 B, half a round trip": goals.MISSED,
                                 "8 ranks on 2 hosts: rmarun beside mpirun": goals.MET,
                                 "64 ranks on 8 hosts: a program of librma": goals.MISSED})

    def test_goals_of_instructions(self):
        found = {goal.row: goal.outcome for goal in goals.of_verbs("", instruction_counts.read(self.build / "instructions"))}
        self.assertEqual(found, {"isend": goals.MET, "send and recv": goals.MISSED, "send, to the better peer": goals.MET,
                                 "isend, to the better peer": goals.MET, "probe, to the better peer": goals.MISSED})

    def test_goals_of_installed_programs(self):
        found = {goal.row: goal.outcome for goal in goals.of_verbs("", installed_programs.read(self.build / "installed"))}
        self.assertEqual(found, {"quick, 2 ranks": goals.MET, "slow, 4 ranks": goals.MISSED,
                                 "absent, 2 ranks: not run: no <program>": goals.ABSENT})
        self.assertIn("not run: no &lt;program&gt;", self.text)

    def test_goals_of_papers(self):
        first, second = papers.PAPERS[:2]
        self.assertEqual([goal.outcome for goal in goals.of_paper("", paper_figures.read(self.build, first)[1])],
                         [goals.MET, goals.LIMIT, goals.ABSENT])
        self.assertEqual([goal.outcome for goal in goals.of_paper("", paper_figures.read(self.build, second)[1])],
                         [goals.MISSED])

    def test_without_any_result_everything_is_not_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            text = written(pathlib.Path(folder))
            self.assertNotIn("<svg", text)
            self.assertEqual(text.count('<div class="tile met"><b>0</b>'), 1)
            self.assertFalse((pathlib.Path(folder) / "report" / "performance.svg").exists())

    def test_several_runs_are_one_comparison(self):
        with tempfile.TemporaryDirectory() as folder:
            runs = [pathlib.Path(folder) / name for name in ("first", "second")]
            for run, row in zip(runs, ("put 8 B", "coll barrier 2 ranks")):
                (run / "round-1").mkdir(parents=True)
                (run / "round-1" / "rma-2.json").write_text(json.dumps(report_sample.result("rma", 2, {row: 4.0})))
            with contextlib.redirect_stdout(io.StringIO()):
                make.main(["--build", folder, "--compare", *map(str, runs)])
            text = (pathlib.Path(folder) / "report" / "index.html").read_text()
            for row in ("put 8 B", "coll barrier 2 ranks"):
                self.assertIn(f"<td>{row}</td>", text)

    def test_the_table_of_a_run_serves_as_its_results(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "table.json"
            table.write_text('[{"row": "put 8 B", "unit": "ns", "ours": 4.0, "peers": {"mpich": 8.0}, '
                             '"ratio_to_best": 0.5, "goal": 0.6, "bare": null}]')
            with contextlib.redirect_stdout(io.StringIO()):
                make.main(["--build", folder, "--compare", str(table)])
            self.assertIn("put 8 B: MPICH 8.00 ns", (pathlib.Path(folder) / "report" / "index.html").read_text())


class Suites(unittest.TestCase):
    def test_a_row_of_no_suite_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "the row 'new row'"):
            comparison.sorted_into_suites([{"row": "new row"}])

    def test_every_row_of_the_measuring_programs_has_a_suite(self):
        for ranks in (2, 4, 8, 16):
            for rows in check_quick.PROGRAMS.values():
                comparison.sorted_into_suites([{"row": row} for row in rows(ranks) if not row.endswith(" bare")])

    def test_sizes_become_curves(self):
        entries = [{"row": f"coll bcast {text} 2 ranks", "unit": "ns", "ours": 1.0, "peers": {"mpich": 2.0}, "bare": None}
                   for text in ("8 B", "4 KiB", "1 MiB")]
        entries.append({**entries[0], "row": "coll barrier 2 ranks"})
        curves, rows = comparison.curves_and_rows(entries)
        self.assertEqual(list(curves), [("coll bcast ", " 2 ranks")])
        self.assertEqual([entry["row"] for entry in rows], ["coll barrier 2 ranks"])
        self.assertEqual([comparison.size_of(entry) for entry in curves["coll bcast ", " 2 ranks"]], [8, 4096, 1 << 20])


class Chart(unittest.TestCase):
    def test_ticks_are_round_and_few(self):
        for low, high in ((0.8, 1.3), (0.5, 40), (1, 1e7), (0.001, 3)):
            ticks = chart.log_ticks(low, high)
            self.assertTrue(3 <= len(ticks) <= 9, (low, high, ticks))
            self.assertTrue(low <= ticks[0] * 1.001 and ticks[-1] <= high * 1.001, (low, high, ticks))
        for high in (1e-3, 0.7, 1, 5, 9.99, 83, 1234):
            ticks = chart.linear_ticks(high)
            self.assertTrue(4 <= len(ticks) <= 9, (high, ticks))
            self.assertLessEqual(ticks[-1], high * 1.000001)

    def test_times_have_a_suitable_unit(self):
        for nanoseconds, text in ((7.0, "7 ns"), (2e5, "200 us"), (3e8, "300 ms")):
            drawn = figure_tools.figure("f", "t", "x", "ns", [report_sample.curve("a", "a", {8: nanoseconds})])
            self.assertIn(f"a: {text} ", figure_chart.draw(drawn))

    def test_zero_and_equal_values_have_a_place(self):
        series = [chart.Series("a", [chart.Point(0, 5.0), chart.Point(8, 5.0)], 0)]
        for log in (False, True):
            picture = chart.lines("t", series, "x", "y", log_y=log)
            xml.etree.ElementTree.fromstring(picture)
        self.assertLess(chart.Scale(4, 8, 0, 10, True)(0), chart.Scale(4, 8, 0, 10, True)(8))


if __name__ == "__main__":
    unittest.main()
