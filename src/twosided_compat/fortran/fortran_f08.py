"""The module mpi_f08 (MPI 5.0, sections 19.1.2 and 19.1.5).

Its procedures are those of the module mpi: the same entry points, because a handle is a type with one integer and a
status one with eight, and both travel by their addresses. It adds the forms with large counts, which the compiler
chooses by the type of the counts, procedures that return a C pointer, and procedures that get array sections as they
are, because the operation goes on after the call.
"""

import platform

from fortran_arguments import CALLBACK, HANDLES, RESULTS, arguments_of, is_in_fortran, is_handwritten, section_arguments, takes_sections
from fortran_constants import FORTRAN_CONSTANTS, SENTINELS, externals

TYPES_MODULE = "rma_mpi_types"
IERROR = "integer, intent(inout), optional :: ierror"
# The names that a body of an interface imports if its text has them.
IMPORTS = ("MPI_ADDRESS_KIND", "MPI_OFFSET_KIND", "MPI_COUNT_KIND", "MPI_Status", "c_ptr")
# The predefined variables that are a status or statuses.
STATUSES = {"MPI_STATUS_IGNORE(MPI_STATUS_SIZE)": "MPI_STATUS_IGNORE",
            "MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)": "MPI_STATUSES_IGNORE(1)"}

ADDRESS = "integer(kind=MPI_ADDRESS_KIND)"
ERROR = ("ierror", "integer")
# The interfaces of the procedures that a program passes to MPI: the arguments of each, with their types.
CALLBACKS = {
    "User_function": [("invec", "type(c_ptr), value"), ("inoutvec", "type(c_ptr), value"), ("len", "integer"),
                      ("datatype", "type(MPI_Datatype)")],
    "Grequest_query_function": [("extra_state", ADDRESS), ("status", "type(MPI_Status)"), ERROR],
    "Grequest_free_function": [("extra_state", ADDRESS), ERROR],
    "Grequest_cancel_function": [("extra_state", ADDRESS), ("complete", "logical"), ERROR],
}
for kind in ("Comm", "Datatype", "Win"):
    stem = kind.replace("Datatype", "Type")
    state = [("extra_state", ADDRESS)]
    CALLBACKS[f"{stem}_copy_attr_function"] = \
        [(f"old{stem.lower()}", f"type(MPI_{kind})"), (f"{stem.lower()}_keyval", "integer"), *state,
         ("attribute_val_in", ADDRESS), ("attribute_val_out", ADDRESS), ("flag", "logical"), ERROR]
    CALLBACKS[f"{stem}_delete_attr_function"] = \
        [(stem.lower() if stem != "Type" else "datatype", f"type(MPI_{kind})"), (f"{stem.lower()}_keyval", "integer"),
         ("attribute_val", ADDRESS), *state, ERROR]
for kind in ("Comm", "Win", "File", "Session"):
    CALLBACKS[f"{kind}_errhandler_function"] = [(kind.lower(), f"type(MPI_{kind})"), ("error_code", "integer")]


def continued(text, width=124):
    """A statement in lines of at most `width` columns."""
    lines = []
    while len(text) > width:
        cut = text.rfind(",", 0, width) + 1
        lines.append(text[:cut] + " &")
        text = "      " + text[cut:].strip()
    return [*lines, text]


def imports(text):
    words = [word for word in (*IMPORTS, *sorted(HANDLES)) if f"={word})" in text or f"({word})" in text]
    return [f"      import :: {', '.join(words)}"] if words else []


def returns_pointer(function):
    return any(a.is_c_pointer_out for a in arguments_of(function, False))


def suffix_of(function):
    """The end of the names of entry points that only this module has."""
    return "_f08ts" if takes_sections(function) else "_f08" if returns_pointer(function) else ""


