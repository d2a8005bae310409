#!/usr/bin/env python3
"""Runs mixed-orders with every order of initialization, and several of ending.

usage: orders.py PROGRAM LAUNCHER...     the launcher's words, with the number of ranks
"""

import itertools
import subprocess
import sys


def ends_of(begun):
    """The same order, the reverse, and one that begins in the middle."""
    return begun, begun[::-1], begun[2:] + begun[:2]


def main():
    program, launcher = sys.argv[1], sys.argv[2:]
    runs, wrong = 0, 0
    for letters in itertools.permutations("amrs"):
        begun = "".join(letters)
        for ended in ends_of(begun):
            done = subprocess.run([*launcher, program, begun, ended], capture_output=True, text=True, check=False)
            runs += 1
            if done.returncode == 0 and done.stdout == "right\n":
                continue
            wrong += 1
            print(f"begin {begun}, end {ended}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{runs} runs, {wrong} are wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
