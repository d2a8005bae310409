"""The Fortran form of each parameter of a C prototype, and how an entry point passes it on."""

import re

# Functions whose entry points callbacks.cpp, attributes.cpp, generalized.cpp and spawn.cpp have.
HANDWRITTEN = re.compile(r"Op_create|\w+_create_keyval|Keyval_create|\w+_create_errhandler|Grequest_start|Register_datarep"
                         r"|\w+_[gs]et_attr|Attr_get|Attr_put|Comm_spawn(_multiple)?")
# The results of the functions that are functions in Fortran too.
RESULTS = {"double": "double precision", "MPI_Aint": "integer(kind=MPI_ADDRESS_KIND)"}
CALLBACK = "external"
HANDLES = {f"MPI_{name}" for name in ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request",
                                      "Session", "Win")}
KINDS = {"MPI_Aint": "integer(kind=MPI_ADDRESS_KIND)", "MPI_Offset": "integer(kind=MPI_OFFSET_KIND)",
         "MPI_Count": "integer(kind=MPI_COUNT_KIND)", "int": "integer"}
LOGICALS = {"flag", "commute", "reorder", "high", "periods", "remain_dims", "is_set", "weighted"}
# Functions that read the handle whose address they get, and may replace it. Others set it.
CHANGES_HANDLE = re.compile(r"\w+_free|Comm_disconnect|File_close|Session_finalize|Type_commit|Wait|Test|Start|Cancel|Mrecv|Imrecv")
# Operations on windows that have no request. They describe a section by a datatype.
TYPED_SECTIONS = ("Put", "Get", "Accumulate", "Get_accumulate")
# The program fills and reads the partitions of these while they are under way, so a datatype describes a section.
PARTITIONED = ("Psend_init", "Precv_init")
# The library uses the buffers of these after the call, and so gets no copy.
NEEDS_THE_ARRAY = re.compile(r"\w+_(begin|end)|\w*[Aa]ttach(_buffer)?|Win_(create|detach)|Free_mem")
# Where Fortran counts from 1.
COUNTS_FROM_ONE = {"Waitany", "Testany", "Request_get_status_any", "Waitsome", "Testsome", "Request_get_status_some"}
WEIGHTS = {"sourceweights", "destweights", "weights"}
# How many elements an array of handles has; `count` or `incount` for all others.
ARRAY_SIZES = {("Type_get_contents", "array_of_datatypes"): "*max_datatypes"}
# The room for the text that a function returns, with the null at the end.
ROOM = {"Get_library_version": "MPI_MAX_LIBRARY_VERSION_STRING", "Get_processor_name": "MPI_MAX_PROCESSOR_NAME",
        "Error_string": "MPI_MAX_ERROR_STRING", "Info_get_nthkey": "MPI_MAX_INFO_KEY", "File_get_view": "MPI_MAX_DATAREP_STRING",
        "Open_port": "MPI_MAX_PORT_NAME", "Lookup_name": "MPI_MAX_PORT_NAME", "Info_get": "room(*valuelen)",
        "Info_get_string": "room(*buflen)", "Session_get_nth_pset": "room(*pset_len)"}


def is_in_fortran(function):
    return not (function.is_tool or re.search(r"_(c|toint|fromint)$", function.name))


def is_handwritten(function):
    return HANDWRITTEN.fullmatch(function.name) is not None


class Argument:
    """One argument. `name` is empty where Fortran has none; `expression` is what the C function gets. `f08` is its
    declaration in the module mpi_f08, by default that of the module mpi, `fortran`. `is_c_pointer_out` marks an
    address that only mpi_f08 can return."""

    def __init__(self, name, fortran="", parameter="", expression="", is_choice=False, is_string=False, f08=None,
                 is_c_pointer_out=False):
        self.name, self.fortran, self.parameter, self.expression = name, fortran, parameter, expression
        self.is_choice, self.is_string, self.is_c_pointer_out = is_choice, is_string, is_c_pointer_out
        self.f08 = fortran if f08 is None else f08


def arguments_of(function, large):
    return [argument(function, p, large) for p in function.parameters if not p.variadic]


