#!/usr/bin/env python3
"""Unit tests of bench/compare_table.py, on small results made up here."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import compare_table  # noqa: E402


def report(backend, rows, ranks=2):
    """Returns one program's output; `rows` are (row, median) or (row, median, form) or (row, median, form, unit)."""
    full = [(*row, "", "ns")[:4] if len(row) == 2 else (*row, "ns")[:4] for row in rows]
    return {
        "backend": backend,
        "ranks": ranks,
        "rows": [{"row": name, "median": median, "form": form, "unit": unit} for name, median, form, unit in full],
    }


def only_entry(reports):
    table, _ = compare_table.compare(reports)
    assert len(table) == 1, table
    return table[0]


SUM = "{} rows, {} above their goal; of these {} as fast as plain loads and stores, and {} where those miss it too"


def at(crossing, reports):
    """Notes in the rows of reports how long a cache line took while they were measured."""
    for each in reports:
        for row in each["rows"]:
            row["crossing"] = crossing
    return reports


class Placement(unittest.TestCase):
    """Rows count in the rounds in which the processors of all programs were at the same distance."""

    ROW = "twosided latency 8 B"

    def rounds(self, *rounds):
        reports = []
        for crossing, program, median in rounds:
            reports += at(crossing, [report(program, [(self.ROW, median)])])
        return reports

    def test_near_rounds_count_if_all_programs_have_some(self):
        entry = only_entry(self.rounds((40.0, "rma", 110.0), (160.0, "rma", 290.0), (160.0, "rma", 280.0),
                                       (50.0, "openmpi", 140.0), (170.0, "openmpi", 400.0)))
        self.assertEqual((entry["ours"], entry["peers"], entry["placement"]), (110.0, {"openmpi": 140.0}, "near"))

    def test_far_rounds_count_if_a_program_has_no_near_one(self):
        entry = only_entry(self.rounds((40.0, "rma", 110.0), (160.0, "rma", 290.0), (170.0, "openmpi", 400.0)))
        self.assertEqual((entry["ours"], entry["peers"], entry["placement"]), (290.0, {"openmpi": 400.0}, "far"))

    def test_programs_that_were_never_alike_are_mixed(self):
        reports = self.rounds((40.0, "rma", 110.0), (170.0, "openmpi", 100.0))
        entry = only_entry(reports)
        self.assertEqual((entry["ours"], entry["peers"], entry["placement"]), (110.0, {"openmpi": 100.0}, "mixed"))
        self.assertIn("missed, mixed", compare_table.text([entry], None))

    def test_rows_without_a_crossing_have_no_placement(self):
        entry = only_entry([report("rma", [("put 8 B", 5.0)]), report("openmpi", [("put 8 B", 9.0)])])
        self.assertIsNone(entry["placement"])

    def test_a_control_counts_in_the_rounds_of_its_row(self):
        reports = at(40.0, [report("rma", [("put 1 MiB", 1.0), ("put 1 MiB bare", 2.0)])])
        reports += at(160.0, [report("rma", [("put 1 MiB", 10.0), ("put 1 MiB bare", 20.0)])])
        reports += at(160.0, [report("openmpi", [("put 1 MiB", 30.0)])])
        entry = only_entry(reports)
        self.assertEqual((entry["ours"], entry["bare"], entry["placement"]), (10.0, 20.0, "far"))

    def test_the_control_itself_counts_where_it_was_near(self):
        reports = self.rounds((40.0, "rma", 110.0), (44.0, "openmpi", 140.0))
        reports += [report("cache-line", [("cache-line crossing", value)]) for value in (165.0, 42.0, 160.0)]
        _, control = compare_table.compare(reports)
        self.assertEqual(control, 42.0)


