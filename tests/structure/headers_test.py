#!/usr/bin/env python3
"""Shows that headers.py finds standard headers that are missing, and only those."""

import unittest

import headers


class HeadersTest(unittest.TestCase):
    def test_a_name_whose_header_is_missing(self):
        self.assertEqual(headers.lacking("std::size_t bytes;\n"), ["cstddef"])
        self.assertEqual(headers.lacking("#include <vector>\nstd::vector<std::uint32_t> all;\n"), ["cstdint"])
        self.assertEqual(headers.lacking("inline auto f = [](std::mutex& m) { std::lock_guard guard(m); };\n"), ["mutex"])

    def test_a_name_whose_header_is_there(self):
        self.assertEqual(headers.lacking("#include <cstddef>\nstd::size_t bytes;\n"), [])
        self.assertEqual(headers.lacking("#include <string>\nstd::string_view text;\n"), [])

    def test_names_in_comments_and_texts_need_nothing(self):
        self.assertEqual(headers.lacking('// A std::vector of them.\nconst char* text = "std::string";\n/* std::map */\n'), [])


if __name__ == "__main__":
    unittest.main()
