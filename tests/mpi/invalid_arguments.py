#!/usr/bin/env python3
"""Writes a C program that calls each function of MPI with each of its arguments made invalid in turn, for a job of one.

usage: invalid_arguments.py TABLES_FOLDER OUTPUT_FOLDER

TABLES_FOLDER holds functions.txt and generate.py, which reads it. The other arguments of a call are valid, so the call has
to find the one that is not: it returns the error class of that argument, and neither crashes nor waits.
invalid_arguments.h has the values.
"""

import importlib.util
import pathlib
import re
import sys

# Calls that end or begin the job, that return no error code, or that have nothing that could be checked.
LEFT_OUT = re.compile(r"T_\w+|Init|Init_thread|Finalize|Abort|Pcontrol|\w+_toint|\w+_fromint|Aint_\w+|Wt\w+|Comm_disconnect|Comm_spawn_multiple"
                      r"|Session_finalize|Info_create_env|Abi_set_fortran_info|Error_\w+|Add_\w+|Remove_\w+|\w+_call_errhandler"
                      r"|Status_set_\w+")
# The arguments of these may be null, whatever their names say: (function, parameter).
NULL_IS_VALID = {("Comm_get_name", "comm"), ("Type_get_name", "datatype"), ("Win_get_name", "win"),
                 ("File_set_errhandler", "file"), ("File_get_errhandler", "file"),
                 ("Request_get_status", "request"), ("Parrived", "request"), ("Session_get_nth_pset", "pset_name"), ("Info_get_string", "value"),
                 # The counts are 0, and 0 elements need no datatype.
                 ("Neighbor_allgatherv", "recvtype"), ("Neighbor_alltoallv", "sendtype"), ("Neighbor_alltoallv", "recvtype"),
                 # No entry of these is read.
                 ("Graph_create", "edges"), ("Graph_map", "edges"), ("Dist_graph_create_adjacent", "sources"),
                 ("Dist_graph_create_adjacent", "destinations"), ("Dist_graph_create", "destinations")}
# The call fails by its valid arguments too, because a job of one has no such object: another class is as right.
OTHER_CLASSES = {"Comm_remote_size": "MPI_ERR_COMM", "Comm_remote_group": "MPI_ERR_COMM", "Intercomm_merge": "MPI_ERR_COMM",
                 "Parrived": "MPI_ERR_REQUEST", "Pready_list": "MPI_ERR_REQUEST", "Win_start": "MPI_ERR_RMA_SYNC",
                 "Type_get_contents": "MPI_ERR_TYPE", "Type_get_contents_c": "MPI_ERR_TYPE",
                 "Intercomm_create": "MPI_ERR_RANK", "Cart_create": "MPI_ERR_DIMS"}
# Nothing is wrong with a null pointer or handle there.
MAY_BE_NULL = re.compile(r"status|statuses|array_of_statuses|info|extra_state|base|baseptr|buffer|location|\w*buf|\w+_addr"
                         r"|sourceweights|destweights|weights|\w+_fn|attribute_val\w*|result|argv|array_of_errcodes")
HANDLE_CLASSES = {"MPI_Comm": "MPI_ERR_COMM", "MPI_Datatype": "MPI_ERR_TYPE", "MPI_Op": "MPI_ERR_OP",
                  "MPI_Group": "MPI_ERR_GROUP", "MPI_Win": "MPI_ERR_WIN", "MPI_Errhandler": "MPI_ERR_ERRHANDLER",
                  "MPI_Request": "MPI_ERR_REQUEST", "MPI_Session": "MPI_ERR_SESSION", "MPI_Message": "MPI_ERR_REQUEST",
                  "MPI_Info": "MPI_ERR_INFO", "MPI_File": "MPI_ERR_FILE"}
