#!/usr/bin/env python3
"""Unit tests of bench/papers/host_assisted_table.py, on results made up here."""

import atexit
import contextlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "papers"))
import figure_tools as tools  # noqa: E402
import host_assisted_table as table  # noqa: E402

KIB = 1 << 10


def row(suite, name, size, form, value):
    return {"suite": suite, "row": name, "bytes": size, "form": form, "unit": "", "median": value}


def bandwidth(layout, size, text, form, idle, busy, call="put"):
    return [row("cpu-tolerance", f"{call} {layout} {text}: {state}", size, form, value)
            for state, value in (("idle", idle), ("busy", busy))]


class Rounds:
    """Makes a folder of rounds, each a list of rows."""

    def __init__(self, *rounds):
        self.path = pathlib.Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, self.path)
        for number, rows in enumerate(rounds):
            folder = self.path / f"round-{number}"
            folder.mkdir()
            (folder / "all.json").write_text(json.dumps({"rows": rows}))

    def read(self):
        return [table.read_round(folder) for folder in sorted(self.path.glob("round-*"))]


def by_row(entries):
    return {each["row"]: each for each in entries}


class Ratios(unittest.TestCase):
    def test_strided_ratios_are_taken_within_rounds(self):
        rounds = []
        for assisted, packed in ((4.0, 2.0), (30.0, 10.0), (1.0, 1.0)):
            rounds.append([*bandwidth("strided", 4 * KIB, "4 KiB", "host_assisted", assisted, 1),
                           *bandwidth("strided", 4 * KIB, "4 KiB", "packed", packed, 1),
                           *bandwidth("whole", 256 * KIB, "256 KiB", "host_assisted", 2 * assisted, 1)])
        found = by_row(table.strided_entries(Rounds(*rounds).read()))
        packed = found["put strided 4 KiB: host_assisted / packed"]
        self.assertEqual((packed["value"], packed["goal"]), (2.0, 1.3))
        self.assertTrue(table.meets(packed))
        whole = found["put strided 4 KiB: host_assisted / contiguous"]
        self.assertEqual(whole["value"], 0.5)
        self.assertFalse(table.meets(whole))
        self.assertIsNone(found["put strided 4 KiB: host_assisted / segments"]["value"])

    def test_small_segments_have_no_goal(self):
        rounds = Rounds(bandwidth("strided", 512, "512 B", "host_assisted", 1, 1)).read()
        self.assertEqual(table.strided_entries(rounds), [])

    def test_busy_shares_are_relative_to_the_device(self):
        rounds = Rounds([*bandwidth("contiguous", 256 * KIB, "256 KiB", "raw", 10, 8),
                         *bandwidth("contiguous", 256 * KIB, "256 KiB", "host_assisted", 5, 3),
                         *bandwidth("contiguous", 256 * KIB, "256 KiB", "packed", 5, 1)]).read()
        found = by_row(table.tolerance_entries(rounds))
        zero_copy = found["put contiguous 256 KiB: zero-copy kept when busy / raw verbs'"]
        self.assertAlmostEqual(zero_copy["value"], 0.6 / 0.8)
        self.assertAlmostEqual(zero_copy["busy"], 3 / 8)
        self.assertFalse(table.meets(zero_copy))
        buffered = found["put contiguous 256 KiB: buffered kept when busy / raw verbs'"]
        self.assertAlmostEqual(buffered["value"], 0.25)
        self.assertTrue(table.meets(buffered), "what is no goal is not missed")

    def test_no_ratio_to_an_overlap_that_is_not_there(self):
        for raw, value in ((5.0, None), (80.0, 0.5)):
            rounds = Rounds([row("overlap", "get contiguous 256 KiB: overlap", 256 * KIB, "raw", raw),
                             row("overlap", "get contiguous 256 KiB: overlap", 256 * KIB, "host_assisted", 40.0)]).read()
            found = by_row(table.overlap_entries(rounds))["get contiguous 256 KiB: zero-copy overlap / raw verbs'"]
            self.assertEqual((found["value"], found["raw_overlap"]), (value, raw))

    def test_a_goal_that_the_bare_device_misses_too_is_named(self):
        contiguous = [*bandwidth("whole", 256 * KIB, "256 KiB", "host_assisted", 10, 1),
                      *bandwidth("contiguous", 256 * KIB, "256 KiB", "raw", 5, 4),
                      *bandwidth("contiguous", 256 * KIB, "256 KiB", "bare", 10, 5)]
        for gathers, verdict in ((8.0, "bare missed"), (9.5, "missed")):
            rounds = Rounds([*contiguous, *bandwidth("strided", 4 * KIB, "4 KiB", "host_assisted", 7, 3),
                             *bandwidth("strided", 4 * KIB, "4 KiB", "bare", gathers, gathers / 2)]).read()
            whole = by_row(table.strided_entries(rounds))["put strided 4 KiB: host_assisted / contiguous"]
            self.assertAlmostEqual(whole["bare"], gathers / 10)
            self.assertEqual(table.verdict(whole), verdict)
            busy = by_row(table.tolerance_entries(rounds))
            self.assertAlmostEqual(busy["put strided 4 KiB: host-assisted kept when busy / raw verbs'"]["bare"], 0.5 / 0.8)
        self.assertRegex("\n".join(table.summary_text([whole])), r"contiguous +0\.70 +>= 0\.9 +0\.95 +missed\n"
                         r"1 goals, 1 missed, 0 of these by the bare device too")

    def test_overlap_has_the_overlap_of_bare_gathers_beside_it(self):
        rows = [row("overlap", f"put {layout} 1 MiB: overlap", KIB * KIB, form, value)
                for layout, form, value in (("contiguous", "raw", 20.0), ("contiguous", "host_assisted", 19.5),
                                            ("2-D", "host_assisted", 5.0), ("2-D", "bare", 10.0))]
        found = by_row(table.overlap_entries(Rounds(rows).read()))
        flat = found["put contiguous 1 MiB: zero-copy overlap / raw verbs'"]
        self.assertEqual((flat["bare"], table.verdict(flat)), (None, ""))
        patch = found["put 2-D 1 MiB: host_assisted overlap / raw verbs'"]
        self.assertEqual((patch["value"], patch["bare"], table.verdict(patch)), (0.25, 0.5, "bare missed"))
        self.assertEqual(table.details(patch), "5 %, raw 20 %, bare 10 %")

    def test_times_must_be_below_their_goal(self):
        rows = [row("rmw", "fetch-add", 0, form, value) for form, value in (("nic", 3e3), ("helper", 2e3))]
        rows.append(row("idle", "helper thread: CPU time in 10 s", 0, "host_assisted", 4.0))
        found = by_row(table.other_entries(Rounds(rows).read()))
        self.assertFalse(table.meets(found["fetch-and-add: network device's time / helper's"]))
        self.assertTrue(table.meets(found["helper thread: CPU time in 10 s, ms"]))


