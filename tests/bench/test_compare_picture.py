#!/usr/bin/env python3
"""Tests the input that compare_picture.py gives to gnuplot."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import compare_picture as picture  # noqa: E402

TABLE = [
    {"row": "get 8 B", "ours": 10.0, "peers": {"openmpi": 25.0, "mpich": 400.0}},
    {"row": "put 8 B", "ours": 4.0, "peers": {"openmpi": 2.0}},
    {"row": "notify one way", "ours": 4.0, "peers": {"openmpi": 2.0}},
]


class Picture(unittest.TestCase):
    def test_bars_are_ratios_in_the_pictures_order(self):
        groups = picture.ratios(TABLE)
        self.assertEqual(groups, [("put\\n8 B", {"openmpi": 0.5}), ("get\\n8 B", {"openmpi": 2.5, "mpich": 40.0})])

    def test_the_script_has_a_bar_for_each_library_that_was_measured(self):
        text = picture.script(picture.ratios(TABLE), "out.svg")
        self.assertIn('"put\\n8 B" 0.500 ?', text)
        self.assertIn('"get\\n8 B" 2.500 40.000', text)
        self.assertIn("title 'MPICH RMA'", text)
        self.assertNotIn("OpenSHMEM", text)

    def test_a_table_without_such_rows_is_refused(self):
        self.assertEqual(picture.ratios(TABLE[2:]), [])


if __name__ == "__main__":
    unittest.main()