class Compare(unittest.TestCase):
    def test_ratio_is_taken_of_the_best_peer(self):
        entry = only_entry(
            [report("rma", [("put 1 MiB", 30.0)]), report("mpich", [("put 1 MiB", 60.0)]),
             report("openmpi", [("put 1 MiB", 40.0)])]
        )
        self.assertEqual(entry["peers"], {"mpich": 60.0, "openmpi": 40.0})
        self.assertEqual(entry["ratio_to_best"], 0.75)
        self.assertEqual((entry["row"], entry["unit"], entry["ours"], entry["goal"]), ("put 1 MiB", "ns", 30.0, 1.0))

    def test_a_figure_is_the_median_over_rounds(self):
        rounds = [report("rma", [("get 64 KiB", value)]) for value in (5.0, 100.0, 4.0)]
        rounds += [report("openmpi", [("get 64 KiB", value)]) for value in (10.0, 8.0, 1.0)]
        entry = only_entry(rounds)
        self.assertEqual((entry["ours"], entry["peers"]["openmpi"]), (5.0, 8.0))

    def test_the_best_form_counts_and_only_after_the_median_over_rounds(self):
        row = "strided put 128 x 512 B"
        reports = [report("rma", [(row, 1.0)])]
        for datatype, loop in ((9.0, 1.0), (3.0, 7.0), (4.0, 8.0)):
            reports.append(report("openmpi", [(row, datatype, "datatype"), (row, loop, "loop")]))
        self.assertEqual(only_entry(reports)["peers"], {"openmpi": 4.0})

    def test_an_inline_row_meets_the_plain_one_of_a_peer_without_it(self):
        reports = [
            report("rma", [("put 8 B", 9.0), ("put 8 B inline", 3.0)]),
            report("openmpi", [("put 8 B", 12.0)]),
            report("openshmem", [("put 8 B", 20.0), ("put 8 B inline", 10.0)]),
        ]
        table, _ = compare_table.compare(reports)
        self.assertEqual([entry["row"] for entry in table], ["put 8 B", "put 8 B inline"])
        self.assertEqual(table[1]["peers"], {"openmpi": 12.0, "openshmem": 10.0})
        self.assertEqual(table[1]["ratio_to_best"], 0.3)

    def test_goals(self):
        goals = {"put 8 B": 0.6, "get 8 B": 0.6, "put 8 B cold": 1.0, "strided get 16 x 4 KiB": 0.6,
                 "vector put 8192 x 8 B": 1.0, "notify one way": 1.3, "notify one way 4 KiB": 1.0,
                 "barrier 16 ranks": 0.2, "barrier 2 ranks": 1.0,
                 "armci put 8 B 2 ranks": 0.5, "armci strided accumulate 128 x 512 B 8 ranks": 0.5,
                 "armci small strided put 4 x 8 B 2 ranks": 0.1, "armci small strided get 4 x 8 B 2 ranks": 0.5,
                 "armci small strided accumulates of a client 8 ranks": 0.1,
                 "armci small strided mix of a client 2 ranks": 0.1, "armci malloc and free 4 KiB 8 ranks": 0.5,
                 "twosided latency 0 B": 0.7, "twosided latency 48 B": 0.7, "twosided latency 64 B": 1.0,
                 "twosided latency 48 KiB": 1.0, "twosided latency 64 KiB malloc": 0.35,
                 "twosided latency 8 B cold": 1.0, "twosided bandwidth 48 B": 1.0,
                 "twosided bandwidth 32 KiB": 1.0, "twosided bandwidth 64 KiB": 0.77,
                 "twosided bandwidth 4 MiB any source": 0.77, "twosided bidirectional 512 KiB": 0.77,
                 "twosided rate 8 B cold": 0.77, "twosided pairs 8 B 4 ranks": 0.77,
                 "twosided exchange 8 B 16 ranks": 0.33, "twosided exchange 8 B 5 ranks": 1.0,
                 "coll barrier 2 ranks": 0.7, "coll allreduce 8 B 2 ranks": 0.7, "coll allreduce 512 B 2 ranks": 1.0,
                 "coll scan 8 B 16 ranks": 0.3, "coll overlap 1 MiB 16 ranks": 1.0}
        for row, goal in goals.items():
            self.assertEqual(only_entry([report("rma", [(row, 1.0)])])["goal"], goal, row)

    def further(self, reports, row):
        """Returns the one entry that stands behind a row because the row has a further goal."""
        table, _ = compare_table.compare(reports)
        rows = [entry["row"] for entry in table]
        entry = table[rows.index(row) + 1]
        self.assertTrue(entry["row"].startswith(row + ", "), rows)
        return entry

    def test_short_messages_are_held_against_the_better_peer_and_against_the_control(self):
        reports = [report("rma", [("twosided latency 48 B", 60.0), ("twosided latency 64 B", 60.0)]),
                   report("mpich", [("twosided latency 48 B", 100.0)]),
                   report("cache-line", [("cache-line crossing", 50.0)])]
        table, _ = compare_table.compare(reports)
        self.assertEqual([entry["row"] for entry in table],
                         ["twosided latency 48 B", "twosided latency 48 B, to a crossing", "twosided latency 64 B"])
        self.assertEqual(table[0]["ratio_to_best"], 0.6)
        crossing = self.further(reports, "twosided latency 48 B")
        self.assertEqual((crossing["ours"], crossing["ratio_to_best"], crossing["goal"]), (60.0, 1.2, 1.4))
        self.assertEqual(crossing["peers"], {"cache-line crossing": 50.0})

    def test_a_wildcard_and_more_peers_are_held_against_our_own_row_without_them(self):
        reports = [report("rma", [("twosided rate 8 B", 10.0), ("twosided rate 8 B any source", 15.0),
                                  ("twosided latency 8 B of 1 peer", 20.0), ("twosided latency 8 B of 4 peers", 22.0)]),
                   report("mpich", [("twosided rate 8 B", 1.0), ("twosided latency 8 B of 1 peer", 1.0)])]
        wildcard = self.further(reports, "twosided rate 8 B any source")
        self.assertEqual((wildcard["row"], wildcard["ratio_to_best"], wildcard["goal"], wildcard["peers"]),
                         ("twosided rate 8 B any source, to plain", 1.5, 1.2, {}))
        peers = self.further(reports, "twosided latency 8 B of 4 peers")
        self.assertEqual((peers["row"], peers["ratio_to_best"]), ("twosided latency 8 B of 4 peers, to 1 peer", 1.1))

    def test_without_its_divisor_a_further_goal_is_left_out(self):
        self.assertEqual(only_entry([report("rma", [("twosided latency 8 B", 60.0)])])["row"], "twosided latency 8 B")
        row = "twosided bandwidth 8 B any source"
        self.assertEqual(only_entry([report("rma", [(row, 60.0)])])["row"], row)

    def test_notification_is_held_against_the_control(self):
        reports = [report("rma", [("notify one way", 60.0)]), report("openmpi", [("notify one way", 10.0)]),
                   report("cache-line", [("cache-line crossing", 50.0)])]
        entry = only_entry(reports)
        self.assertEqual(entry["ratio_to_best"], 1.2)
        self.assertEqual(entry["peers"], {"openmpi": 10.0, "cache-line crossing": 50.0})

    def test_the_barrier_of_16_is_held_against_open_mpi(self):
        reports = [report("rma", [("barrier 16 ranks", 10.0)], 16), report("mpich", [("barrier 16 ranks", 20.0)], 16),
                   report("openmpi", [("barrier 16 ranks", 100.0)], 16)]
        self.assertEqual(only_entry(reports)["ratio_to_best"], 0.1)

    def test_waiting_is_held_against_a_fixed_limit(self):
        row = "CPU time waiting 10 s in a barrier 2 ranks"
        reports = [report("rma", [(row, 25.0, "", "ms")]), report("mpich", [(row, 10000.0, "", "ms")])]
        entry = only_entry(reports)
        self.assertEqual((entry["ratio_to_best"], entry["goal"]), (0.5, 1.0))

    def test_without_a_peer_there_is_no_ratio(self):
        reports = [report("rma", [("accumulate 1 double", 5.0)]), report("openshmem", [("put 8 B", 5.0)])]
        self.assertIsNone(only_entry(reports)["ratio_to_best"])

    def test_rows_stand_in_our_order_fewest_ranks_first(self):
        reports = [report("openmpi", [("barrier 16 ranks", 1.0)], 16), report("rma", [("barrier 16 ranks", 1.0)], 16),
                   report("rma", [("put 64 B", 1.0), ("get 64 B", 1.0)])]
        table, _ = compare_table.compare(reports)
        self.assertEqual([entry["row"] for entry in table], ["put 64 B", "get 64 B", "barrier 16 ranks"])

    def test_armci_is_held_against_other_armci_only(self):
        row = "armci put 8 B 8 ranks"
        reports = [report("rma", [("put 8 B", 1.0)]), report("rma", [(row, 10.0)], 8),
                   report("openmpi", [("put 8 B", 5.0)]), report("armci-openmpi", [(row, 100.0)], 8)]
        table, _ = compare_table.compare(reports)
        self.assertEqual([(entry["row"], entry["peers"]) for entry in table],
                         [("put 8 B", {"openmpi": 5.0}), (row, {"armci-openmpi": 100.0})])
        self.assertEqual(table[1]["ratio_to_best"], 0.1)

    def test_units_that_differ_are_refused(self):
        with self.assertRaises(ValueError):
            compare_table.compare([report("rma", [("x", 1.0)]), report("openmpi", [("x", 1.0, "", "us")])])


