#!/usr/bin/env python3
"""Makes the table of bench/instructions.sh. usage: table.py FOLDER JSON LIMITS NAME...

FOLDER/NAME has Callgrind's output for the MPI of that name. JSON and LIMITS may be empty
(instructions.sh).
"""

import json
import pathlib
import re
import sys


PROGRAMS = ("calls", "puts", "armci")


def part_of(path):
    """Returns the place of a part. A program writes its parts in the order of its calls, with a number."""
    program, _, _, part = path.name.split(".")
    return PROGRAMS.index(program), int(part)


def counts_of(folder):
    """Returns the instructions of one call by row. The second round of the program counts; it comes last."""
    counts = {}
    for path in sorted(folder.glob("*.out.*.*"), key=part_of):
        text = path.read_text()
        row = re.search(r"^desc: Trigger: Client Request: (.*)=(\d+)$", text, re.M)
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
        if row and total:
            counts[row[1]] = int(total[1]) / int(row[2])
    if "arrival+iprobe" in counts:
        counts["arrival"] = counts.pop("arrival+iprobe") - counts["iprobe-nothing"]
    return {row: round(number) for row, number in counts.items()}


def exceeded(counts, limits_file):
    """Prints the rows whose limit is exceeded, and returns their number."""
    found = 0
    for line in pathlib.Path(limits_file).read_text().splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        row, limit = words[0], int(words[1])
        if row not in counts or counts[row] > limit:
            print(f"{row}: {counts.get(row)} instructions, at most {limit} are allowed")
            found += 1
    return found


def main():
    folder, json_file, limits_file, *names = sys.argv[1:]
    tables = {name: counts_of(pathlib.Path(folder) / name) for name in names}
    print(f"{'instructions':20}" + "".join(f"{name:>10}" for name in names))
    for row in tables[names[0]]:
        print(f"{row:20}" + "".join(f"{tables[name].get(row, '-'):>10}" for name in names))
    if json_file:
        pathlib.Path(json_file).write_text(json.dumps(tables, indent=2) + "\n")
    if limits_file and exceeded(tables["librma"], limits_file):
        sys.exit(1)


if __name__ == "__main__":
    main()
