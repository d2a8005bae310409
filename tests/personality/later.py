#!/usr/bin/env python3
"""Writes an mpi.h that is another MPI's, and has behind it what later versions of MPI have and that MPI has not. So the
programs of tests/mpi can be compiled with that MPI's constants, handles and statuses.

usage: later.py OTHER_HEADER OWN_HEADER OUTPUT

OWN_HEADER is the mpi.h that the library which stands in for the other MPI is made with: it has that MPI's values for all.
"""

import pathlib
import re
import sys

DEFINE = re.compile(r"^#define (MPIX?_\w+) (.*)$", re.MULTILINE)
PROTOTYPE = re.compile(r"^(?:int|double|MPI_\w+) (MPI_\w+)\([^;{]*\);", re.MULTILINE)
# Types that only later versions have, with all that is named after them.
TYPE = re.compile(r"^typedef (?:struct [^{;]*|(?:void|int)\()\W*(MPI_\w+)\)?[^;]*;", re.MULTILINE)
ENUM = re.compile(r"^typedef enum (MPI_T_\w+) \{[^}]*\} \w+;", re.MULTILINE)
SYMBOL = re.compile(r"^extern struct (\w+) (ompi_\w+|rma_\w+);", re.MULTILINE)


def later(other, own):
    there = set(re.findall(r"\b(?:MPIX?|ompi)_\w+", other))
    lines = [match[0] for pattern in (ENUM, TYPE) for match in pattern.finditer(own) if match[1] not in there]
    lines += [match[0] for match in SYMBOL.finditer(own) if match[2] not in there]
    lines += [match[0] for match in DEFINE.finditer(own) if match[1] not in there and not match[1].startswith("MPI_ABI")]
    lines += [match[0] for match in PROTOTYPE.finditer(own) if match[1] not in there]
    return lines


def main():
    other, own, output = map(pathlib.Path, sys.argv[1:])
    # MPICH has its functions in headers of their own.
    headers = [other, *(path for name in ("mpi_proto.h", "mpio.h") if (path := other.parent / name).exists())]
    lines = later("\n".join(header.read_text(encoding="utf-8") for header in headers), own.read_text(encoding="utf-8"))
    if len(lines) < 50:
        sys.exit(f"this no longer finds what the other MPI has not: {len(lines)} lines")
    text = ["#ifndef LATER_MPI_H", "#define LATER_MPI_H", "#include_next <mpi.h>", "#include <stdint.h>", "#ifdef __cplusplus",
            'extern "C" {', "#endif", *lines, "#ifdef __cplusplus", "}", "#endif", "#endif"]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
