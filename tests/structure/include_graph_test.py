#!/usr/bin/env python3
"""Shows that include_graph.py finds each kind of violation, and only those, in trees made for the purpose."""

import pathlib
import tempfile
import unittest

import include_graph


class IncludeGraphTest(unittest.TestCase):
    def violations(self, files):
        """Returns the errors of a tree that is in order except for the given files, by path."""
        in_order = {
            "src/layers.txt": "# a comment: none\nutil:\nbootstrap:\ntransport:\ncore: util\n",
            "include/rma/rma.h": "#include <stddef.h>\n",
            "src/util/text.hpp": "#include <string>\n",
            "src/core/job.hpp": '#include "rma/rma.h"\n#include "util/text.hpp"\n',
            "src/core/job.cpp": '#include "job.hpp"\n',
        }
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in (in_order | files).items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return include_graph.violations(root)

    def test_a_tree_in_order_has_none(self):
        self.assertEqual(self.violations({}), [])

    def test_a_folder_that_includes_one_above_it(self):
        (found,) = self.violations({"src/util/bad.cpp": '  #  include "core/job.hpp"\n'})
        self.assertIn("src/util/bad.cpp includes src/core/job.hpp", found)

    def test_a_folder_that_includes_a_sibling(self):
        found = self.violations({"src/bootstrap/b.hpp": "", "src/transport/t.cpp": '#include "bootstrap/b.hpp"\n'})
        self.assertEqual(len(found), 1, found)

    def test_the_way_there_does_not_matter(self):
        found = self.violations({
            "src/util/relative.cpp": '#include "../core/job.hpp"\n',
            "src/util/angled.cpp": "#include <core/job.hpp>\n",
            "src/util/deep/down.cpp": '#include "core/job.hpp"\n',
        })
        self.assertEqual(len(found), 3, found)

    def test_an_include_that_is_commented_out_is_none(self):
        self.assertEqual(self.violations({"src/util/ok.cpp": '// #include "core/job.hpp"\n'}), [])

    def test_a_public_header_that_includes_the_inside(self):
        found = self.violations({"include/rma/leak.hpp": '#include "util/text.hpp"\n'})
        self.assertEqual(len(found), 1, found)

    def test_a_folder_nobody_planned(self):
        found = self.violations({"src/misc/odds.cpp": ""})
        self.assertEqual(len(found), 1, found)

    def test_an_entry_of_the_table_that_nobody_needs(self):
        found = self.violations({"src/layers.txt": "util:\nbootstrap:\ncore: util bootstrap\n"})
        self.assertEqual(found, ["src/layers.txt: core may know bootstrap, and no file of it does"])

    def test_a_table_that_points_up(self):
        found = self.violations({"src/layers.txt": "core: util\nutil:\n"})
        self.assertEqual(found, ["src/layers.txt: core may know util, which does not stand above it"])

    def test_rooms_of_one_folder(self):
        rooms = {"src/layers.txt": "util:\nbootstrap:\ntransport:\ncore: util\ncore/.:\ncore/low: .\ncore/high: low\n",
                 "src/core/low/l.hpp": '#include "core/job.hpp"\n', "src/core/high/h.hpp": '#include "core/low/l.hpp"\n'}
        self.assertEqual(self.violations(rooms), [])
        (found,) = self.violations(rooms | {"src/core/low/bad.cpp": '#include "core/high/h.hpp"\n'})
        self.assertIn("src/core/low/bad.cpp includes src/core/high/h.hpp: core/low may not know core/high", found)
        (found,) = self.violations(rooms | {"src/core/high/bad.cpp": '#include "core/job.hpp"\n'})
        self.assertIn("core/high may not know core/.", found)
        (found,) = self.violations(rooms | {"src/core/odd/o.hpp": ""})
        self.assertIn("src/core/odd/o.hpp: not in a room", found)
        (found,) = self.violations(rooms | {"src/core/high/h.hpp": ""})
        self.assertIn("core/high may know core/low, and no file of it does", found)

    def test_a_folder_of_too_many_files(self):
        (found,) = self.violations({f"src/util/u{i}.hpp": "" for i in range(include_graph.MOST_FILES)})
        self.assertIn("src/util has 41 files side by side", found)

    def test_an_application_that_includes_the_inside(self):
        found = self.violations({"apps/demo/main.cpp": '#include "rma/rma.h"\n#include "core/job.hpp"\n'})
        self.assertEqual(len(found), 1, found)

    def test_the_library_including_a_program(self):
        found = self.violations({"tools/x/x.hpp": "", "src/util/bad.cpp": '#include "../../tools/x/x.hpp"\n'})
        self.assertEqual(len(found), 1, found)


if __name__ == "__main__":
    unittest.main()
