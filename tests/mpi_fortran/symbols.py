#!/usr/bin/env python3
"""Checks that libmpi_abi_fortran.so has both names of every function that Fortran has, and shows no others.

usage: symbols.py FUNCTIONS_TXT LIBRARY
"""

import re
import subprocess
import sys

# The names that Fortran has beside the functions of the table.
FORTRAN_ONLY = {"mpi_f_sync_reg_", "mpi_conversion_fn_null_"} | {
    f"mpi_{kind}{name}_fn_" for kind in ("comm_", "type_", "win_", "") for name in ("null_copy", "null_delete", "dup")}
WITHOUT_SECOND_NAME = FORTRAN_ONLY - {"mpi_f_sync_reg_"}

table, library = sys.argv[1:]
expected = set(FORTRAN_ONLY)
for forms, name in re.findall(r"^[-+]([.cx])[.e] .*?MPI_(\w+)\(", open(table, encoding="utf-8").read(), re.MULTILINE):
    if name.startswith("T_") or name.endswith(("_c", "_toint", "_fromint")):
        continue
    expected |= {f"mpi_{name.lower()}_"} | ({f"mpi_{name.lower()}_x_"} if forms == "x" else set())
if len(expected) < 400:
    sys.exit(f"this test no longer finds the functions: {len(expected)}")
expected |= {f"p{name}" for name in expected - WITHOUT_SECOND_NAME}

shown = {}
for line in subprocess.check_output(["nm", "-D", "--defined-only", library], text=True).splitlines():
    _, kind, name = line.split()
    shown[name] = kind
names = {name for name, kind in shown.items() if kind in "TW"}
wrong = [f"missing: {name}" for name in sorted(expected - names)]
wrong += [f"not MPI's: {name}" for name in sorted(names - expected)]
wrong += [f"not weak: {name}" for name in sorted(names - WITHOUT_SECOND_NAME) if not name.startswith("p") and shown[name] != "W"]
wrong += [f"not of mpif.h: {name}" for name in sorted(set(shown) - names) if not name.startswith("mpi_abi_")]
print(f"{len(names)} functions")
sys.exit("\n".join(wrong) or 0)