def takes_sections(function):
    """Whether the module mpi_f08 gives the function array sections as they are. The others get a copy that the compiler
    makes for the time of the call: they need the data no longer, or only contiguous arrays make sense."""
    return any(a.is_choice for a in arguments_of(function, False)) and not is_handwritten(function) and \
        (any(p.type == "MPI_Request*" and not p.dimensions for p in function.parameters) or
         function.name in (*TYPED_SECTIONS, "Get_address"))


def has_buffers(function):
    """Whether the function has arguments that take variables of every type. Those that return an address have none."""
    choices = [a for a in arguments_of(function, False) if a.is_choice]
    return bool(choices) and not is_handwritten(function) and not any("c_ptr" in (a.f08 or "") for a in choices)


def section_arguments(function, large):
    """The arguments of arguments_of() for a function that takes sections."""
    arguments = arguments_of(function, large)
    for a in arguments:
        if not a.is_choice:
            a.expression = a.expression.replace("sent(sendbuf)", "sent(sendbuf->base_addr)")
            continue
        is_input = a.parameter.startswith("const ")
        a.parameter, a.f08 = f"Description* {a.name}", "type(*), dimension(..), asynchronous"
        if function.name == "Get_address" or NEEDS_THE_ARRAY.fullmatch(function.name):
            a.expression = f"c_buffer({a.name}->base_addr)"
        elif function.name in TYPED_SECTIONS and a.name != "compare_addr":
            side = a.name.removesuffix("_addr")
            a.expression = f"{side}.address()"
            for b in arguments:
                if b.name == f"{side}_count":
                    b.expression = f"{side}.count()"
                elif b.name == f"{side}_datatype":
                    b.expression = f"{side}.type()"
        elif function.name in PARTITIONED:
            a.expression = f"c_buffer({a.name}->base_addr)"
        else:
            a.expression = f"staged.place({a.name}, {'false' if is_input else 'true'})"
    return arguments


def argument(function, p, large):
    c_type = p.c_type(large)
    base = c_type.replace("const ", "").rstrip("*")
    is_const, is_array = c_type.startswith("const "), p.dimensions != ""
    if p.name in ("argc", "argv") and function.name.startswith(("Init", "Info_create_env")):
        return Argument("", expression="0" if c_type == "int" else "nullptr")
    if "_function" in c_type:
        return Argument(p.name, CALLBACK)
    if base == "void":
        return pointer(function, p, is_const)
    if base == "char":
        return text(function, p, is_const, is_array)
    if base == "MPI_Status":
        shape = "MPI_STATUS_SIZE, *" if is_array else "MPI_STATUS_SIZE"
        intent = f"intent({'in' if is_const else 'inout'})"
        return Argument(p.name, f"integer, dimension({shape}), {intent}", f"MPI_Fint* {p.name}", f"c_status({p.name})",
                        f08=f"type(MPI_Status){', dimension(*)' if is_array else ''}, {intent}")
    if base in HANDLES:
        return handle(function, p, base, is_const, is_array, "*" in c_type)
    return number(function, p, base, is_const, is_array, "*" in c_type)


def pointer(function, p, is_const):
    address = KINDS["MPI_Aint"]
    if p.name == "extra_state":
        return Argument(p.name, f"{address}, intent(in)" if function.name != "Keyval_create" else "integer, intent(in)")
    if p.name == "attribute_val":
        old = function.name.startswith("Attr_")
        return Argument(p.name, f"{'integer' if old else address}, intent({'inout' if 'get' in function.name else 'in'})")
    choice = "type(*), dimension(*)"
    if p.name == "buffer_addr":  # Fortran cannot return it, so the standard says that it is not used
        return Argument(p.name, choice, "void* /*buffer_addr*/", "UnusedPointer{}", is_choice=True,
                        f08="type(c_ptr), intent(inout)", is_c_pointer_out=True)
    if p.name == "baseptr":
        return Argument(p.name, choice, f"void* {p.name}", p.name, is_choice=True, f08="type(c_ptr), intent(inout)")
    return Argument(p.name, choice, f"{'const ' if is_const else ''}void* {p.name}", f"c_buffer({p.name})", is_choice=True)


