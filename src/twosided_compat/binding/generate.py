#!/usr/bin/env python3
"""Writes what the tables of this folder say: the header mpi.h, the declarations calls.hpp, and the entry points.

usage: generate.py SOURCE_FOLDER OUTPUT_FOLDER HEADER_FOLDER

SOURCE_FOLDER holds functions.txt, constants.txt and mpi.h.in. HEADER_FOLDER gets mpi.h. OUTPUT_FOLDER gets
twosided_compat/calls.hpp, numbers.hpp, error_classes.inc, predefined_types.inc, collective_forms.cpp and
forwarders.cpp and, for each chapter of functions.txt, entries/CHAPTER.cpp. A file whose text is as it was
stays untouched, so that a change of the table recompiles one chapter only.
"""

import pathlib
import re
import sys
import textwrap

CHAPTER = re.compile(r"\[(\w+)\] (.*)$")
FUNCTION = re.compile(r"([-+*])([.cx])([.e]) (.*?) ?MPI_(\w+)\((.*)\)$")
# For each mark, the suffixes of the forms, and whether they count in MPI_Count.
FORMS = {".": [("", False)], "c": [("", False), ("_c", True)], "x": [("", False), ("_c", True), ("_x", True)]}
# The meanings of a word of the table, in the plain form and in the large form.
WORDS = {"Count": ("int", "MPI_Count"), "InOutCount": ("int", "MPI_Count"), "Disp": ("int", "MPI_Aint"),
         "Size": ("MPI_Aint", "MPI_Count")}
VIEWS = {"Count": "Counts", "Disp": "Displacements", "Size": "Displacements"}
# The handles that have error handlers.
OWNERS = ("MPI_Comm", "MPI_Win", "MPI_File", "MPI_Session")
# These functions get the handle by a pointer and make it null; other such pointers are outputs.
FREES_OWNER = ("Comm_free", "Comm_disconnect", "Win_free", "File_close", "Session_finalize")
# These functions make an object and are told how to report errors.
GIVEN_ERRHANDLER = ("Session_init", "Comm_create_from_group", "Intercomm_create_from_groups")
# These functions make a datatype, which remembers whether its arguments were those of the plain or the large
# form.
KNOWS_FORM = re.compile(r"Type_(contiguous|vector|indexed|create_(hvector|hindexed|indexed_block|hindexed_block|struct|subarray"
                        r"|darray|resized))")
# The null handles of the objects that functions make. A function that fails makes the handle null.
MADE = {"MPI_Comm": "MPI_COMM_NULL", "MPI_Group": "MPI_GROUP_NULL", "MPI_Datatype": "MPI_DATATYPE_NULL",
        "MPI_Op": "MPI_OP_NULL", "MPI_Win": "MPI_WIN_NULL", "MPI_File": "MPI_FILE_NULL", "MPI_Info": "MPI_INFO_NULL",
        "MPI_Errhandler": "MPI_ERRHANDLER_NULL", "MPI_Session": "MPI_SESSION_NULL", "MPI_Request": "MPI_REQUEST_NULL"}
# These functions get a handle by a pointer, and make none.
MAKES_NO_OBJECT = re.compile(r"\w+_(free|disconnect|finalize|commit|close)")
# For these arrays programs also pass MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, where nothing lies. gcc takes
# `int weights[]` as a promise that an int does, and warns of such calls. So mpi.h has a pointer there, which is
# the same type.
MAY_BE_NO_ARRAY = re.compile(r"(source|dest)?weights")
# Of the functions that make a request, these make it null: not those that are called most.
MAKES_REQUEST = re.compile(
    r"\w+_init|Comm_idup\w*|I(all|barrier|bcast|exscan|gather|neighbor|reduce|scan|scatter)\w*")
# The pointers that an entry refuses if they are null: to a handle or a number that the function stores. The functions
# of these chapters check theirs themselves, because they are called most.
PLACE = re.compile(r"(int|MPI_(Aint|Count)|" + "|".join([*MADE, *WORDS]) + r")\*$")
CHECKS_ITSELF = ("point_to_point", "partitioned", "collectives")
MAY_BE_NULL = ("argc",)
# The functions with short ways, which they try in this order: x_y(arguments) of the file that has them, for the way x
# and the function y, does the whole call and returns true if it is one of the usual ones. Otherwise it does nothing.
SHORT_WAYS = {"Send": ("inlined", "short"), "Isend": ("inlined", "short"), "Recv": ("short",), "Irecv": ("inlined",),
              "Wait": ("inlined", "short"), "Test": ("short",), "Iprobe": ("short",),
              "Put": ("inlined",), "Get": ("inlined",)}
