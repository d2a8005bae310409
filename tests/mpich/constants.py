#!/usr/bin/env python3
"""Compares the values that librma has for MPICH with those of the MPICH that is installed.

usage: constants.py MPICH_HEADER OWN_HEADER COMPILER

OWN_HEADER is the mpi.h that librma's libmpi.so.12 is made with. Checks the handles, the numbers, the addresses and the
layout of statuses, as far as both headers have them, and the same numbers in mpif.h.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

CONSTANT = re.compile(r"^#define (MPI_\w+) (\(?-?(?:0x)?\w+\)?|\(\(MPI_\w+\**\)-?(?:0x)?\w+\)|\(\((?:void|char|int)\**\)-?\d+\))$",
                      re.MULTILINE)
PARAMETER = re.compile(r"^ *PARAMETER *\((MPI_\w+)= *\(?(-?\d+)\)?\)$", re.MULTILINE)
# These say what the library is, what programs name as a symbol, and a datatype that MPICH does not have.
OWN = ("MPI_ABI_VERSION", "MPI_ABI_SUBVERSION", "MPI_COMM_DUP_FN", "MPI_T_PVAR_ALL_HANDLES", "MPI_INTEGER16")
# In Fortran these differ from C: the indices begin with 1, texts have no null at the end, and keys are C's and 1.
INDEX = re.compile(r"MPI_(SOURCE|TAG|ERROR|STATUS_SIZE|MAX_\w+|TAG_UB|HOST|IO|WTIME_IS_GLOBAL|UNIVERSE_SIZE|LASTUSEDCODE"
                   r"|APPNUM|WIN_BASE|WIN_SIZE|WIN_DISP_UNIT|WIN_CREATE_FLAVOR|WIN_MODEL|\w+_KIND)$")


def main():
    mpich_path, own_path = map(pathlib.Path, sys.argv[1:3])
    headers = [mpich_path, mpich_path.parent / "mpio.h"]
    there = set(re.findall(r"\bMPI_\w+", "\n".join(path.read_text(encoding="utf-8") for path in headers)))
    own = own_path.read_text(encoding="utf-8")
    constants = [(name, value) for name, value in CONSTANT.findall(own) if name in there and name not in OWN]
    code = "#include <stddef.h>\n#include <mpi.h>\n"
    # An expression that only the compiler's folding makes constant is enough.
    code += "".join(f'_Static_assert((long)({name}) == (long)({value}), "{name}");\n' for name, value in constants)
    code += '_Static_assert(sizeof(MPI_Status) == 20 && offsetof(MPI_Status, MPI_SOURCE) == 8, "MPI_Status");\n'
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "values.c"
        source.write_text(code, encoding="utf-8")
        compiled = subprocess.run([sys.argv[3], "-w", "-fsyntax-only", f"-I{mpich_path.parent}", source], capture_output=True,
                                  text=True)
    wrong = [compiled.stderr] if compiled.returncode != 0 else []

    def integer(value):
        return int(re.search(r"-?(?:0x[0-9a-f]+|\d+)\)?$", value)[0].rstrip(")"), 0)

    values = {name: integer(value) for name, value in constants if re.search(r"\d\)?$", value)}
    fortran = (mpich_path.parent / "mpif.h").read_text(encoding="utf-8")
    compared = [(name, int(value)) for name, value in PARAMETER.findall(fortran) if name in values and not INDEX.match(name)]
    wrong += [f"{name} is {value} in Fortran, and here {values[name]}" for name, value in compared if values[name] != value]

    counts = (len(constants), len(compared))
    if min(counts) < 200:
        sys.exit(f"this no longer finds what is to be compared: {counts}")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
