#!/usr/bin/env python3
"""Writes MPI's Fortran interface by the tables of src/twosided_compat: mpif.h, the modules mpi and mpi_f08, and the
entry points.

usage: generate_fortran.py TABLES_FOLDER OUTPUT_FOLDER HEADER_FOLDER

TABLES_FOLDER holds functions.txt, constants.txt and generate.py, which reads them. HEADER_FOLDER gets mpif.h.
OUTPUT_FOLDER gets rma_mpi_types.f90, mpi.f90, mpi_f08.f90 and, for each chapter of functions.txt, fortran_entries/CHAPTER.cpp. An entry
point calls the C function of the same name, so a function that the library does not implement fails in Fortran as it
does in C.
"""

import importlib.util
import pathlib
import sys

import fortran_f08
from fortran_arguments import (CALLBACK, PARTITIONED, RESULTS, TYPED_SECTIONS, arguments_of, is_handwritten, is_in_fortran,
                               has_buffers, section_arguments, takes_sections, NEEDS_THE_ARRAY)
from fortran_constants import externals, free_form, header_lines
from fortran_f08 import IERROR, continued


def tables_reader(folder):
    spec = importlib.util.spec_from_file_location("mpi_tables", folder / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions_of(chapter):
    """The functions of a chapter that Fortran has: (name, function, whether counts are large)."""
    for function in chapter[2]:
        if is_in_fortran(function):
            yield function.name, function, False
            if function.forms == "x":
                yield f"{function.name}_x", function, True


def interface(prefix, name, function, large):
    """The explicit interface of one procedure."""
    arguments = [a for a in arguments_of(function, large) if a.name]
    names = [a.name for a in arguments]
    if function.result in RESULTS:
        head, tail = f"function {prefix}MPI_{name}({', '.join(names)})", f"end function {prefix}MPI_{name}"
        declarations = [f"{RESULTS[function.result]} :: {prefix}MPI_{name}"]
    else:
        names += [] if name == "Pcontrol" else ["ierror"]
        head, tail = f"subroutine {prefix}MPI_{name}({', '.join(names)})", f"end subroutine {prefix}MPI_{name}"
        declarations = [] if name == "Pcontrol" else [IERROR]
    lines = continued(f"    {head}")
    text = " ".join(a.fortran for a in arguments) + " ".join(declarations)
    kinds = [k for k in ("MPI_ADDRESS_KIND", "MPI_OFFSET_KIND", "MPI_COUNT_KIND", "MPI_STATUS_SIZE") if k in text]
    if kinds:
        lines.append(f"      import :: {', '.join(kinds)}")
    lines.append("      implicit none")
    for argument in arguments:
        lines.append(f"      {argument.fortran}" if argument.fortran == CALLBACK else f"      {argument.fortran} :: {argument.name}")
        if argument.fortran == CALLBACK:
            lines[-1] = f"      external :: {argument.name}"
        elif argument.is_choice:
            lines.append(f"      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {argument.name}")
    return [*lines, *(f"      {d}" for d in declarations), f"    {tail}"]


def module(chapters, constants):
    lines = ["! The module mpi: MPI in Fortran with explicit interfaces, over the binary interface of the MPI standard.",
             "! Choice buffers take variables of every type, kind and rank.", "module mpi", f"  use {fortran_f08.TYPES_MODULE}", "  implicit none",
             "  public", ""]
    lines += free_form(header_lines(constants)) + [""]
    lines += [f"  external :: {name}" for name in externals()] + [""]
    for prefix in ("", "P"):
        for chapter in chapters:
            bodies = [interface(prefix, *f) for f in functions_of(chapter)]
            if bodies:
                lines += [f"  ! {chapter[1]}{', by the names for profilers' if prefix else ''}", "  interface"]
                lines += [line for body in bodies for line in body] + ["  end interface", ""]
    lines += ["  interface", "    subroutine MPI_F_sync_reg(buf)", "      implicit none", "      type(*), dimension(*) :: buf",
              "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf", "    end subroutine MPI_F_sync_reg", "  end interface"]
    return "\n".join(lines) + "\nend module mpi\n"


def mpif(constants):
    lines = ["! MPI in Fortran, over the binary interface of the MPI standard.", "! The lines are valid in fixed and in free form."]
    lines += [f"      {line}" if line else "" for line in header_lines(constants)]
    for name in externals():
        lines.append(f"      external {name}")
    for prefix in ("", "P"):
        for name in ("WTIME", "WTICK"):
            lines += [f"      double precision {prefix}MPI_{name}", f"      external {prefix}MPI_{name}"]
        for name in ("AINT_ADD", "AINT_DIFF"):
            lines += [f"      integer(kind=MPI_ADDRESS_KIND) {prefix}MPI_{name}", f"      external {prefix}MPI_{name}"]
    return "\n".join(lines) + "\n"


def entry(name, function, large, f08=""):
    """One entry point and its weak name. `f08` ends the names of those that only the module mpi_f08 has."""
    arguments = arguments_of(function, large)
    symbol = f"mpi_{name.lower()}{f08}_"
    parameters = [f"void* {a.name}" if f08 and a.is_c_pointer_out else a.parameter for a in arguments if a.name]
    expressions = [a.name if f08 and a.is_c_pointer_out else a.expression for a in arguments if a.expression]
    call = f"PMPI_{name}({', '.join(expressions)})"
    if function.result in RESULTS:
        result, body = function.result, f"return {call};"
    elif name == "Pcontrol":
        result, body = "void", f"static_cast<void>({call});"
    else:
        parameters.append("MPI_Fint* ierror")
        result, body = "void", f"store(ierror, {call});"
    parameters += [f"std::size_t {a.name}_length" for a in arguments if a.is_string]
    own = f08 or fortran_f08.returns_pointer(function)
    names = f"RMA_MPI_FORTRAN_{'WEAK' if own else 'NAMES'}({symbol});\n"
    if any(a.name == "baseptr" for a in arguments):
        names += f"RMA_MPI_FORTRAN_POINTER({symbol});\n"
    return f"{result} p{symbol}({', '.join(parameters)}) {{\n  {body}\n}}\n{names}"


def section_entry(name, function, large):
    """One entry point that gets array sections as they are, and its weak name."""
    arguments = section_arguments(function, large)
    symbol = f"mpi_{name.lower()}_f08ts_"
    parameters = [a.parameter for a in arguments if a.name] + ["MPI_Fint* ierror"]
    call = f"PMPI_{name}({', '.join(a.expression for a in arguments if a.expression)})"
    if function.name == "Get_address":
        body = [f"store(ierror, {call});"]
    elif function.name in TYPED_SECTIONS:
        sides = [a.name.removesuffix("_addr") for a in arguments if a.is_choice]
        body = [f"const TypedSection {s}({s}_addr, *{s}_count, *{s}_datatype);" for s in sides]
        body += [f"if ({s}.code() != MPI_SUCCESS) return store(ierror, fail(handle<MPI_Win>(*win), {s}.code()));" for s in sides]
        body.append(f"store(ierror, {call});")
    elif function.name in PARTITIONED:
        sends, peer = ("true", "dest") if function.name == "Psend_init" else ("false", "source")
        section = f"init_partitions({sends}, *buf, *partitions, *count, *datatype, *{peer}, *tag, *comm, *info, request)"
        body = [f"store(ierror, is_contiguous(*buf) ? {call} : {section});"]
    else:
        body = ["StagedSections staged;", f"const int code = {call};", "store(ierror, staged.keep(code, request));"]
    body = "\n".join(f"  {line}" for line in body)
    return f"void p{symbol}({', '.join(parameters)}) {{\n{body}\n}}\nRMA_MPI_FORTRAN_WEAK({symbol});\n"


def blocking_section_entry(name, function):
    """The entry point that MPICH's module mpi_f08 calls for a function with buffers whose operation ends with the call."""
    arguments = section_arguments(function, False)
    symbol = f"mpi_{name.lower()}_f08ts_"
    parameters = [a.parameter for a in arguments if a.name] + ["MPI_Fint* ierror"]
    call = f"PMPI_{name}({', '.join(a.expression for a in arguments if a.expression)})"
    if NEEDS_THE_ARRAY.fullmatch(function.name):
        body = [f"if (!is_contiguous(*{a.name})) return store(ierror, fail(MPI_COMM_SELF, MPI_ERR_BUFFER));"
                for a in arguments if a.is_choice]
        body.append(f"store(ierror, {call});")
    else:
        body = ["StagedSections staged;", f"store(ierror, staged.end({call}));"]
    parameters += [f"std::size_t {a.name}_length" for a in arguments if a.is_string]
    body = "\n".join(f"  {line}" for line in body)
    return f"void p{symbol}({', '.join(parameters)}) {{\n{body}\n}}\nRMA_MPI_FORTRAN_WEAK({symbol});\n"


def entries(chapter):
    lines = [f"// Fortran's entry points of the chapter: {chapter[1]}.", "", '#include "twosided_compat/fortran/arguments.hpp"',
             '#include "twosided_compat/fortran/sections.hpp"', '#include "twosided_compat/fortran/text.hpp"', "", "using namespace librma::mpi_fortran;", "", 'extern "C" {',
             "// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them", ""]
    lines += [entry(*f) for f in functions_of(chapter) if not is_handwritten(f[1])]
    for function in filter(is_in_fortran, chapter[2]):
        if takes_sections(function):
            lines.append(section_entry(function.name, function, False))
            if fortran_f08.large_differs(function):
                lines.append(section_entry(f"{function.name}_c", function, True))
            continue
        if has_buffers(function):
            lines += ["#ifdef RMA_MPI_MPICH", blocking_section_entry(function.name, function) + "#endif"]
        f08 = "_f08" if fortran_f08.returns_pointer(function) else ""
        if f08:
            lines.append(entry(function.name, function, False, f08))
        if fortran_f08.large_differs(function):
            lines.append(entry(f"{function.name}_c", function, True, f08))
    return "\n".join(lines) + '\n// NOLINTEND(readability-identifier-naming)\n}  // extern "C"\n'


def main():
    tables_folder, output, headers = map(pathlib.Path, sys.argv[1:])
    tables = tables_reader(tables_folder)
    chapters = tables.read_functions(tables_folder / "functions.txt")
    constants = tables.read_constants(tables_folder / "constants.txt")
    tables.write(headers / "mpif.h", mpif(constants))
    tables.write(output / "rma_mpi_types.f90", fortran_f08.types_module())
    tables.write(output / "mpi.f90", module(chapters, constants))
    tables.write(output / "mpi_f08.f90", fortran_f08.module(chapters, constants))
    for chapter in chapters:
        if any(functions_of(chapter)):
            tables.write(output / f"fortran_entries/{chapter[0]}.cpp", entries(chapter))


if __name__ == "__main__":
    main()
