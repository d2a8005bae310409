#!/usr/bin/env python3
"""Unit tests of bench/compare_verbs_table.py, on recorded output of Debian 12's perftest and results made up here."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import compare_verbs_table as verbs  # noqa: E402

LATENCY = """\
---------------------------------------------------------------------------------------
                    RDMA_Write Latency Test
 Dual-port       : OFF\t\tDevice         : rxe0
 Number of qps   : 1\t\tTransport type : IB
 TX depth        : 1
 Mtu             : 4096[B]
 GID index       : 1
---------------------------------------------------------------------------------------
 local address: LID 0000 QPN 0x0011 PSN 0x89ba52 RKey 0x0002a5 VAddr 0x0055ce513a9000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:07:00:01
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   \
99% percentile[usec]   99.9% percentile[usec] 
 8       1000          497.02         72104.29      2793.34  \t       3865.90     \t2626.27\t\t18404.37 \t\t72104.29
---------------------------------------------------------------------------------------
"""
BANDWIDTH = """\
                    RDMA_Write BW Test
 TX depth        : 128
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      2000             8.62               5.72   \t\t   0.000091
---------------------------------------------------------------------------------------
"""


def report(suite, rows, ranks=2):
    """Returns network-bench's output; `rows` are (row, unit, median) or (row, unit, median, min)."""
    return {
        "backend": "rma",
        "ranks": ranks,
        "rows": [
            {"suite": suite, "row": row[0], "unit": row[1], "median": row[2], "min": row[-1]} for row in rows
        ],
    }


def entries(raw, reports):
    table = verbs.compare(verbs.gather(raw), verbs.gather(verbs.our_figures(each) for each in reports))
    return {entry["row"]: entry for entry in table}


class Perftest(unittest.TestCase):
    def test_latency(self):
        self.assertEqual(
            verbs.raw_figures("put-latency", LATENCY),
            {"put latency 8 B": ("us", 2793.34), "put latency 8 B, least": ("us", 497.02)},
        )

    def test_bandwidth_is_the_average(self):
        self.assertEqual(
            verbs.raw_figures("put-bandwidth-65536", BANDWIDTH), {"put bandwidth 64 KiB": ("MiB/s", 5.72)}
        )

    def test_columns_have_their_names(self):
        table = verbs.parse_perftest(LATENCY)
        self.assertEqual((table["#bytes"], table["t_avg[usec]"]), (8, 3865.90))
        self.assertEqual(table["99.9%_percentile[usec]"], 72104.29)

    def test_no_table_is_an_error(self):
        for text in ("", "Couldn't connect to node2:18515\n", LATENCY.splitlines()[-3] + "\n 8 1000\n"):
            with self.assertRaises(ValueError):
                verbs.parse_perftest(text)


class Compare(unittest.TestCase):
    def test_latencies_may_not_exceed_their_goal(self):
        raw = [verbs.raw_figures("put-latency", LATENCY)]
        for median, good in ((3000e3, True), (3300e3, False)):
            entry = entries(raw, [report("latency", [("put latency 8 B", "ns", median, 400e3)])])["put latency 8 B"]
            self.assertEqual((entry["ours"], entry["goal"], entry["peers"]), (median / 1e3, 1.15, {"raw": 2793.34}))
            self.assertAlmostEqual(entry["ratio_to_best"], median / 2793.34e3)
            self.assertIs(verbs.meets(entry), good)

    def test_the_least_latency_has_no_goal(self):
        found = entries(
            [verbs.raw_figures("put-latency", LATENCY)], [report("latency", [("put latency 8 B", "ns", 1e6, 994040.0)])]
        )
        entry = found["put latency 8 B, least"]
        self.assertIsNone(entry["goal"])
        self.assertAlmostEqual(entry["ratio_to_best"], 2.0)
        self.assertTrue(verbs.meets(entry))

    def test_bandwidths_must_reach_their_goal(self):
        raw = [verbs.raw_figures("put-bandwidth-65536", BANDWIDTH)]
        for value, good in ((5.5, True), (5.4, False)):
            found = entries(raw, [report("bandwidth", [("put bandwidth 64 KiB", "MiB/s", value)])])
            entry = found["put bandwidth 64 KiB"]
            self.assertEqual((entry["unit"], entry["goal"]), ("MiB/s", 0.95))
            self.assertIs(verbs.meets(entry), good)

    def test_figures_are_medians_over_rounds(self):
        raw = [{"get latency 8 B": ("us", value)} for value in (10.0, 500.0, 9.0)]
        ours = [report("latency", [("get latency 8 B", "ns", value)]) for value in (3e3, 20e3, 5e3)]
        self.assertEqual(entries(raw, ours)["get latency 8 B"]["ratio_to_best"], 0.5)

    def test_two_rails_are_held_against_one(self):
        rows = [("1 rail: put bandwidth 1 MiB", "MiB/s", 10.0), ("2 rails: put bandwidth 1 MiB", "MiB/s", 16.0)]
        entry = entries([], [report("bandwidth", rows)])["put bandwidth 1 MiB, two rails to one"]
        self.assertEqual((entry["ratio_to_best"], entry["goal"], entry["peers"]), (1.6, 1.5, {"one rail": 10.0}))
        self.assertTrue(verbs.meets(entry))


