#!/usr/bin/env python3
"""Checks that docs/using-mpi.md lists the functions of MPI that the library does not implement, and no others.

usage: documented.py FUNCTIONS_TXT USING_MPI_MD

The list is the part of the page from HEADING to the next heading. It gives the number of the functions and their names,
in the plain form.
"""

import pathlib
import re
import sys

HEADING = "## What it does not do, yet"
UNSUPPORTED = re.compile(r"^-[.cx][.e] .*?(MPI_\w+)\(", re.MULTILINE)


def main():
    table, page = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
    missing = set(UNSUPPORTED.findall(table))
    _, found, rest = page.partition(f"{HEADING}\n")
    if not found:
        sys.exit(f"the page has no heading: {HEADING}")
    part = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    names = re.findall(r"`(MPI_(?!ERR_)\w+)`", part)
    wrong = [f"not listed: {name}" for name in sorted(missing - set(names))]
    wrong += [f"listed, but implemented or unknown: {name}" for name in sorted(set(names) - missing)]
    wrong += [f"listed twice: {name}" for name in sorted(set(names)) if names.count(name) > 1]
    if f"{len(missing)} functions" not in part:
        wrong.append(f"the text does not say '{len(missing)} functions'")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
