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
# Those that return an address, which only mpi_f08 can, have names of their own there.
RETURNING_A_POINTER = {"Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer"}
# The compiler cannot tell the forms of these with large counts. (Op_create's and Register_datarep's differ in the
# procedures that they get.)
ALIKE_WITH_LARGE_COUNTS = {"Op_create", "Register_datarep", "File_get_type_extent", "Type_create_resized", "Type_get_extent",
                           "Type_get_true_extent"}

table, library = sys.argv[1:]
# Those that mpi_f08 gives array sections as they are, beside the nonblocking and persistent ones.
TAKING_SECTIONS = {"Put", "Get", "Accumulate", "Get_accumulate", "Get_address"}
expected = set(FORTRAN_ONLY)
functions = []
for mark, forms, name, parameters in re.findall(r"^([-+*])([.cx])[.e] .*?MPI_(\w+)\((.*)\)", open(table, encoding="utf-8").read(),
                                                re.MULTILINE):
    functions.append((forms, name, parameters))
    if mark == "*":  # the nonblocking and the persistent function too
        functions += [(forms, other, parameters + ", MPI_Request* request") for other in (f"I{name.lower()}", f"{name}_init")]
for forms, name, parameters in functions:
    if name.startswith("T_") or name.endswith(("_c", "_toint", "_fromint")):
        continue
    expected |= {f"mpi_{name.lower()}_"} | ({f"mpi_{name.lower()}_x_"} if forms == "x" else set())
    if name in TAKING_SECTIONS or ("void* " in parameters and "MPI_Request* " in parameters and "_function" not in parameters):
        expected |= {f"mpi_{name.lower()}_f08ts_"} | ({f"mpi_{name.lower()}_c_f08ts_"} if forms == "c" else set())
        continue
    if forms in "cx" and name not in ALIKE_WITH_LARGE_COUNTS:
        expected.add(f"mpi_{name.lower()}_c{'_f08' if name in RETURNING_A_POINTER else ''}_")
    if name in RETURNING_A_POINTER:
        expected.add(f"mpi_{name.lower()}_f08_")
if len(expected) < 400:
    sys.exit(f"this test no longer finds the functions: {len(expected)}")
expected |= {f"p{name}" for name in expected - WITHOUT_SECOND_NAME}

shown = {}
for line in subprocess.check_output(["nm", "-D", "--defined-only", library], text=True).splitlines():
    _, kind, name = line.split()
    if not name.startswith(("__mpi_f08_MOD_", "__rma_mpi_types_MOD_")):  # the module's own constants, operators and conversions
        shown[name] = kind
names = {name for name, kind in shown.items() if kind in "TW"}
wrong = [f"missing: {name}" for name in sorted(expected - names)]
wrong += [f"not MPI's: {name}" for name in sorted(names - expected)]
wrong += [f"not weak: {name}" for name in sorted(names - WITHOUT_SECOND_NAME) if not name.startswith("p") and shown[name] != "W"]
wrong += [f"not of mpif.h: {name}" for name in sorted(set(shown) - names) if not name.startswith("mpi_abi_")]
print(f"{len(names)} functions")
sys.exit("\n".join(wrong) or 0)