NULLS = {c_type: f"{c_type.upper()}_NULL" for c_type in HANDLE_CLASSES}
HANDLES_BY_VALUE = {"MPI_Comm": "MPI_COMM_WORLD", "MPI_Datatype": "MPI_INT", "MPI_Op": "MPI_SUM", "MPI_Group": "valid.group",
                    "MPI_Win": "valid.win", "MPI_Errhandler": "MPI_ERRORS_RETURN", "MPI_Request": "valid.request",
                    "MPI_Session": "valid.session", "MPI_Message": "MPI_MESSAGE_NULL", "MPI_Info": "valid.info",
                    "MPI_File": "valid.file"}
COUNTS = re.compile(r"count|\w*sendcount|\w*recvcount|incount|outcount|origin_count|target_count|result_count")
RANKS = {"dest", "source", "target_rank"}
# Valid numbers by the names of parameters; 1 for those that ONES matches, and 0 for all others.
NUMBERS = {"order": "MPI_ORDER_C", "lock_type": "MPI_LOCK_SHARED", "typeclass": "MPI_TYPECLASS_REAL", "size": "8",
           "disp_unit": "1", "split_type": "MPI_COMM_TYPE_SHARED"}
ONES = re.compile(r"n|ndims|maxdims|partitions|blocklength|max")


