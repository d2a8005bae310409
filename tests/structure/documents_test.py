#!/usr/bin/env python3
"""Shows that documents.py finds paths that are not there, and takes those that are, in a tree made for the purpose."""

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

    def test_values_of_constants(self):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "src").mkdir()
            (root / "src/a.hpp").write_text("struct Card {\n  int kVersion = 14;\n};\nint kFirst = 0xff00;\n", encoding="utf-8")
            (root / "src/b.hpp").write_text("class Note {\n  int kVersion = 2;\n};\n", encoding="utf-8")
            def wrong(row):
                (root / "page.md").write_text(row + "\n", encoding="utf-8")
                return len(list(documents.wrong_values(root, ["page.md"])))
            for row in ("| 14 | the format | `Card::kVersion` |", "| 2 | the format | `Note::kVersion` |",
                        "| 0xff00 | the first | `kFirst` |", "| 7 | bytes | of no constant |"):
                self.assertEqual(wrong(row), 0, row)
            for row in ("| 13 | the format | `Card::kVersion` |", "| 14 | the format | `kVersion` |",
                        "| 1 | the last | `kLast` |"):
                self.assertEqual(wrong(row), 1, row)


if __name__ == "__main__":
    unittest.main()
