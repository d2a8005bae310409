#!/usr/bin/env python3
"""Checks that tests call every function of MPI that the library implements, in C with all its forms, and in Fortran.

usage: called.py FUNCTIONS_TXT TESTS_FOLDER
"""

import pathlib
import re
import sys

FUNCTION = re.compile(r"^([+*])([.cx])[.e] .*?MPI_(\w+)\(", re.MULTILINE)
SUFFIXES = {".": [""], "c": ["", "_c"], "x": ["", "_c", "_x"]}
C_FOLDERS = ("mpi", "mpi_wrappers", "unit/twosided_compat")
FORTRAN_FOLDERS = ("mpi_fortran", "mpi_wrappers")
C_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
FORTRAN_COMMENTS = re.compile(r"^!.*$", re.MULTILINE)
# Functions that Fortran has not, or that mean nothing there: callbacks with arguments that Fortran cannot have.
C_ONLY = re.compile(r"T_\w+|\w+_(c|toint|fromint)")


def names_in(folders, endings, comments):
    """The names of MPI functions that the sources of these folders use, in lower case."""
    text = ""
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.suffix in endings:
                text += comments.sub("", path.read_text(encoding="utf-8"))
    return {name.lower() for name in re.findall(r"\bP?MPI_(\w+)", text, re.IGNORECASE)}


def main():
    table, tests = map(pathlib.Path, sys.argv[1:])
    functions = []
    for mark, forms, name in FUNCTION.findall(table.read_text(encoding="utf-8")):
        # A * stands for the nonblocking and the persistent function too.
        functions += [(forms, each) for each in [name] + [f"I{name.lower()}", f"{name}_init"] * (mark == "*")]
    if len(functions) < 200:
        sys.exit(f"this test no longer finds the functions: {len(functions)}")
    in_c = names_in([tests / folder for folder in C_FOLDERS], {".c", ".cpp", ".hpp"}, C_COMMENTS)
    in_fortran = names_in([tests / folder for folder in FORTRAN_FOLDERS], {".inc", ".F", ".F90", ".f", ".f90"}, FORTRAN_COMMENTS)
    wrong = [f"no test in C calls MPI_{name}{suffix}" for forms, name in functions for suffix in SUFFIXES[forms]
             if f"{name}{suffix}".lower() not in in_c]
    wrong += [f"no test in Fortran calls MPI_{name}" for _, name in functions
              if not C_ONLY.fullmatch(name) and name.lower() not in in_fortran]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
