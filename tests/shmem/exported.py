#!/usr/bin/env python3
"""Checks that a library shows every name of some lists, and each also with p in front, and no others.

usage: exported.py LIBRARY LIST...
"""

import pathlib
import subprocess
import sys


def main():
    lines = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    kinds = {name.partition("@")[0]: kind for _, kind, name in (line.split() for line in lines) if kind != "A"}
    names = [name for path in sys.argv[2:] for name in pathlib.Path(path).read_text(encoding="utf-8").split()]
    wrong = [f"{name} is missing" for name in names if name not in kinds]
    wrong += [f"{name} is not weak" for name in names if kinds.get(name, "W") != "W"]
    wrong += [f"p{name} is not a strong name" for name in names if kinds.get("p" + name) != "T"]
    wrong += [f"{name} is in no list" for name in kinds if name not in names and name.removeprefix("p") not in names]
    print(f"{len(names)} names, {len(wrong)} are wrong")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