SHORT_WAYS_OF_WINDOWS = ("Put", "Get")
# Those whose inlined way may end by a call of another function, and stores its result.
STORES_RESULT = ("Irecv", "Wait")
# A call passes so many arguments in registers, and the others on the stack (x86-64).
ARGUMENTS_IN_REGISTERS = 6
# Families of functions that only call one other function. {0}, {1}, ... are the parameters, {all} all of
# them, {name} is the function's name, {kind} the object in it, {handle} the type of the object's handle, and
# {find} what finds it.
FORWARDERS = [
    (r"\w+_toint", "number_of({0}, {null})"),
    (r"\w+_fromint", "handle_of({0}, {null})"),
    (r"(\w+)_create_errhandler", "create_handler(Kind::k{kind}, {{.{lower} = {0}}}, {1})"),
    (r"(\w+)_set_errhandler", "set_handler(find<ErrorHandlerOwner>({0}), {1}, MPI_ERR_{upper})"),
    (r"(\w+)_get_errhandler", "get_handler(find<ErrorHandlerOwner>({0}), {1}, MPI_ERR_{upper})"),
    (r"(\w+)_call_errhandler", 'call_handler({0}, {1}, MPI_ERR_{upper}, "MPI_{name}")'),
    (r"\w+_create_keyval", "create_key<{handle}>({all})"),
    (r"(\w+)_free_keyval", "free_key<{handle}>({all})"),
    (r"(\w+)_set_attr", "set_attribute({find}, {all})"),
    (r"(\w+)_delete_attr", "delete_attribute({find}, {all})"),
    (r"Attr_put", "comm_set_attr({all})"),
    (r"Attr_get", "comm_get_attr({all})"),
    (r"Attr_delete", "comm_delete_attr({all})"),
    (r"Keyval_create", "comm_create_keyval({all})"),
    (r"Keyval_free", "comm_free_keyval({all})"),
    # A ready send may do what a standard send does. Send and Ssend are not here, because they are compiled each for
    # its mode.
    (r"Rsend", "send({all})"),
    (r"I(s|rs)end", "begin_send(Mode::kStandard, {all})"),
    (r"Issend", "begin_send(Mode::kSynchronous, {all})"),
    (r"Irecv", "begin_receive({all})"),
    (r"(S|Rs)end_init", "make_send(Mode::kStandard, {all})"),
    (r"Ssend_init", "make_send(Mode::kSynchronous, {all})"),
    # MPI_T has no sources, events, categories and enumerations: all numbers of them are 0, and every index
    # is wrong.
    (r"T_(source|event|category)_get_num|T_category_changed", "give_number({0}, 0)"),
    (r"T_(event|category)_get_index", "no_such_name({0})"),
    (r"T_(source_\w+|event_get_info|event_handle_alloc|category_\w+)",
     "initialized_or(MPI_T_ERR_INVALID_INDEX)"),
    (r"T_(event|enum)_\w+", "initialized_or(MPI_T_ERR_INVALID_HANDLE)"),
]
OBJECTS = {"Comm": ("MPI_Comm", "find_communicator"), "Type": ("MPI_Datatype", "find_datatype"),
           "Win": ("MPI_Win", "find_window")}
# The headers that declare what they call.
FORWARDED = ("calls", "communicators/communicator", "datatypes/datatypes", "messages/sends",
             "objects/attributes", "objects/conversions", "objects/error_handlers", "tool/tool", "windows/window")
# These functions report errors by the handler that MPI_FILE_NULL has.
BY_FILE_NULL = ("File_open", "File_delete", "Register_datarep", "Register_datarep_c")


