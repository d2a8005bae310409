"""Checks the table of bench/compare_ofi.sh."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench"))
import compare_ofi_table  # noqa: E402


def results(folder: pathlib.Path, kind: str, rounds: list) -> None:
    for number, rows in enumerate(rounds, 1):
        content = {"rows": [{"row": name, "median": value} for name, value in rows.items()]}
        (folder / f"{kind}.{number}.json").write_text(json.dumps(content))


class Table(unittest.TestCase):
    def test_medians_are_over_the_rounds_and_ratios_to_the_target_that_does_the_like(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            results(folder, "fabric", [{"write 8 B, target polls": 5000, "write 8 B, target sleeps": 1},
                                       {"write 8 B, target polls": 9000, "write 8 B, target sleeps": 1},
                                       {"write 8 B, target polls": 6000, "write 8 B, target sleeps": 1}])
            results(folder, "rma", [{"write 8 B, target polls": 9000}, {"write 8 B, target polls": 3000},
                                    {"write 8 B, target polls": 3600, "write 8 B, target computes": 2}])
            rows = compare_ofi_table.table(compare_ofi_table.medians(folder, "fabric"),
                                           compare_ofi_table.medians(folder, "rma"))
        self.assertEqual(rows, [{"row": "write 8 B, target polls", "libfabric_us": 6.0, "rma_us": 3.6, "ratio": 0.6},
                                {"row": "write 8 B, target computes", "libfabric_us": 0.001, "rma_us": 0.002,
                                 "ratio": 2.0}])

    def test_noncontiguous_rows_have_all_protocols(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for number, protocol in enumerate(compare_ofi_table.PROTOCOLS, 1):
                results(folder, f"strided.{protocol}", [{"put strided 1 KiB: idle": 100 * number}])
            results(folder, "strided.packed", [{"put strided 1 KiB: idle": 5, "get strided 1 KiB: idle": 6}])
            rows = compare_ofi_table.strided(folder)
        self.assertEqual(rows, {"put strided 1 KiB": {"host_assisted": 100, "pipelined": 200, "packed": 5}})

    def test_a_row_that_libfabric_does_not_have_is_an_error(self):
        with self.assertRaises(KeyError):
            compare_ofi_table.table({}, {"read 8 B, target waits": 1})


if __name__ == "__main__":
    unittest.main()
