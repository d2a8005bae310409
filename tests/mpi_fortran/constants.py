#!/usr/bin/env python3
"""Checks that mpif.h and the modules mpi and mpi_f08 have every constant of mpi.h, with the same value, and no others.

usage: constants.py MPI_H C_COMPILER FORTRAN_COMPILER

The names come from the header itself, by the preprocessor. A generated program in C prints the type and the value of
each; one for each Fortran interface prints the same, through arguments of that type.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Constants of C alone. Those that are addresses in C are variables in Fortran, and have no value to compare.
C_ONLY = re.compile(r"MPI_T_|MPI_F_|MPI_F08_|MPI_\w*_FN$|MPI_CONVERSION_FN_NULL|MPI_ABI_FORTRAN|MPI_H$")
ADDRESSES = {"MPI_BOTTOM", "MPI_IN_PLACE", "MPI_BUFFER_AUTOMATIC", "MPI_ARGV_NULL", "MPI_ARGVS_NULL", "MPI_ERRCODES_IGNORE",
             "MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE", "MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"}
HANDLES = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win")
# The constants that only Fortran has, by expressions of C.
FORTRAN_ONLY = {"MPI_STATUS_SIZE": "sizeof(MPI_Status) / sizeof(MPI_Fint)", "MPI_SOURCE": "MPI_F_SOURCE + 1",
                "MPI_TAG": "MPI_F_TAG + 1", "MPI_ERROR": "MPI_F_ERROR + 1"}
KINDS = {"MPI_ADDRESS_KIND": "MPI_Aint", "MPI_OFFSET_KIND": "MPI_Offset", "MPI_COUNT_KIND": "MPI_Count", "MPI_INTEGER_KIND": "MPI_Fint"}
LOGICALS = {"MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"}


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def values_in_c(header, compiler, folder):
    """{name: (type, value)}: the type is that of a handle, `Offset`, or `integer`."""
    defined = run(compiler, "-dM", "-E", header)
    names = [n for n in re.findall(r"^#define (MPIX?_\w+) .", defined, re.MULTILINE) if not C_ONLY.match(n)]
    missing = sorted(ADDRESSES - set(names))
    if missing or len(names) < 270:
        sys.exit(f"this test no longer finds the constants: {len(names)}, without {missing}")
    handles = "".join(f"MPI_{h}: \"{h}\", " for h in HANDLES)
    lines = ["#include <mpi.h>", "#include <stdio.h>",
             f"#define SHOW(name, value) printf(\"%s %s %ld\\n\", name, _Generic((value), {handles} MPI_Offset: \"Offset\","
             " size_t: \"integer\", int: \"integer\"), (long)(value))",
             "int main(void) {"]
    lines += [f"  SHOW(\"{n}\", {n});" for n in names if n not in ADDRESSES]
    lines += [f"  SHOW(\"{n}\", {expression});" for n, expression in FORTRAN_ONLY.items()]
    lines += [f"  SHOW(\"{n}\", sizeof({c_type}));" for n, c_type in KINDS.items()]
    source, program = folder / "constants.c", folder / "constants"
    source.write_text("\n".join([*lines, "  return 0;", "}"]) + "\n", encoding="utf-8")
    run(compiler, "-std=c11", "-w", f"-I{pathlib.Path(header).parent}", "-o", program, source)
    found = {}
    for line in run(program).splitlines():
        name, kind, value = line.split()
        # A string in Fortran has no null at its end.
        found[name] = kind, int(value) - name.startswith("MPI_MAX_")
    return found


def program_in_fortran(form, expected):
    """Free form. The procedures' arguments have the types, so that a constant of another type is an error."""
    typed = form == "mpi_f08"
    lines = ["program constants"] + ([] if form == "mpif.h" else [f"  use {form}"]) + ["  implicit none"]
    lines += ["  include 'mpif.h'"] if form == "mpif.h" else []
    for name, (kind, _) in expected.items():
        if name in KINDS:
            lines.append(f"  call show_integer('{name}', storage_size(0_{name}) / 8)")
        else:
            lines.append(f"  call show_{kind if typed or kind == 'Offset' else 'integer'}('{name}', {name})")
    lines += [f"  if ({name}) print '(a)', '{name} is true'" for name in sorted(LOGICALS)]
    lines.append("contains")
    kinds = {"integer": "integer", "Offset": "integer(MPI_OFFSET_KIND)"}
    kinds |= {h: f"type(MPI_{h})" for h in HANDLES} if typed else {}
    for kind, declaration in kinds.items():
        value = "value%MPI_VAL" if kind in HANDLES else "value"
        lines += [f"  subroutine show_{kind}(name, value)", "    character(len=*), intent(in) :: name",
                  f"    {declaration}, intent(in) :: value", f"    print '(a,1x,a,1x,i0)', name, '{kind}', {value}",
                  f"  end subroutine show_{kind}"]
    return "\n".join([*lines, "end program constants"]) + "\n"


def wrong_values(form, expected, compiler, folder):
    source, program = folder / f"{form}.f90", folder / f"{form}.program"
    source.write_text(program_in_fortran(form, expected), encoding="utf-8")
    run(compiler, "-o", program, source)
    found = {}
    for line in run(program).splitlines():
        name, kind, value = line.split()
        found[name] = kind, value
    for name, (kind, value) in expected.items():
        shown = kind if form == "mpi_f08" or kind == "Offset" else "integer"
        if found.get(name) != (shown, str(value)):
            yield f"{form}: {name} is {' '.join(found.get(name, ['missing']))}, in C it is {kind} {value}"


def main():
    header, c_compiler, fortran_compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="rma-constants-") as made:
        folder = pathlib.Path(made)
        expected = values_in_c(header, c_compiler, folder)
        wrong = [w for form in ("mpif.h", "mpi", "mpi_f08") for w in wrong_values(form, expected, fortran_compiler, folder)]
    mpif = (pathlib.Path(header).parent / "mpif.h").read_text(encoding="utf-8")
    known = {n.lower() for n in (*expected, *LOGICALS)}
    wrong += [f"mpif.h: mpi.h has no {name}" for name in re.findall(r"parameter \((\w+)=", mpif) if name.lower() not in known]
    print(f"{len(expected)} constants in each interface")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