class Text(unittest.TestCase):
    def test_reuse_has_a_line_for_each_number_of_uses(self):
        rows = [(f"{name}: 8 MiB used {uses} times", "MiB/s", value) for name, uses, value in
                (("cache", 1, 8.0), ("cache", 2, 9.0), ("pipeline", 1, 10.0))]
        lines = verbs.reuse_text(verbs.gather([verbs.our_figures(report("reuse", rows))]))
        self.assertRegex(lines[1], r"^8 MiB used 1 times +- +8 +10 +- +1\.250$")
        self.assertRegex(lines[2], r"^8 MiB used 2 times +- +9 +- +- +-$")

    def test_memory_of_a_connection(self):
        def measured(sharing, connection):
            rows = []
            for state, connections in (("after start", 0), ("pairwise", 1), ("all-to-all", 3)):
                pss, kernel = 1000 + connections * connection, 4000 + connections * 400
                rows += [(f"{sharing}: {name} {state}", "KiB", value) for name, value in
                         (("Pss", pss), ("Rss", 9), ("kernel", kernel))]
            return report("memory", rows, ranks=4)

        lines = verbs.memory_text([measured("own", 200), measured("shared", 100)])
        self.assertRegex(lines[1],
                         r"^4 ranks, shared receive queue +1000 +1000 +1100 +1100 +1300 +1300 +100 +100$")
        self.assertRegex(lines[2], r"^4 ranks, each peer its own +1000 +1000 +1200 +1100 +1600 +1300 +200 +100$")
        self.assertEqual(len(lines), 3)


class Main(unittest.TestCase):
    def run_main(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return verbs.main([str(argument) for argument in arguments]), out.getvalue()

    def test_reads_a_folder_and_writes_json(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "round-1"
            folder.mkdir()
            (folder / "put-bandwidth-65536.raw").write_text(BANDWIDTH)
            ours = report("bandwidth", [("put bandwidth 64 KiB", "MiB/s", 2.86)])
            (folder / "bandwidth.json").write_text(json.dumps(ours))
            target = pathlib.Path(name) / "table.out"
            code, out = self.run_main(name, "--json", target)
            self.assertEqual(code, 0)
            self.assertRegex(out, r"put bandwidth 64 KiB .* 0\.50 +>= 0\.95 +missed")
            self.assertIn("1 goals, 1 missed", out)
            self.assertEqual(
                json.loads(target.read_text()),
                [{"row": "put bandwidth 64 KiB", "unit": "MiB/s", "ours": 2.86, "peers": {"raw": 5.72},
                  "ratio_to_best": 0.5, "goal": 0.95}],
            )

    def test_an_empty_folder_is_an_error(self):
        with tempfile.TemporaryDirectory() as name:
            code, out = self.run_main(name)
            self.assertEqual(code, 1)
            self.assertIn("no results", out)


if __name__ == "__main__":
    unittest.main()
