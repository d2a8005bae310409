#!/usr/bin/env python3
"""The judgements of bench/installed: a program must end well, say that it is right, and print the same numbers."""

import argparse
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/installed"))
import run  # noqa: E402
from programs import PROGRAMS, NotThere, Program  # noqa: E402


def shell(script, **options):
    """A program that is a shell's script."""
    return Program("sample", [["sh", "-c", script]], **options)


class Runs(unittest.TestCase):
    def outcome(self, program):
        with tempfile.TemporaryDirectory() as folder:
            return run.run(program, ["env"], pathlib.Path(folder))

    def test_a_program_is_right_that_says_so(self):
        self.assertEqual(self.outcome(shell("echo all passed", passed="passed")).wrong, "")

    def test_words_and_numbers_of_a_file_count(self):
        program = shell("echo 'passed 1.5 2D3' > results", passed="passed", numbers=r"passed (\S+) (\S+)",
                        results=("results",))
        self.assertEqual(self.outcome(program).numbers, [1.5, 2000.0])

    def test_each_fault_is_named(self):
        for program, fault in ((shell("echo passed; exit 3", passed="passed"), "ended with 3"),
                               (shell("echo done", passed="passed"), "did not print 'passed'"),
                               (shell("echo passed, 2 FAILED", passed="passed", failed="[1-9] FAILED"), "printed '2 FAILED'"),
                               (shell("echo passed", passed="passed", aborts=True), "ended with 0")):
            self.assertIn(fault, self.outcome(program).wrong)

    def test_the_time_that_a_program_reports_is_taken(self):
        self.assertEqual(self.outcome(shell("echo Loop time of 7.25", seconds=r"time of ([\d.]+)")).seconds, 7.25)
        self.assertIn("did not print its time", self.outcome(shell("echo done", seconds=r"time of ([\d.]+)")).wrong)

    def test_the_time_that_a_program_waits_by_the_clock_does_not_count(self):
        self.assertLess(self.outcome(shell("echo late", waits={"late": 1000.0})).seconds, 0)
        self.assertGreater(self.outcome(shell("echo early", waits={"late": 1000.0})).seconds, 0)


class Comparisons(unittest.TestCase):
    def differ(self, first, second, digits=6):
        program = shell("", numbers="x", digits=digits)
        return run.differ(program, run.Outcome(numbers=first), run.Outcome(numbers=second))

    def test_numbers_may_differ_in_later_digits(self):
        self.assertEqual(self.differ([1.0, -2.0], [1.0000001, -2.0]), "")
        self.assertIn("1.0 on Open MPI, 1.00001 on librma", self.differ([1.0], [1.00001]))

    def test_missing_numbers_are_no_agreement(self):
        self.assertIn("none of the numbers", self.differ([], []))
        self.assertIn("2 numbers on Open MPI, 1 on librma", self.differ([1.0, 2.0], [1.0]))


class Rows(unittest.TestCase):
    def row(self, program):
        with tempfile.TemporaryDirectory() as work:
            return run.measure(program, 2, argparse.Namespace(
                head=[], hosts=None, agent=None, rmarun="rmarun", rounds=1, work=work))

    def test_a_program_that_cannot_be_prepared_is_not_right(self):
        def prepare(folder, ranks):
            raise NotThere("there is no mesh")

        self.assertEqual(self.row(shell("true", prepare=prepare)).wrong, "not run: there is no mesh")
        self.assertEqual(self.row(Program("empty", [])).wrong, "not run: its programs are not there")

    def test_processor_time_is_shown_where_it_is_known(self):
        row = run.Row("melt", 2, open_mpi=2, librma=1, open_mpi_processor=4, librma_processor=3, compared=5)
        self.assertEqual(run.show(row).split(), ["melt", "2", "2.00", "1.00", "0.50", "0.75", "5", "right"])
        row.other_hosts = True
        self.assertEqual(run.show(row).split(), ["melt", "2", "2.00", "1.00", "0.50", "-", "5", "right"])

    def test_names_are_told_apart(self):
        names = [program.name for program in PROGRAMS]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
