#!/usr/bin/env python3
"""Shows that files.py finds files that programs leave behind, and takes those of the project, and that it finds sources that
nothing builds."""

import unittest

import files


class FilesTest(unittest.TestCase):
    def test_files_of_the_project(self):
        ours = ["README.md", ".ci/run", "src/util/text.cpp", "src/layers.txt", "scripts/cluster/host-init",
                "bench/installed/inputs/lammps.top", "tests/fuzz/corpus/answers"]
        self.assertEqual(list(files.strangers(ours)), [])

    def test_files_left_behind(self):
        left = ["np.out", "core", "core.1234", "log.lammps", "tests/core.77", "src/util/text.cpp.orig", "src/a.o", "results/run.txt",
                "bench/data.json"]
        self.assertEqual(list(files.strangers(left)), left)

    def test_sources_that_are_built(self):
        built = ["tests/unit/util/wait_test.cpp", "tests/mpi/cart-shift.c", "src/fortran/one.f90", "README.md"]
        text = "SOURCES wait_test.cpp\nforeach(test cart-shift)\nset(fortran one)"
        self.assertEqual(list(files.unbuilt(built, text)), [])

    def test_sources_that_nothing_builds(self):
        forgotten = ["tests/unit/util/trace_test.cpp"]
        self.assertEqual(list(files.unbuilt(forgotten + ["tests/a.cpp"], "SOURCES a.cpp stack_trace_test.cpp trace.cpp")),
                         forgotten)

    def test_what_builds(self):
        self.assertTrue(files.builds("tests/unit/util/CMakeLists.txt"))
        self.assertFalse(files.builds("docs/testing.md"))


if __name__ == "__main__":
    unittest.main()
