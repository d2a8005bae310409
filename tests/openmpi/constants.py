#!/usr/bin/env python3
"""Compares the values that librma has for Open MPI with those of the Open MPI that is installed.

usage: constants.py OPENMPI_HEADER OWN_HEADER F08_CONSTANTS OWN_LIBRARY COMPILER

OWN_HEADER is the mpi.h that OWN_LIBRARY, librma's libmpi.so.40, is made with; F08_CONSTANTS has Fortran's numbers of handles.
Checks the numbers, the statuses, the data symbols with their sizes, and Fortran's numbers, as far as both have them.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"^#define (MPI_\w+) (\(?-?(?:0x)?\w+\)?)$", re.MULTILINE)
HANDLE = re.compile(r"^#define (MPI_\w+) \(\(MPI_\w+\)&(\w+)\)$", re.MULTILINE)
OPENMPIS_HANDLE = re.compile(r"#define (MPI_\w+) +OMPI_PREDEFINED_GLOBAL\( *\w+, *(\w+)\)")
PARAMETER = re.compile(r"parameter *\((MPI_\w+) *= *(-?\d+)\)", re.IGNORECASE)
# These say what the library is.
OWN = ("MPI_VERSION", "MPI_SUBVERSION", "MPI_ABI_VERSION", "MPI_ABI_SUBVERSION")
SYMBOL = re.compile(r"(?:MPI_|ompi_mpi_|ompi_request_null|ompi_message_)\w*$")


def data_sizes(library):
    """The sizes of a library's data symbols."""
    lines = subprocess.run(["nm", "--dynamic", "--defined-only", "--print-size", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return {words[3]: int(words[1], 16) for words in map(str.split, lines)
            if len(words) == 4 and words[2] in "BDR" and SYMBOL.match(words[3])}


def main():
    openmpi_path, own_path, f08_path, library = map(pathlib.Path, sys.argv[1:5])
    openmpi, own = openmpi_path.read_text(encoding="utf-8"), own_path.read_text(encoding="utf-8")
    there = set(re.findall(r"\bMPI_\w+", openmpi))
    numbers = [(name, value) for name, value in NUMBER.findall(own) if name in there and name not in OWN]
    wrong = []

    code = "#define OMPI_OMIT_MPI1_COMPAT_DECLS 1\n#include <mpi.h>\n"
    code += "".join(f'_Static_assert({name} == {value}, "{name}");\n' for name, value in numbers)
    code += '_Static_assert(sizeof(MPI_Status) == 24, "MPI_Status");\n'
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "values.c"
        source.write_text(code, encoding="utf-8")
        compiled = subprocess.run([sys.argv[5], "-fsyntax-only", f"-I{openmpi_path.parent}", source], capture_output=True,
                                  text=True)
        wrong += [compiled.stderr] if compiled.returncode != 0 else []

    handles = dict(HANDLE.findall(own))
    others = dict(OPENMPIS_HANDLE.findall(openmpi))
    wrong += [f"{name} is {symbol}, and here {handles.get(name)}" for name, symbol in others.items()
              if handles.get(name) != symbol and name not in ("MPI_UB", "MPI_LB", "MPI_CXX_COMPLEX")]

    found = subprocess.run([sys.argv[5], "-print-file-name=libmpi.so.40"], check=True, capture_output=True, text=True)
    theirs, ours = data_sizes(found.stdout.strip()), data_sizes(library)
    common = theirs.keys() & ours.keys()
    wrong += [f"{name} has {theirs[name]} bytes, and here {ours[name]}" for name in sorted(common) if theirs[name] != ours[name]]

    in_fortran = {name.upper(): int(value) for name, value in
                  PARAMETER.findall((openmpi_path.parent / "mpif-handles.h").read_text(encoding="utf-8"))}
    f08 = re.findall(r"\((\w+), (\d+)\)", f08_path.read_text(encoding="utf-8"))
    compared = [(f"MPI_{name.upper()}", int(value)) for name, value in f08 if f"MPI_{name.upper()}" in in_fortran]
    wrong += [f"{name} is {in_fortran[name]} in Fortran, and here {value}" for name, value in compared
              if in_fortran[name] != value]

    counts = (len(numbers), len(others), len(common), len(compared))
    if min(counts) < 50:
        sys.exit(f"this no longer finds what is to be compared: {counts}")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