class Main(unittest.TestCase):
    def run_main(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return table.main([str(argument) for argument in arguments]), out.getvalue()

    def test_writes_figures(self):
        rounds = Rounds(*([*bandwidth("contiguous", 64 * KIB, "64 KiB", "raw", value, 1),
                           row("rmw", "fetch-add", 0, "nic", 2e3)] for value in (3, 9, 5)))
        with tempfile.TemporaryDirectory() as out:
            code, _ = self.run_main(rounds.path, "--out", out)
            self.assertEqual(code, 0)
            drawn = json.loads((pathlib.Path(out) / "figure05.json").read_text())
            self.assertEqual(drawn["series"][0]["name"], "raw verbs put")
            self.assertEqual(drawn["series"][0]["points"],
                             [{"x": 64 * KIB, "median": 5, "min": 3, "max": 9, "rounds": 3}])
            atomics = json.loads((pathlib.Path(out) / "section43.json").read_text())
            self.assertEqual(atomics["series"][0]["points"][0]["median"], 2.0)
            self.assertTrue((pathlib.Path(out) / "section43.svg").exists())
            self.assertFalse((pathlib.Path(out) / "figure09.json").exists())

    def test_a_picture_has_every_point(self):
        drawn = table.bandwidth_figure(
            Rounds(bandwidth("strided", KIB, "1 KiB", "packed", 7, 1)).read(),
            "figure09", "It's <strided>", "bytes", "strided", table.STRIDED, "idle")
        picture = xml.etree.ElementTree.fromstring(tools.figure_chart.draw(drawn))
        self.assertEqual(picture.get("aria-label"), "It's <strided>")
        titles = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}title")]
        self.assertIn("packed put: 7 MiB/s (7 to 7 in 1 rounds)", titles)

    def test_an_empty_folder_is_an_error(self):
        with tempfile.TemporaryDirectory() as name:
            code, out = self.run_main(name, "--out", name)
            self.assertEqual(code, 1)
            self.assertIn("no results", out)


if __name__ == "__main__":
    unittest.main()
