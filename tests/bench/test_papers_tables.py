#!/usr/bin/env python3
"""Unit tests of the tables in bench/papers that are on messages and applications, on results made up here."""

import atexit
import contextlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "papers"))
import apps_table as apps  # noqa: E402
import eager_ring_table as eager_ring  # noqa: E402
import figure_tools as tools  # noqa: E402
import pipeline_table as pipeline  # noqa: E402
import scalability_table as scalability  # noqa: E402

KIB = 1 << 10
MIB = 1 << 20
LATENCY = """ #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
 8       200          90.00   400.00       {}            110.00
"""
RATE = """ #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 64         1000             1.00               1.00                 {}
"""


def row(suite, name, size, form, value):
    return {"suite": suite, "row": name, "bytes": size, "form": form, "unit": "", "median": value}


class Folder:
    """A folder of results; each round is {file: text or list of rows}."""

    def __init__(self, *rounds):
        self.path = pathlib.Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, self.path)
        for number, files in enumerate(rounds):
            folder = self.path / f"round-{number}"
            folder.mkdir()
            for name, content in files.items():
                text = content if isinstance(content, str) else json.dumps({"rows": content})
                (folder / name).write_text(text)


def by_row(entries):
    return {each["row"]: each for each in entries}


def run_main(table, *arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        return table.main([str(argument) for argument in arguments]), out.getvalue()


class EagerRing(unittest.TestCase):
    def one_round(self, ring, queue, write="100.00", send="150.00"):
        return {"write-latency.raw": LATENCY.format(write), "send-latency.raw": LATENCY.format(send),
                "write-rate.raw": RATE.format("0.03"), "send-rate.raw": RATE.format("0.02"),
                "ring.json": [row("latency", "one way", 8, "ring", ring), row("bandwidth", "stream", 64, "ring", 3.0)],
                "queue.json": [row("latency", "one way", 8, "queue", queue),
                               row("bandwidth", "stream", 64, "queue", 2.0)]}

    def entries(self, *rounds):
        folder = Folder(*rounds).path
        (folder / "polling.json").write_text(
            json.dumps({"rows": [row("polling", "rings of a look", 16, "ring", 250.0)]}))
        measured = tools.read_rounds(folder, eager_ring.read_round)
        return by_row(eager_ring.entries(measured, eager_ring.read_polling(folder)))

    def test_ratios_are_taken_within_rounds_in_one_unit(self):
        found = self.entries(self.one_round(130e3, 200e3), self.one_round(260e3, 390e3, write="200.00"),
                             self.one_round(110e3, 100e3))
        self.assertAlmostEqual(found["8 B one way: ring / ib_write_lat"]["value"], 1.3)
        self.assertEqual(tools.verdict(found["8 B one way: ring / ib_write_lat"]), "missed")
        self.assertAlmostEqual(found["8 B one way: ring / send/receive"]["value"], 260 / 390)
        self.assertEqual(tools.verdict(found["8 B one way: ring / send/receive"]), "")
        self.assertAlmostEqual(found["polling of 16 connections, us"]["value"], 0.25)

    def test_the_device_itself_is_the_limit(self):
        found = self.entries(self.one_round(100e3, 110e3))
        rate = found["64 B bandwidth: ring / send/receive"]
        self.assertEqual((rate["value"], rate["goal"]), (1.5, 2.0))
        self.assertAlmostEqual(rate["limit"], 1.5)
        self.assertEqual(tools.verdict(rate), "limit missed")
        # The device gains a third, so a smaller gain of the library is its own fault.
        self.assertEqual(tools.verdict(found["8 B one way: ring / send/receive"]), "missed")

    def test_rows_that_perftest_left_empty_have_no_ratio(self):
        files = self.one_round(100e3, 110e3)
        del files["write-latency.raw"]
        found = self.entries(files)
        self.assertIsNone(found["8 B one way: ring / ib_write_lat"]["value"])
        self.assertEqual(tools.verdict(found["8 B one way: ring / ib_write_lat"]), "")


class Pipeline(unittest.TestCase):
    def rounds(self, cache, pipelined):
        """Bandwidths by the number of uses, 8 MiB."""
        rows = [row("reuse", f"used {uses} times", 8 * MIB, name, value)
                for name, values in (("cache", cache), ("pipeline", pipelined)) for uses, value in values.items()]
        rows.append(row("reuse", "used 1 times", MIB, "pipeline", 10.0))
        rows += [row("effective", "b_eff", 0, name, value) for name, value in (("copy", 4.0), ("pipeline", 6.0))]
        return tools.read_rounds(Folder({"all.json": rows}).path, tools.read_rows)

    def test_the_goal_is_for_the_longest_message_and_has_a_limit(self):
        found = by_row(pipeline.entries(self.rounds({1: 10.0, 5: 12.0, 50: 13.0}, {1: 12.0, 5: 12.0, 50: 12.5})))
        each = found["8 MiB, no reuse: pipeline / cache"]
        self.assertAlmostEqual(each["value"], 1.2)
        self.assertAlmostEqual(each["limit"], 1.3)
        self.assertEqual(tools.verdict(each), "limit missed")
        self.assertIsNone(found["1 MiB, no reuse: pipeline / cache"]["goal"])
        self.assertEqual(found["8 MiB: uses until cache is as fast as pipeline"]["value"], 5)
        self.assertAlmostEqual(found["b_eff: pipeline / copy"]["value"], 1.5)

    def test_a_pipeline_that_hides_too_little_is_the_librarys_fault(self):
        found = by_row(pipeline.entries(self.rounds({1: 10.0, 50: 20.0}, {1: 12.0})))
        self.assertEqual(tools.verdict(found["8 MiB, no reuse: pipeline / cache"]), "missed")

    def test_cache_that_never_catches_up(self):
        found = by_row(pipeline.entries(self.rounds({1: 5.0, 50: 9.0}, {1: 10.0, 50: 10.0})))
        self.assertIsNone(found["8 MiB: uses until cache is as fast as pipeline"]["value"])


class Scalability(unittest.TestCase):
    def rounds(self, memory):
        """`memory`: by ranks, KiB of a process and of the kernel in the pattern all-to-all."""
        rows = []
        for ranks, (pss, kernel) in memory.items():
            for what, value in (("Pss after start", 1024.0), ("Pss pairwise", 1024.0), ("Pss all-to-all", pss),
                                ("kernel after start", 500.0), ("kernel pairwise", 500.0), ("kernel all-to-all", kernel)):
                rows.append(row("memory", f"shared {ranks}: {what}", 0, "", value))
        for count, value in ((1, 100.0), (4, 120.0)):
            rows.append(row("peers", f"{count} peers", 8, "shared", value))
            rows.append(row("peers", f"{count} peers", 8, "ring", value / 2))
        return tools.read_rounds(Folder({"all.json": rows}).path, scalability.read_round)

    def test_a_process_has_its_share_of_the_kernel(self):
        rounds = self.rounds({2: (2048.0, 500.0 + 2 * 1024)})
        self.assertAlmostEqual(rounds[0][("memory", "all-to-all", 2, "shared")], 3.0)
        self.assertAlmostEqual(rounds[0][("memory", "pairwise", 2, "shared")], 1.0)

    def test_the_model_is_fitted_to_the_larger_jobs(self):
        # 2 MiB and 0.5 MiB for each peer; the smallest job is out of line.
        memory = {ranks: (2048.0 + 512.0 * (ranks - 1), 500.0) for ranks in (8, 16, 32)}
        rounds = self.rounds({2: (9999.0, 500.0), **memory})
        fixed, peer, error = scalability.fitted(rounds, "all-to-all", "shared")
        self.assertAlmostEqual(fixed, 2.0)
        self.assertAlmostEqual(peer, 0.5)
        self.assertAlmostEqual(error, 0.0)
        found = by_row(scalability.entries(rounds))
        self.assertIn("512.0 KiB x peers", found["memory, all to all, shared queue: most ranks / fewest"]["note"])
        self.assertIn("514 MiB of 1024", found["memory, all to all, shared queue: most ranks / fewest"]["note"])

    def test_the_model_does_not_fall(self):
        memory = {ranks: (2048.0 - 8.0 * ranks, 500.0) for ranks in (8, 16, 24)}
        fixed, peer, error = scalability.fitted(self.rounds(memory), "all-to-all", "shared")
        self.assertAlmostEqual(fixed, 2.0 - 16 * 8 / 1024)
        self.assertEqual(peer, 0.0)
        self.assertAlmostEqual(error, 8 * 8 / 1024)

    def test_without_larger_jobs_there_is_no_model(self):
        self.assertIsNone(scalability.fitted(self.rounds({2: (1.0, 500.0), 4: (1.0, 500.0)}), "all-to-all", "shared"))

    def test_latency_by_peers(self):
        found = by_row(scalability.entries(self.rounds({2: (1.0, 500.0)})))
        self.assertAlmostEqual(found["latency, shared queue: 4 peers / 1"]["value"], 1.2)
        self.assertAlmostEqual(found["latency, 4 peers: ring / shared queue"]["value"], 0.5)


class Apps(unittest.TestCase):
    def rounds(self, **seconds):
        files = {}
        for way, (time, communication) in seconds.items():
            name = way.replace("_", "-")
            files[f"mg-W.{name}.json"] = json.dumps({"seconds": time, "exchange_seconds": communication})
            files[f"summa-64.{name}.json"] = json.dumps(
                {"runs": [{"mode": "overlap", "seconds": time, "communication_seconds": communication}]})
        return tools.read_rounds(Folder(files).path, apps.read_round)

    def test_goals_are_for_the_two_sided_program_on_the_same_library(self):
        found = by_row(apps.entries(self.rounds(one_sided=(1.0, 0.1), two_sided=(1.15, 0.3), openmpi=(1.3, 0.4))))
        mg = found["mg-W: time of librma, messages / one-sided"]
        self.assertAlmostEqual(mg["value"], 1.15)
        self.assertEqual((mg["goal"], tools.verdict(mg)), (1.14, ""))
        summa = found["summa-64 overlap: time of librma, messages / one-sided"]
        self.assertEqual((summa["goal"], tools.verdict(summa)), (1.18, "missed"))
        self.assertIsNone(found["mg-W: time of Open MPI / one-sided"]["goal"])

    def test_no_communication_can_gain_more_than_it_takes(self):
        found = by_row(apps.entries(self.rounds(one_sided=(1.0, 0.05), two_sided=(1.05, 0.1))))
        mg = found["mg-W: time of librma, messages / one-sided"]
        self.assertAlmostEqual(mg["limit"], 1.05 / 0.95)
        self.assertEqual(tools.verdict(mg), "limit missed")
        self.assertIsNone(found["mg-W: time of Open MPI / one-sided"]["value"])


class Main(unittest.TestCase):
    def test_writes_figures_and_table(self):
        folder = Folder({"a.json": [row("reuse", "used 1 times", MIB, "cache", 3.0)]}).path
        with tempfile.TemporaryDirectory() as out:
            code, text = run_main(pipeline, folder, "--out", out)
            self.assertEqual(code, 0, text)
            drawn = json.loads((pathlib.Path(out) / "figure5.json").read_text())
            self.assertEqual(drawn["series"][0]["points"][0]["median"], 3.0)
            self.assertTrue((pathlib.Path(out) / "summary.json").exists())
            self.assertFalse((pathlib.Path(out) / "b_eff.json").exists(), "a figure without curves")

    def test_an_empty_folder_is_an_error(self):
        for table in (apps, eager_ring, pipeline, scalability):
            with tempfile.TemporaryDirectory() as name:
                code, text = run_main(table, name, "--out", name)
                self.assertEqual(code, 1)
                self.assertIn("no results", text)

    def test_bars_have_names(self):
        drawn = tools.figure("b", "Bars", "", "s", [{"name": "it's", "form": "x", "points": [tools.point("one", [1, 3])]}])
        picture = tools.figure_chart.draw(drawn)
        self.assertIn("it&#x27;s: 2 s (1 to 3 in 2 rounds)", picture)
        self.assertIn(">one<", picture)


if __name__ == "__main__":
    unittest.main()