def text(function, p, is_const, is_array):
    if "array" in p.name or p.name == "argv":
        shape = "count, *" if p.name == "array_of_argv" else "*"
        return Argument(p.name, f"character(len=*), dimension({shape}), intent(in)")
    if is_const:
        strip = "InfoText" if function.name.startswith("Info_") else "Text"
        return Argument(p.name, "character(len=*), intent(in)", f"const char* {p.name}", f"{strip}({p.name}, {p.name}_length)",
                        is_string=True)
    room = ROOM.get(function.name, "MPI_MAX_OBJECT_NAME")
    return Argument(p.name, "character(len=*), intent(inout)", f"char* {p.name}", f"TextOut({p.name}, {p.name}_length, {room})",
                    is_string=True)


def array_size(function, p):
    if (function.name, p.name) in ARRAY_SIZES:
        return ARRAY_SIZES[function.name, p.name]
    if "lltoallw" in function.name:
        side = "sent" if p.name == "sendtypes" else "received"
        where = "Neighbors" if "eighbor" in function.name else "Peers"
        return f"{where}(comm).{side}(sendbuf)" if side == "sent" else f"{where}(comm).{side}()"
    return next(f"*{q.name}" for q in function.parameters if q.name in ("count", "incount"))


def handle(function, p, base, is_const, is_array, is_pointer):
    if is_array:
        kind = "HandlesIn" if is_const else "HandlesOut" if function.name == "Type_get_contents" else "HandlesInOut"
        shape = f"dimension(*), intent({'in' if is_const else 'inout'})"
        return Argument(p.name, f"integer, {shape}", f"{'const ' if is_const else ''}MPI_Fint* {p.name}",
                        f"{kind}<{base}>({p.name}, {array_size(function, p)})", f08=f"type({base}), {shape}")
    if is_pointer:
        changes = CHANGES_HANDLE.fullmatch(function.name) is not None and p.name != "newcomm" and \
            not (function.name == "Imrecv" and p.name == "request")
        return Argument(p.name, "integer, intent(inout)", f"MPI_Fint* {p.name}",
                        f"{'HandleInOut' if changes else 'HandleOut'}<{base}>({p.name})", f08=f"type({base}), intent(inout)")
    return Argument(p.name, "integer, intent(in)", f"const MPI_Fint* {p.name}", f"handle<{base}>(*{p.name})",
                    f08=f"type({base}), intent(in)")


def number(function, p, base, is_const, is_array, is_pointer):
    kind = "logical" if p.name in LOGICALS else KINDS[base]
    c_name = {"int": "MPI_Fint"}.get(base, base)
    if not is_array and not is_pointer:
        return Argument(p.name, f"{kind}, intent(in)", f"const {c_name}* {p.name}", f"*{p.name}")
    shape = ", dimension(3, *)" if p.dimensions == "[][3]" else ", dimension(*)" if is_array else ""
    is_input = is_const or p.dimensions == "[][3]"
    expression = p.name
    if p.dimensions == "[][3]":
        expression = f"triples({p.name})"
    elif p.name in WEIGHTS:
        expression = f"c_weights({p.name})"
    elif p.name == "array_of_errcodes":
        expression = f"c_errcodes({p.name})"
    elif function.name in COUNTS_FROM_ONE and p.name == "index":
        expression = f"IndexOut({p.name})"
    elif function.name in COUNTS_FROM_ONE and p.name == "array_of_indices":
        expression = f"IndicesOut({p.name}, outcount)"
    elif p.name in LOGICALS and not is_array:
        expression = f"LogicalOut({p.name})"
    elif p.name in ("buflen", "pset_len") and is_pointer:
        expression = f"LengthInOut({p.name})"
    constness = "const " if is_input and p.dimensions != "[][3]" else ""
    return Argument(p.name, f"{kind}{shape}, intent({'in' if is_input else 'inout'})", f"{constness}{c_name}* {p.name}", expression)