class Parameter:
    """One parameter of a prototype: `const Count counts[]` has the word Count, the dimensions [] and the name counts."""

    def __init__(self, text):
        self.variadic = text == "..."
        declarator, bracket, self.dimensions = text.partition("[")
        self.dimensions = bracket + self.dimensions
        self.type, _, self.name = declarator.rpartition(" ")
        self.word = next((word for word in WORDS if re.search(rf"\b{word}\b", self.type)), None)

    @property
    def is_output(self):
        """Whether the plain form has an int there that the large form has as a wider integer."""
        return self.word not in (None, "Size") and "*" in self.type

    def c_type(self, large):
        return re.sub(rf"\b{self.word}\b", WORDS[self.word][large], self.type) if self.word else self.type

    def declaration(self, large, name=True):
        if self.variadic:
            return "..."
        dimensions = self.dimensions
        c_type = self.c_type(large)
        if MAY_BE_NO_ARRAY.fullmatch(self.name):
            dimensions, c_type = "", c_type + "*"
        return c_type + (f" {self.name}" if name else " " if dimensions else "") + dimensions

    def internal(self, name=True):
        """The declaration in namespace librma::mpi."""
        if self.word and self.dimensions:
            return f"{VIEWS[self.word]} {self.name}" if name else VIEWS[self.word]
        return self.declaration(True, name).rstrip()


class Function:
    def __init__(self, match):
        _, self.forms, any_time, self.result, self.name, parameters = match
        self.any_time = any_time == "e"
        self.parameters = [] if parameters == "void" else [Parameter(text) for text in parameters.split(", ")]

    @property
    def knows_form(self):
        return KNOWS_FORM.fullmatch(self.name) is not None

    def places(self):
        """The parameters that must not be null."""
        return [p for p in self.parameters
                if PLACE.match(p.type) and not p.dimensions and p.name not in MAY_BE_NULL]

    def made(self):
        """The parameters that get the handles of new objects."""
        if MAKES_NO_OBJECT.fullmatch(self.name):
            return []
        made = [p for p in self.parameters if p.type.endswith("*") and p.type[:-1] in MADE and not p.dimensions]
        return [p for p in made if p.type != "MPI_Request*" or MAKES_REQUEST.fullmatch(self.name)]

    @property
    def is_tool(self):
        return self.name.startswith("T_")

    def internal_name(self):
        return self.name.lower()

    def prototype(self, prefix, suffix, large):
        parameters = ", ".join(parameter.declaration(large) for parameter in self.parameters)
        return f"{self.result} {prefix}MPI_{self.name}{suffix}({parameters or 'void'})"

    def owner(self):
        """The parameter whose error handler is invoked, and an expression of it."""
        if self.name in BY_FILE_NULL:
            return None, "MPI_FILE_NULL"
        for parameter in self.parameters:
            given = parameter.type == "MPI_Errhandler" and self.name in GIVEN_ERRHANDLER
            freed = parameter.type.rstrip("*") in OWNERS and self.name in FREES_OWNER
            if given or freed or parameter.type in OWNERS:
                return parameter, parameter.name
        return None, "NoOwner{}"


def read_functions(path):
    """The chapters in their order: (name, title, functions)."""
    chapters = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if match := CHAPTER.match(line):
            chapters.append((match[1], match[2], []))
        elif match := FUNCTION.match(line):
            chapters[-1][2].append(Function(match.groups()))
            if match[1] == "*":
                forms = ((f"I{match[5].lower()}", ""), (f"{match[5]}_init", ", MPI_Info info"))
                chapters[-1][2].extend(Function((*match.groups()[:4], name, f"{match[6]}{info}, MPI_Request* request"))
                                       for name, info in forms)
        else:
            sys.exit(f"{path}:{number}: neither a chapter nor a function: {line}")
    return chapters


