#!/usr/bin/env python3
"""Shows that document_facts.py finds facts that the sources contradict, and takes those that are right."""

import pathlib
import tempfile
import unittest

import document_facts

CARDS = """
struct Card {
  static constexpr int kVersion = 14;  // not 13 = kVersion;
  static constexpr std::size_t kHalf = kWhole / 2;
};
constexpr int kFirst = 0xff00;
constexpr std::size_t kWhole = std::size_t{16} << 10U;
constexpr std::size_t kProduct = 3 * 1024;
constexpr std::int64_t kWait = 100'000'000;
static constexpr std::chrono::microseconds kNap{50};
static_assert(sizeof(Card) == 16);
static_assert(sizeof(Card::Head) == 8 + 4);
"""
NOTES = """
class Note {
  static constexpr int kVersion = 2;
};
"""
KINDS = """
enum class MessageType : std::uint8_t {
  eager = 1,  ///< = 7
  clear
};
enum class ActiveForm : std::uint8_t { words, done, count_ };
constexpr std::uint16_t kWakeKind = 25;
constexpr std::uint16_t kKinds = 64;
"""
LISTED = """
| 1 | `MessageType::eager` |
| 2 | asks | `MessageType::clear` | more |
| 0 | `ActiveForm::words` | |
| 1 | `ActiveForm::done` | |
| 25 | wakes | `kWakeKind` |
"""


class DocumentFactsTest(unittest.TestCase):
    def wrong(self, text, *sources):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / "src").mkdir()
            for number, source in enumerate(sources):
                (root / f"src/{number}.hpp").write_text(source, encoding="utf-8")
            (root / "page.md").write_text(text + "\n", encoding="utf-8")
            return list(document_facts.wrong_facts(root, ["page.md"]))

    def check(self, right, wrong):
        for text in right:
            self.assertEqual(self.wrong(text, CARDS, NOTES), [], text)
        for text in wrong:
            self.assertEqual(len(self.wrong(text, CARDS, NOTES)), 1, text)

    def test_rows_of_tables(self):
        self.check(("| 14 | the format | `Card::kVersion` |", "| 2 | `Note::kVersion` | the format | of a note |",
                    "| 0xff00 | the first | `kFirst` |", "| 7 | bytes | of no constant |", "| 7 | is not `kFirst` |"),
                   ("| 13 | the format | `Card::kVersion` |", "| 14 | the format | `kVersion` |",
                    "| 1 | `Note::kVersion` | the format | of a note |", "| 1 | the last | `kLast` |"))

    def test_quantities(self):
        self.check(("up to 16 KiB (`kWhole`)", "16384 bytes (`kWhole`)", "8\nKiB (`Card::kHalf`)", "3 KiB (`kProduct`)",
                    "after 0.1 s (`kWait`)", "100 ms (`kWait`)", "50 us (`kNap`)", "at most 2 (`Note::kVersion`) of them",
                    "| a cell | 16 KiB (`kWhole`) on |", "16 KiB of `kWhole`", "16 bytes (`sizeof(Card)`)"),
                   ("up to 17 KiB (`kWhole`)", "16 bytes (`kWhole`)", "9\nKiB (`Card::kHalf`)", "4 KiB (`kProduct`)",
                    "after 0.2 s (`kWait`)", "100 us (`kWait`)", "51 us (`kNap`)", "at most 3 (`Note::kVersion`) of them",
                    "| a cell | 8 KiB (`kWhole`) on |", "2 (`kLast`)", "24 bytes (`sizeof(Card)`)",
                    "8 bytes (`sizeof(Card::Head)`)", "4 bytes (`sizeof(Note)`)"))

    def test_sums_of_fields(self):
        table = "| field | bytes | meaning |\n|---|---|---|\n| from, to | 4, 4 | ranks |\n| token | {} | in 7 words |\n\n{}"
        self.check((table.format(8, "In all 16 bytes (`sizeof(Card)`)."),),
                   (table.format(6, "In all 16 bytes (`sizeof(Card)`)."), table.format(8, "The end."),
                    table.format(16, "In all 24 bytes (`sizeof(Card)`).")))

    def test_rows_that_are_missing(self):
        self.assertEqual(self.wrong(LISTED, KINDS), [])
        rows = LISTED.strip().splitlines()
        for row in rows:
            (found,) = self.wrong("\n".join(other for other in rows if other != row), KINDS)
            self.assertIn(row.split("`")[1], found)


if __name__ == "__main__":
    unittest.main()