def tables_reader(folder):
    spec = importlib.util.spec_from_file_location("mpi_tables", folder / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kind_of_call(function):
    """A word by which invalid_arguments.h chooses among valid values of one type."""
    if re.match(r"Cart_(?!create|map)|Cartdim|I?[Nn]eighbor", function.name):
        return "grid"
    if re.match(r"Graph_(?!create|map)|Graphdims", function.name):
        return "graph"
    if re.match(r"Dist_graph_neighbors", function.name):
        return "dist_graph"
    return "any"


def valid(function, p, large):
    """A valid value of a parameter."""
    c_type = p.c_type(large)
    base = c_type.replace("const ", "").rstrip("*").strip()
    if p.name == "comm" and c_type == "MPI_Comm":
        return f"valid.{kind_of_call(function)}"
    if "_function" in base:
        return f"({base}*)valid_function"
    if p.name == "argv":
        return "MPI_ARGV_NULL"
    if c_type in HANDLES_BY_VALUE and not p.dimensions:
        return HANDLES_BY_VALUE[c_type]
    if "*" in c_type or p.dimensions:
        if base == "char":
            return "valid_text" if c_type.startswith("const") else "valid_room"
        if base in HANDLE_CLASSES and p.dimensions:
            return f"fresh_{base}s()"
        if base in HANDLE_CLASSES:
            return f"fresh_{base}()"
        if base == "MPI_Status":
            return "valid_statuses"
        if base == "void":
            return "valid_memory[0]" if p.name in ("sendbuf", "inbuf", "origin_addr", "compare_addr") else "valid_memory[1]"
        return f"({c_type.replace('const ', '').rstrip('*') or base}*)valid_numbers[{0 if c_type.startswith('const') else 1}]" \
            if p.dimensions != "[][3]" else "valid_triples"
    if p.name in NUMBERS:
        return NUMBERS[p.name]
    if p.name.endswith("keyval"):
        return f"valid_key({function.name[0]!r})"
    return "1" if COUNTS.fullmatch(p.name) or ONES.match(p.name) else "0"


def invalid(function, p, large):
    """Invalid values of a parameter: (value, text, error class)."""
    c_type = p.c_type(large)
    base = c_type.replace("const ", "").rstrip("*").strip()
    if MAY_BE_NULL.fullmatch(p.name) and not (p.name == "info" and function.name.startswith("Info_")) and c_type != "MPI_Info*":
        return
    if base in HANDLE_CLASSES and p.dimensions:
        if not p.name.endswith("types"):
            yield "NULL", "null pointer", f"MPI_ERR_ARG|{HANDLE_CLASSES[base]}"
        return
    if c_type in HANDLE_CLASSES:
        if c_type == "MPI_Errhandler" and function.name == "Session_init":
            return
        yield NULLS[c_type], "null", HANDLE_CLASSES[c_type]
        yield f"freed_{c_type}", "freed", HANDLE_CLASSES[c_type]
        return
    if base in HANDLE_CLASSES and "*" in c_type and not p.dimensions:
        yield "NULL", "null pointer", "MPI_ERR_ARG"
        if function.name.endswith(("_free", "_commit", "File_close")) and base != "MPI_Session":
            yield f"place_of_{base}({NULLS[base]})", "pointer to null", HANDLE_CLASSES[base]
            yield f"place_of_{base}(freed_{base})", "pointer to freed", HANDLE_CLASSES[base]
        return
    if "*" in c_type and not p.dimensions and not c_type.startswith("const"):
        yield f"({c_type})NULL", "null pointer", "MPI_ERR_ARG"
        if p.name.endswith("keyval") and "free" in function.name.lower():
            yield "place_of_key(MPI_KEYVAL_INVALID)", "pointer to none", "MPI_ERR_KEYVAL"
            yield "place_of_key(freed_key)", "pointer to freed", "MPI_ERR_KEYVAL"
            yield "place_of_key(MPI_TAG_UB)", "pointer to a predefined key", "MPI_ERR_KEYVAL"
        return
    if c_type.startswith("const char"):
        of_info = function.name.startswith("Info_")
        yield "NULL", "null pointer", "MPI_ERR_ARG|MPI_ERR_INFO_KEY|MPI_ERR_INFO_VALUE" if of_info else "MPI_ERR_ARG"
        return
    if p.dimensions:
        yield "NULL", "null pointer", "MPI_ERR_ARG"
        return
    if "*" in c_type:
        return
    if p.name.endswith("keyval"):
        yield "MPI_KEYVAL_INVALID", "none", "MPI_ERR_KEYVAL"
        yield "0x7fffff00", "unknown", "MPI_ERR_KEYVAL"
    elif COUNTS.fullmatch(p.name):
        yield "-1", "negative", "MPI_ERR_COUNT"
    elif p.name in RANKS:
        yield "1", "one too many", "MPI_ERR_RANK"
        yield "-77", "negative", "MPI_ERR_RANK"
    elif p.name == "root":
        yield "1", "one too many", "MPI_ERR_ROOT"
        yield "-77", "negative", "MPI_ERR_ROOT"
    elif p.name in ("tag", "sendtag", "recvtag"):
        yield "-77", "negative", "MPI_ERR_TAG"


def cases(function, suffix, large):
    parameters = [p for p in function.parameters if not p.variadic]
    for bad in parameters:
        for value, text, expected in invalid(function, bad, large):
            if (function.name, bad.name) in NULL_IS_VALID and text.startswith("null"):
                continue
            if function.name in OTHER_CLASSES:
                expected += "|" + OTHER_CLASSES[function.name]
            arguments = [value if p is bad else valid(function, p, large) for p in parameters]
            accepted = " || ".join(f"found == {one}" for one in expected.split("|"))
            yield (f'  CASE("MPI_{function.name}{suffix}: {bad.name}: {text}", "{expected}", {accepted},\n'
                   f"       MPI_{function.name}{suffix}({', '.join(arguments)}));")


def main():
    tables_folder, output = map(pathlib.Path, sys.argv[1:])
    tables = tables_reader(tables_folder)
    lines = ["/* Each function of MPI with each argument made invalid in turn. */", '#include "invalid_arguments.h"', ""]
    names = []
    for _, _, functions in tables.read_functions(tables_folder / "functions.txt"):
        for function in functions:
            if function.result != "int" or LEFT_OUT.fullmatch(function.name):
                continue
            body = [case for suffix, large in tables.FORMS[function.forms] for case in cases(function, suffix, large)]
            if body:
                names.append(function.name)
                lines += [f"static void check_{function.name}(void) {{", *body, "}", ""]
    lines += ["static void check_all(void) {", *(f"  check_{name}();" for name in names), "}"]
    if len(names) < 250:
        sys.exit(f"this generator no longer finds the functions: {len(names)}")
    tables.write(output / "invalid_arguments.c", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
