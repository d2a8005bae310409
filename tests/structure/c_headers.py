#!/usr/bin/env python3
"""Compiles each public C header, alone and twice, by every version of C and of C++ that programs ask for.

usage: c_headers.py C_COMPILER CXX_COMPILER FOLDER...

A header of a FOLDER is named by its path from there, as a program does. Warnings are errors. Versions before C99 are
pedantic where the interface has no type that came later.
"""

import concurrent.futures
import pathlib
import subprocess
import sys

C = ("c89", "gnu89", "iso9899:199409", "c99", "gnu99", "c11", "gnu11", "c17")
CXX = ("c++11", "c++17", "c++20")
# Their functions take `long long` and complex numbers by name.
WITH_LATER_TYPES = {"message.h", "mp3.h", "shmem.h", "pshmem.h", "mpp/shmem.h"}
WARNINGS = ["-Wall", "-Wextra", "-Wundef", "-Werror"]


def failure(case):
    compiler, language, standard, folders, name = case
    options = [*WARNINGS, f"-std={standard}"]
    if name not in WITH_LATER_TYPES or standard not in ("c89", "gnu89", "iso9899:199409"):
        options.append("-pedantic")
    source = f"#include <{name}>\n#include <{name}>\nint main({'void' if language == 'c' else ''}) {{ return 0; }}\n"
    command = [compiler, *options, *(f"-I{f}" for f in folders), "-fsyntax-only", "-x", language, "-"]
    done = subprocess.run(command, input=source, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else f"{name} with -std={standard}:\n{done.stdout[:2000]}"


def main():
    c_compiler, cxx_compiler, *folders = sys.argv[1:]
    names = [str(path.relative_to(folder)) for folder in folders for path in sorted(pathlib.Path(folder).rglob("*.h"))
             if path.name != "mpif.h"]
    if len(names) < 10:
        sys.exit(f"this test no longer finds the headers: {names}")
    cases = [(compiler, language, standard, folders, name) for name in names
             for compiler, language, standards in ((c_compiler, "c", C), (cxx_compiler, "c++", CXX)) for standard in standards]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failures = [f for f in pool.map(failure, cases) if f]
    print(f"{len(cases)} compilations of {len(names)} headers")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
