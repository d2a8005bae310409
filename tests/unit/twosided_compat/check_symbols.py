#!/usr/bin/env python3
"""Checks that the MPI library exports the names of the ABI, weak and strong, those that its Fortran interface needs, and
nothing else.

usage: check_symbols.py NM LIBRARY NAMES     NAMES is the file that lists the names without "MPI_"
"""

import pathlib
import subprocess
import sys


def main():
    nm, library, listed = sys.argv[1:]
    names = pathlib.Path(listed).read_text(encoding="utf-8").split()
    expected = {f"MPI_{name}": "W" for name in names} | {f"PMPI_{name}": "T" for name in names}
    expected |= {f"rma_mpi_fortran_{kind}_{call}": "T" for kind in ("comm", "type", "win")
                 for call in ("create_keyval", "set_attr", "get_attr")}
    expected |= {f"rma_mpi_fortran_{call}": "T" for call in ("init_partitions", "keep_staged")}
    lines = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {name: kind for _, kind, name in (line.split() for line in lines.splitlines())}
    wrong = sorted(set(expected.items()) ^ set(exported.items()))
    for name, kind in wrong:
        print(f"{name}: {kind} is {'exported' if (name, kind) in exported.items() else 'missing'}")
    print(f"{len(names)} functions, {len(wrong)} differences")
    sys.exit(1 if wrong or len(names) != 664 else 0)


if __name__ == "__main__":
    main()