class Text(unittest.TestCase):
    def test_figures_have_a_unit_that_suits_them(self):
        for value, unit, shown in ((3.456, "ns", "3.46 ns"), (99.94, "ns", "99.9 ns"), (1000, "ns", "1.00 us"),
                                   (2.5e6, "ns", "2.50 ms"), (10031.0, "ms", "10.0 s"), (0, "ms", "0.00 ms"),
                                   (5e12, "ns", "5000 s")):
            self.assertEqual(compare_table.figure(value, unit), shown)

    def test_what_misses_its_goal_is_marked_and_counted(self):
        reports = [report("rma", [("put 8 B", 7.0), ("put 64 B", 7.0)]),
                   report("openmpi", [("put 8 B", 10.0), ("put 64 B", 10.0)])]
        lines = compare_table.text(*compare_table.compare(reports)).splitlines()
        self.assertRegex(lines[1], r"^put 8 B .* 0\.70 +0\.60 +- +- +missed$")
        self.assertRegex(lines[2], r"^put 64 B .* 0\.70 +1\.00 +- +-$")
        self.assertEqual(lines[-1], SUM.format(2, 1, 0, 0))

    def test_a_row_as_slow_as_its_control_is_at_the_limit(self):
        rows = [("strided put 16 x 4 KiB", 7.2), ("strided put 16 x 4 KiB bare", 7.0), ("put 8 B", 7.3),
                ("put 8 B bare", 5.9)]
        reports = [report("rma", rows), report("openmpi", [("strided put 16 x 4 KiB", 10.0), ("put 8 B", 10.0)])]
        lines = compare_table.text(*compare_table.compare(reports)).splitlines()
        self.assertRegex(lines[1], r"^strided put 16 x 4 KiB .* 0\.72 +0\.60 +7\.00 ns +1\.03 +at limit$")
        self.assertRegex(lines[2], r"^put 8 B .* 0\.73 +0\.60 +5\.90 ns +1\.24 +missed$")
        self.assertEqual(lines[-1], SUM.format(2, 2, 1, 0))

    def test_a_control_that_misses_the_goal_itself_is_named(self):
        rows = [("put 8 B", 9.0), ("put 8 B bare", 6.1), ("get 8 B", 5.0), ("get 8 B bare", 7.0)]
        reports = [report("rma", rows), report("openmpi", [("put 8 B", 10.0), ("get 8 B", 10.0)])]
        lines = compare_table.text(*compare_table.compare(reports)).splitlines()
        self.assertRegex(lines[1], r"^put 8 B .* 0\.90 +0\.60 +6\.10 ns +1\.48 +bare missed$")
        self.assertRegex(lines[2], r"^get 8 B .* 0\.50 +0\.60 +7\.00 ns +0\.71$")
        self.assertEqual(lines[-1], SUM.format(2, 1, 0, 1))


class Main(unittest.TestCase):
    def run_main(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return compare_table.main([str(argument) for argument in arguments]), out.getvalue()

    def test_reads_a_folder_and_writes_json(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "round-1").mkdir()
            for each in (report("rma", [("put 64 B", 5.0)]), report("openmpi", [("put 64 B", 10.0)]),
                         report("cache-line", [("cache-line crossing", 50.0)])):
                (folder / "round-1" / f"{each['backend']}.json").write_text(json.dumps(each))
            target = folder / "table.out"
            code, out = self.run_main(folder, "--json", target)
            self.assertEqual(code, 0)
            self.assertIn("crosses between two processors in 50.0 ns", out)
            self.assertEqual(
                json.loads(target.read_text()),
                [{"row": "put 64 B", "unit": "ns", "ours": 5.0, "peers": {"openmpi": 10.0}, "ratio_to_best": 0.5,
                  "goal": 1.0, "bare": None, "placement": None}],
            )

    def test_an_empty_folder_is_an_error(self):
        with tempfile.TemporaryDirectory() as name:
            code, out = self.run_main(name)
            self.assertEqual(code, 1)
            self.assertIn("no results", out)


if __name__ == "__main__":
    unittest.main()
