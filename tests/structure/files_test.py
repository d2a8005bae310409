#!/usr/bin/env python3
"""Shows that files.py finds files that programs leave behind, and takes those of the project."""

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


if __name__ == "__main__":
    unittest.main()
