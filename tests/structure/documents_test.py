#!/usr/bin/env python3
"""Shows that documents.py finds paths and headings that are not there, and takes those that are, in trees of its own."""

import pathlib
import tempfile
import unittest

import documents


class DocumentsTest(unittest.TestCase):
    def missing(self, text):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name in ("src/util/text.hpp", "src/util/text.cpp", "scripts/run.sh", "docs/other.md"):
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("", encoding="utf-8")
            (root / "docs/page.md").write_text(text, encoding="utf-8")
            return list(documents.missing(root, ["docs/page.md"]))

    def test_paths_that_are_there(self):
        for path in ("src/util/text.hpp", "util/text.cpp", "text.hpp", "scripts/", "src/util/text.{cpp,hpp}", "util/*.hpp",
                     "other.md", "./scripts/run.sh --help", "build/bin/x.sh", "mpi.h", "/etc/x.txt", "SCRIPT.sh"):
            self.assertEqual(self.missing(f"The file `{path}` is here."), [], path)

    def test_paths_that_are_not(self):
        for path in ("src/util/words.hpp", "util/words.cpp", "words.hpp", "src/core/", "src/util/text.{hpp,py}",
                     "core/*.hpp", "scripts/walk.sh --help"):
            (found,) = self.missing(f"The file `{path}` is here.")
            self.assertIn("docs/page.md", found)

    def wrong_links(self, text):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "docs").mkdir()
            (root / "README.md").write_text("# The `first` page, in short\n```\n# no heading\n```\n", encoding="utf-8")
            (root / "docs/page.md").write_text("# One\n## Two words\n## Two words\n" + text, encoding="utf-8")
            return list(documents.wrong_links(root, ["docs/page.md"]))

    def test_headings_that_are_there(self):
        for link in ("#one", "#two-words", "#two-words-1", "../README.md", "../README.md#the-first-page-in-short",
                     "https://example.org/x.md#y"):
            self.assertEqual(self.wrong_links(f"See [this]({link})."), [], link)

    def test_headings_that_are_not(self):
        for link in ("#three", "#two-words-2", "other.md", "../README.md#no-heading", "../README.md#first"):
            (found,) = self.wrong_links(f"See [this]({link}).")
            self.assertIn("docs/page.md", found)


if __name__ == "__main__":
    unittest.main()
