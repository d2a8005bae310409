"""The constants of MPI's Fortran interface, as lines that are valid in fixed and in free form."""

# The constants that only Fortran has, or has with another value than C.
FORTRAN_CONSTANTS = [
    ("integer", "MPI_VERSION", "5"), ("integer", "MPI_SUBVERSION", "0"),
    ("integer", "MPI_ABI_VERSION", "1"), ("integer", "MPI_ABI_SUBVERSION", "0"),
    ("integer", "MPI_STATUS_SIZE", "8"), ("integer", "MPI_SOURCE", "1"), ("integer", "MPI_TAG", "2"),
    ("integer", "MPI_ERROR", "3"),
    ("integer", "MPI_ADDRESS_KIND", "8"), ("integer", "MPI_OFFSET_KIND", "8"), ("integer", "MPI_COUNT_KIND", "8"),
    ("integer", "MPI_INTEGER_KIND", "4"),
    ("logical", "MPI_SUBARRAYS_SUPPORTED", ".false."), ("logical", "MPI_ASYNC_PROTECTS_NONBLOCKING", ".false."),
    ("integer(kind=MPI_OFFSET_KIND)", "MPI_DISPLACEMENT_CURRENT", "-1"),
]
# The variables whose addresses have a meaning, each in a common block of its own (sentinels.hpp).
SENTINELS = [
    ("bottom", "integer", "MPI_BOTTOM"), ("in_place", "integer", "MPI_IN_PLACE"),
    ("buffer_automatic", "integer", "MPI_BUFFER_AUTOMATIC"),
    ("status_ignore", "integer", "MPI_STATUS_IGNORE(MPI_STATUS_SIZE)"),
    ("statuses_ignore", "integer", "MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)"),
    ("errcodes_ignore", "integer", "MPI_ERRCODES_IGNORE(1)"),
    ("unweighted", "integer", "MPI_UNWEIGHTED(1)"), ("weights_empty", "integer", "MPI_WEIGHTS_EMPTY(1)"),
    ("argv_null", "character(len=1)", "MPI_ARGV_NULL(1)"), ("argvs_null", "character(len=1)", "MPI_ARGVS_NULL(1,1)"),
]


def externals():
    """The procedures that stand for a function, and are seldom called (attributes.cpp)."""
    for kind in ("COMM_", "TYPE_", "WIN_", ""):
        for name in ("NULL_COPY_FN", "NULL_DELETE_FN", "DUP_FN"):
            yield f"MPI_{kind}{name}"
    yield "MPI_CONVERSION_FN_NULL"


def constant(fortran_type, name, value):
    return [f"{fortran_type} {name}", f"parameter ({name}={value})"]


def header_lines(constants):
    """The statements from column 1, each in one line of at most 66 columns."""
    lines = []
    for fortran_type, name, value in FORTRAN_CONSTANTS:
        lines += constant(fortran_type, name, value)
    for _, title, entries in constants:
        for name, value in entries:
            if name.startswith("MPI_T_"):  # C only
                continue
            # A string in Fortran has no null at its end.
            lines += constant("integer", name, int(value, 0) - name.startswith("MPI_MAX_"))
    for block, fortran_type, declarator in SENTINELS:
        lines += [f"{fortran_type} {declarator}", f"common /mpi_abi_{block}/ {declarator.partition('(')[0]}"]
    too_long = [line for line in lines if len(line) > 66]
    assert not too_long, too_long
    return lines


def free_form(lines):
    return [f"  {line}" for line in lines]