def procedure(prefix, function, large, suffix):
    """The explicit interface of one entry point."""
    name = f"{prefix}MPI_{function.name}{suffix}"
    sections = takes_sections(function)
    arguments = [a for a in (section_arguments if sections else arguments_of)(function, large) if a.name]
    names = [a.name for a in arguments]
    declarations = [f"external :: {a.name}" if a.f08 == CALLBACK else f"{a.f08} :: {a.name}" for a in arguments]
    if not sections:
        declarations += [f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {a.name}" for a in arguments if a.f08.startswith("type(*)")]
    kind = "subroutine"
    if function.result in RESULTS:
        kind = "function"
        declarations.append(f"{RESULTS[function.result]} :: {name}")
    elif function.name != "Pcontrol":
        names.append("ierror")
        declarations.append(IERROR)
    binding = f' bind(C, name="{name.lower()}_")' if sections else ""
    return [*continued(f"    {kind} {name}({', '.join(names)}){binding}"), *imports(" ".join(declarations)), "      implicit none",
            *(f"      {d}" for d in declarations), f"    end {kind} {name}"]


def signature(function, large):
    """The types by which a compiler chooses a procedure. Addresses and counts have one kind."""
    return [a.f08.replace("MPI_ADDRESS_KIND", "MPI_COUNT_KIND") for a in arguments_of(function, large)]


def large_differs(function):
    """Whether a compiler can tell the form with large counts by its arguments."""
    return function.forms in "cx" and not is_handwritten(function) and signature(function, True) != signature(function, False)


def generic(prefix, function):
    """The procedures of one name, and the one with the suffix _x."""
    if function.forms == "x":
        return generic_of(prefix, function) + ["  interface", *procedure(prefix, function, True, "_x"), "  end interface"]
    return generic_of(prefix, function)


def generic_of(prefix, function):
    suffix = suffix_of(function)
    bodies = procedure(prefix, function, False, suffix)
    if large_differs(function):
        bodies += procedure(prefix, function, True, f"_c{suffix}")
    elif not suffix:
        return ["  interface", *bodies, "  end interface"]
    return [f"  interface {prefix}MPI_{function.name}", *bodies, f"  end interface {prefix}MPI_{function.name}"]


def constants_of(constants):
    own = {"MPI_SUBARRAYS_SUPPORTED": ".true."}
    lines = [f"  {kind}, parameter :: {name} = {own.get(name, value)}" for kind, name, value in FORTRAN_CONSTANTS]
    for c_type, _, entries in constants:
        for name, value in entries:
            if name.startswith("MPI_T_"):  # C only
                continue
            number = int(value, 0) - name.startswith("MPI_MAX_")  # a string in Fortran has no null at its end
            lines.append(f"  type({c_type}), parameter :: {name} = {c_type}({number})" if c_type
                         else f"  integer, parameter :: {name} = {number}")
    for block, kind, declarator in SENTINELS:
        kind, declarator = ("type(MPI_Status)", STATUSES[declarator]) if declarator in STATUSES else (kind, declarator)
        lines += [f"  {kind} :: {declarator}", f"  common /mpi_abi_{block}/ {declarator.partition('(')[0]}"]
    return lines


def types():
    lines = []
    for handle in sorted(HANDLES):
        lines += [f"  type, bind(C) :: {handle}", "    integer(c_int) :: MPI_VAL", f"  end type {handle}"]
    return lines + ["  type, bind(C) :: MPI_Status", "    integer(c_int) :: MPI_SOURCE, MPI_TAG, MPI_ERROR",
                    "    integer(c_int), private :: internal(5)", "  end type MPI_Status"]


def callbacks():
    lines = ["  abstract interface"]
    for name, arguments in CALLBACKS.items():
        lines += continued(f"    subroutine MPI_{name}({', '.join(a for a, _ in arguments)})")
        lines += [*imports(" ".join(kind for _, kind in arguments)), "      implicit none",
                  *(f"      {kind} :: {argument}" for argument, kind in arguments), f"    end subroutine MPI_{name}"]
    return lines + ["  end interface"]


def comparisons():
    """The operators == and /= of handles, and the conversions of statuses."""
    names = [handle.removeprefix("MPI_").lower() for handle in sorted(HANDLES)]
    lines = []
    for operator, word in (("==", "equal"), ("/=", "differ")):
        lines += [f"  interface operator({operator})",
                  *(f"    module procedure {word}_{name}" for name in names), "  end interface"]
        lines += [f"  private :: {word}_{name}" for name in names]
    return lines


def bodies():
    lines = ["contains"]
    for handle in sorted(HANDLES):
        for operator, word in (("==", "equal"), ("/=", "differ")):
            name = f"{word}_{handle.removeprefix('MPI_').lower()}"
            lines += [f"  elemental logical function {name}(one, other)", f"    type({handle}), intent(in) :: one, other",
                      f"    {name} = one%MPI_VAL {operator} other%MPI_VAL", f"  end function {name}"]
    for name, given, made, value in (
            ("f2f08", "integer, intent(in) :: f_status(status_size)", "type(MPI_Status), intent(out) :: f08_status",
             "f08_status = transfer(f_status, f08_status)"),
            ("f082f", "type(MPI_Status), intent(in) :: f08_status", "integer, intent(out) :: f_status(status_size)",
             "f_status = transfer(f08_status, f_status)")):
        order = "f_status, f08_status" if name == "f2f08" else "f08_status, f_status"
        for prefix in ("", "P"):
            lines += [f"  subroutine {prefix}MPI_Status_{name}({order}, ierror)", f"    {given}", f"    {made}", f"    {IERROR}",
                      f"    {value}", "    if (present(ierror)) ierror = success", f"  end subroutine {prefix}MPI_Status_{name}"]
    return lines


def sizeof_types():
    """Names and declarations of the types that MPI_Sizeof takes. Only x86 has reals of 10 bytes."""
    real_kinds = (4, 8, 10, 16) if platform.machine() in ("x86_64", "AMD64", "i686") else (4, 8, 16)
    yield "character", "character(len=*)"
    for kind, kinds in (("integer", (1, 2, 4, 8, 16)), ("logical", (1, 2, 4, 8, 16)), ("real", real_kinds), ("complex", real_kinds)):
        for k in kinds:
            yield f"{kind}{k}", f"{kind}({k})"


def sizeof_interfaces():
    """The generic procedure MPI_Sizeof, which needs no entry point: the compiler knows the size."""
    names = [name for name, _ in sizeof_types()]
    lines = ["  ! For variables of every intrinsic type and of every rank."]
    for prefix in ("", "P"):
        lines += [f"  interface {prefix}MPI_Sizeof", *(f"    module procedure sizeof_{name}" for name in names),
                  f"  end interface {prefix}MPI_Sizeof"]
    return [*lines, *(f"  private :: sizeof_{name}" for name in names)]


def sizeof_bodies():
    lines = []
    for name, declaration in sizeof_types():
        lines += [f"  subroutine sizeof_{name}(x, size, ierror)", f"    {declaration}, dimension(..), intent(in) :: x",
                  "    integer, intent(out) :: size", f"    {IERROR}", "    size = int(storage_size(x)) / 8",
                  "    if (present(ierror)) ierror = success", f"  end subroutine sizeof_{name}"]
    return lines


def types_module():
    return "\n".join(["! The common part of the modules mpi and mpi_f08: the types of handles and statuses, and MPI_Sizeof. So a program",
                      "! unit that uses names of both has one entity of each name.", f"module {TYPES_MODULE}",
                      "  use, intrinsic :: iso_c_binding, only: c_int", "  implicit none", "  private :: c_int",
                      "  integer, parameter, private :: status_size = 8, success = 0", "", *types(), "", *comparisons(), "", *sizeof_interfaces(), "", *bodies(),
                      *sizeof_bodies(),
                      f"end module {TYPES_MODULE}"]) + "\n"


def module(chapters, constants):
    lines = ["! The module mpi_f08: MPI in Fortran with types for handles, over the binary interface of the MPI standard.",
             "! Choice buffers take variables of every type, kind and rank, and array sections.", "module mpi_f08",
             "  use, intrinsic :: iso_c_binding, only: c_ptr", f"  use {TYPES_MODULE}", "  implicit none", "  private :: c_ptr", ""]
    lines += constants_of(constants) + [""]
    lines += [f"  external :: {name}" for name in externals()] + ["", *callbacks(), ""]
    for prefix in ("", "P"):
        for chapter in chapters:
            functions = [f for f in chapter[2] if is_in_fortran(f)]
            if functions:
                lines.append(f"  ! {chapter[1]}{', by the names for profilers' if prefix else ''}")
            for function in functions:
                lines += generic(prefix, function)
    lines += ["  interface", "    subroutine MPI_F_sync_reg(buf)", "      implicit none", "      type(*), dimension(*) :: buf",
              "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf", "    end subroutine MPI_F_sync_reg", "  end interface"]
    return "\n".join(lines) + "\nend module mpi_f08\n"
