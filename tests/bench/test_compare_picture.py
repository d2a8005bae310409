#!/usr/bin/env python3
"""Tests the picture that compare_picture.py draws."""

import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import compare_picture  # noqa: E402
import chart  # noqa: E402

TABLE = [
    {"row": "get 8 B", "unit": "ns", "ours": 10.0, "peers": {"openmpi": 25.0, "mpich": 400.0}, "bare": 2.0},
    {"row": "put 8 B", "unit": "ns", "ours": 4.0, "peers": {"openmpi": 2.0}, "bare": None},
    {"row": "notify one way", "unit": "ns", "ours": 4.0, "peers": {"openmpi": 2.0}, "bare": None},
]


class Picture(unittest.TestCase):
    def test_a_library_has_a_mark_in_each_row_that_was_measured(self):
        text = compare_picture.picture(TABLE)
        self.assertLess(text.index(">put 8 B<"), text.index(">get 8 B<"), "not in the picture's order")
        self.assertIn("get 8 B: MPICH 400 ns, librma 10.0 ns", text)
        self.assertIn("put 8 B: Open MPI 2.00 ns, librma 4.00 ns", text)
        self.assertNotIn("OpenSHMEM", text)
        self.assertNotIn("notify", text)
        self.assertNotIn("plain loads", text)

    def test_a_table_without_such_rows_is_refused(self):
        self.assertIsNone(compare_picture.picture(TABLE[2:]))

    def test_the_file_is_valid_and_has_its_own_colours(self):
        root = xml.etree.ElementTree.fromstring(chart.standalone(compare_picture.picture(TABLE)).encode())
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("prefers-color-scheme: dark", root.find("{http://www.w3.org/2000/svg}style").text)

    def test_main_writes_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(compare_picture.main([f"{folder}/table.json"]), 2)
            table = pathlib.Path(folder) / "table.json"
            table.write_text("[]")
            self.assertEqual(compare_picture.main([str(table), f"{folder}/out.svg"]), 1)


if __name__ == "__main__":
    unittest.main()