def read_constants(path):
    """The groups in their order: (C type or "", title, [(name, value)])."""
    groups, values = [], {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\[(\w*)\] ?(.*)$", line):
            groups.append((match[1], match[2], []))
        elif line and not line.startswith("#"):
            name, value = line.split()[:2]
            value = values[name] = values.get(value, value)
            groups[-1][2].append((name if name.startswith("MPIX_") else f"MPI_{name}", value))
    return groups


def read_descriptions(path):
    """What stands behind the numbers: {name: (value, description)}."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = (line.split(maxsplit=2) for line in lines if line[:1].isalnum())
    return {row[0]: (row[1], row[2]) for row in rows if len(row) == 3}


def personality(template, name):
    """The text without the parts between `@if OTHERS` and the next `@if` or `@end`, where `name` is none of OTHERS."""
    kept, lines = True, []
    for line in template.splitlines(keepends=True):
        if match := re.match(r"@(?:if ([\w ]+)|end)$", line):
            kept = match[1] is None or name in match[1].split()
        elif kept:
            lines.append(line)
    return "".join(lines)


def wrapped(text):
    """A prototype in lines of at most 110 columns."""
    return "\n".join(textwrap.wrap(text, 110, subsequent_indent="    ", break_long_words=False))


def header(template, chapters, constants):
    handles, numbers = [], []
    for c_type, title, entries in constants:
        group = handles if c_type else numbers
        if title:
            group.append(f"/* {title} */")
        for name, value in entries:
            text = f"(({c_type}){value})" if c_type else f"({value})" if value[0] == "-" else value
            group.append(f"#define {name} {text}")
        group.append("")
    prototypes = []
    for prefix in ("", "P"):
        for _, title, functions in chapters:
            prototypes.append(f"/* {title}{', by the names for profilers' if prefix else ''} */")
            prototypes += [wrapped(function.prototype(prefix, suffix, large) + ";")
                           for function in functions for suffix, large in FORMS[function.forms]]
            prototypes.append("")
    conversions = []
    for _, _, functions in chapters:
        for function in functions:
            if function.name.endswith("_toint"):
                parameter, name = function.parameters[0], function.name.removesuffix("_toint")
                conversions += [f"static __inline__ MPI_Fint MPI_{name}_c2f({parameter.type} {parameter.name}) "
                                f"{{ return MPI_{name}_toint({parameter.name}); }}",
                                f"static __inline__ {parameter.type} MPI_{name}_f2c(MPI_Fint {parameter.name}) "
                                f"{{ return MPI_{name}_fromint({parameter.name}); }}"]
    text = template
    for key, lines in (("handles", handles), ("numbers", numbers), ("prototypes", prototypes),
                       ("conversions", conversions)):
        text = text.replace(f"@{key}@", "\n".join(lines))
    return text


def calls(chapters):
    lines = ["// The functions behind the entry points, by functions.txt. Each returns an error class or code, and 0 for",
             "// success, unless its result has another type.", "#pragma once", "", '#include "mpi.h"',
             '#include "twosided_compat/objects/views.hpp"', "", "namespace librma::mpi {", ""]
    for _, title, functions in chapters:
        lines.append(f"// {title}")
        for function in functions:
            parameters = [p.internal() for p in function.parameters if not p.variadic]
            parameters = ", ".join(parameters + ["Form form"] * function.knows_form)
            attribute = "[[nodiscard]] " if function.result == "int" else ""
            lines.append(wrapped(f"{attribute}{function.result} {function.internal_name()}({parameters});"))
        lines.append("")
    return "\n".join(lines) + "}  // namespace librma::mpi\n"


def numbers(constants):
    """The numbers of the predefined datatypes and operators, as constants that tables can be made of."""
    lines = ["// The numbers of the predefined datatypes and operators, by constants.txt.", "#pragma once", "",
             "#include <cstdint>", "", "namespace librma::mpi::number {", ""]
    for c_type, _, entries in constants:
        if c_type in ("MPI_Datatype", "MPI_Op"):
            for name, value in entries:
                words = name.removeprefix("MPI_").replace("2", "TWO_", name.startswith("MPI_2")).split("_")
                constant = "".join(word.capitalize() for word in words)
                lines.append(f"inline constexpr std::uintptr_t k{constant} = {value};")
    return "\n".join(lines) + "\n\n}  // namespace librma::mpi::number\n"


def error_classes(descriptions):
    """The elements of a table of the error classes: the value, the name and the text of each."""
    return "".join(f'StandardClass{{{value}, "{name}", "{text}"}},\n'
                   for name, (value, text) in descriptions.items() if value.isdecimal())


def predefined_types(descriptions):
    """The elements of a table of the predefined datatypes: a call of a maker for each."""
    lines = []
    for name, (handle, text) in descriptions.items():
        if handle.startswith("0x"):
            maker, arguments = re.match(r"(\w+(?:<.*?>)?) ?(.*)", text).groups()
            kind = "TypeClass" if maker.startswith("integer") else "Element"
            arguments = re.sub(r"\b([A-Z]\w+)", rf"{kind}::k\1", arguments)
            lines.append(f'{maker}({handle}, "MPI_{name}"{", " * bool(arguments)}{arguments}),\n')
    return "".join(lines)


def entry_body(function, name, large, checks):
    internal = function.internal_name()
    converted = [] if large else [p for p in function.parameters if p.is_output]
    arguments = []
    for p in function.parameters:
        if not p.variadic:
            arguments.append(f"wide_{p.name}.wide()" if p in converted else p.name)
    if function.knows_form:
        arguments.append("Form::kLarge" if large else "Form::kPlain")
    call = f"{internal}({', '.join(arguments)})"
    if function.result != "int" or function.name.endswith("_toint"):
        return f"return librma::mpi::{call};"
    if function.is_tool:
        return f"return invoke_tool([&] {{ return librma::mpi::{call}; }});"
    when = "AnyTime" if function.any_time else "WhileRunning"
    before = "".join(f"null_unless_made({p.name}, {MADE[p.type[:-1]]}, " for p in function.made())
    lines = [f'return {before}invoke<{when}>("{name}", {function.owner()[1]}, [&] {{']
    if checks:
        lines += [f'  RMA_TRY(check_place({p.name}, "{p.name}"));' for p in function.places()]
    if converted:
        kinds = {"InOutCount": "NarrowInOut"}
        lines += [f"  {kinds.get(p.word, 'NarrowOut')} wide_{p.name}({p.name});" for p in converted]
        lines += [f"  const int code = librma::mpi::{call};"]
        lines += [f"  if (code == MPI_SUCCESS) wide_{p.name}.store();" for p in converted]
        lines += ["  return code;"]
    else:
        lines += [f"  return librma::mpi::{call};"]
    return "\n".join("  " + line for line in [*lines, "})" + ")" * len(function.made()) + ";"]).lstrip()


def entry(function, suffix, large, checks):
    """One entry point and its weak name."""
    name = f"MPI_{function.name}{suffix}"
    prototype, body = function.prototype("P", suffix, large), entry_body(function, name, large, checks)
    ways = [*SHORT_WAYS.get(function.name, ()), "long"]
    if len(ways) == 1:
        return f"{prototype} {{\n  {body}\n}}\nRMA_MPI_WEAK({name});\n"
    # Each other way is a function of its own with the same arguments, so that the one before saves no registers for it.
    arguments = ", ".join(p.name for p in function.parameters)
    parameters = ", ".join(p.declaration(large) for p in function.parameters)
    on_stack = function.parameters[ARGUMENTS_IN_REGISTERS:]
    text = ""
    for way, other in [*zip(ways, ways[1:])][::-1]:
        text += f"[[gnu::noinline]] static {function.result} {other}_{name.lower()}({parameters}) {{\n  {body}\n}}\n"
        stores = way == "inlined" and function.name in STORES_RESULT
        call = f"{way}_{function.internal_name()}({arguments}{', result' if stores else ''})"
        body = (f"{'int result = MPI_SUCCESS;' + chr(10) + '  ' if stores else ''}if ({call}) [[likely]]\n"
                f"    return {'result' if stores else 'MPI_SUCCESS'};\n"
                + "".join(f"  read_again({p.name});\n" for p in on_stack) +
                f"  return with_frame({other}_{name.lower()}({arguments}));")
    return f"{text}{prototype} {{\n  {body}\n}}\nRMA_MPI_WEAK({name});\n"


def entries(title, functions, checks):
    short = {f.name for f in functions if f.name in SHORT_WAYS}
    short_ways = ['#include "twosided_compat/messages/short_calls.hpp"'] * bool(short.difference(SHORT_WAYS_OF_WINDOWS))
    short_ways += ['#include "twosided_compat/windows/short_transfers.hpp"'] * bool(short.intersection(SHORT_WAYS_OF_WINDOWS))
    lines = [f"// The entry points of the chapter: {title}.", "", '#include "twosided_compat/binding/entry.hpp"',
             '#include "twosided_compat/calls.hpp"', *short_ways, "", "using namespace librma::mpi;", "", 'extern "C" {', ""]
    lines += [entry(function, suffix, large, checks) for function in functions for suffix, large in FORMS[function.forms]]
    return "\n".join(lines) + '\n}  // extern "C"\n'


def collective_forms(chapters):
    """The forms of each collective operation: blocking, nonblocking and persistent, with the same arguments. An operation
    has a function of its name in CollectiveCall. Some blocking calls are written by hand: those between neighbours, and
    those that have a short way (short_collectives.cpp)."""
    functions = {function.name: function for _, _, members in chapters for function in members}
    persistent = [f for f in functions.values() if f.name.endswith("_init") and "MPI_Info" in (p.type for p in f.parameters)]
    operations = [f.name.removesuffix("_init") for f in persistent if f.name.removesuffix("_init") in functions]
    lines = ["// The forms of collective operations, by functions.txt.", "", '#include "twosided_compat/calls.hpp"',
             '#include "twosided_compat/collectives/collective_forms.hpp"', "", "namespace librma::mpi {", ""]
    for name in operations:
        own = functions[name].parameters
        arguments = ", ".join(p.name for p in own)
        fill = f"[&](CollectiveCall& call) {{ return call.{name.lower()}({arguments}); }}"
        forms = [(f"I{name.lower()}", "start_collective(request, ", ["MPI_Request* request"]),
                 (f"{name}_init", "plan_collective(request, ", ["MPI_Info /*info*/", "MPI_Request* request"])]
        if not name.startswith("Neighbor_") and name not in ("Barrier", "Allreduce"):
            forms.insert(0, (name, "run_collective(", []))
        for form, call, further in forms:
            parameters = ", ".join([*(p.internal() for p in own), *further])
            lines += [wrapped(f"int {form.lower()}({parameters}) {{"), wrapped(f"  return {call}{fill});"), "}"]
    return "\n".join(lines) + "\n\n}  // namespace librma::mpi\n"


def forwarders(chapters):
    """The functions of the FORWARDERS."""
    lines = ["// Functions that only call one other function, by generate.py.", ""]
    lines += [f'#include "twosided_compat/{header}.hpp"' for header in FORWARDED]
    lines += ["", "namespace librma::mpi {", ""]
    for function in (function for _, _, members in chapters for function in members):
        templates = [template for family, template in FORWARDERS if re.fullmatch(family, function.name)]
        if not templates:
            continue
        names = [p.name for p in function.parameters]
        kind = function.name.partition("_")[0]
        handle, find = OBJECTS.get(kind, ("MPI_" + kind, None))
        call = templates[0].format(*names, all=", ".join(names), name=function.name, kind=kind,
                                   lower=kind.lower(), upper=kind.upper(), handle=handle,
                                   null=handle.upper() + "_NULL", find=find)
        used = [re.search(rf"\b{p.name}\b", call) is not None for p in function.parameters]
        parameters = ", ".join(p.internal(name) for p, name in zip(function.parameters, used))
        lines += [wrapped(f"{function.result} {function.internal_name()}({parameters}) {{"),
                  wrapped(f"  return {call};"), "}"]
    return "\n".join(lines) + "\n\n}  // namespace librma::mpi\n"


def write(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    source, output, headers = map(pathlib.Path, sys.argv[1:])
    chapters = read_functions(source / "functions.txt")
    constants = read_constants(source / "constants.txt")
    template = personality((source / "mpi.h.in").read_text(encoding="utf-8"), "standard")
    write(headers / "mpi.h", header(template, chapters, constants))
    write(output / "twosided_compat/calls.hpp", calls(chapters))
    write(output / "twosided_compat/numbers.hpp", numbers(constants))
    descriptions = read_descriptions(source / "constants.txt")
    write(output / "twosided_compat/error_classes.inc", error_classes(descriptions))
    write(output / "twosided_compat/predefined_types.inc", predefined_types(descriptions))
    write(output / "twosided_compat/collective_forms.cpp", collective_forms(chapters))
    write(output / "twosided_compat/forwarders.cpp", forwarders(chapters))
    for name, title, functions in chapters:
        write(output / f"entries/{name}.cpp", entries(title, functions, name not in CHECKS_ITSELF))


if __name__ == "__main__":
    main()
