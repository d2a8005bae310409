#!/usr/bin/env python3
"""Writes what functions.txt says: the Fortran modules, and the C++ entry points behind their procedures.

usage: generate.py SOURCE_FOLDER OUTPUT_FOLDER

SOURCE_FOLDER holds functions.txt, and MODULE.f90.in for each module that has more than interfaces: there
@interfaces@ stands for these. OUTPUT_FOLDER gets MODULE.f90 for each module, and entries.cpp.
"""

import pathlib
import re
import sys
import textwrap

PROCEDURE = re.compile(r"(pure )?(?:(\w+) )?(\w+)(@?)\((.*?)\)(?: (=|:) (.*))?$")
ARGUMENT = re.compile(r"(optional )?(?:(inout|out) )?(\w+) (\w+)$")
# For each kind of argument: its declaration in Fortran, and its type in C++. A declaration with VALUE is of
# a number, which is passed as a value if it is an input.
KINDS = {
    "array": ("type(rma_array), INTENT :: NAME", "RemoteArray"),
    "parts": ("type(rma_array), allocatable, INTENT :: NAME(:)", "CFI_cdesc_t"),
    "request": ("type(rma_request), INTENT :: NAME", "rma_request_t"),
    "requests": ("type(rma_request), contiguous, INTENT :: NAME(:)", "const CFI_cdesc_t"),
    "team": ("type(rma_team), INTENT :: NAME", "Team"),
    "mutexes": ("type(rma_mutexes), INTENT :: NAME", "Mutexes"),
    "any": ("type(*), dimension(..), INTENT :: NAME", "const CFI_cdesc_t"),  # an array of any type and shape
    "data": ("type(*), dimension(..), ASYNCHRONOUS, INTENT :: NAME", "const CFI_cdesc_t"),  # of a transfer
    "buffer": ("type(*), dimension(..), contiguous, INTENT :: NAME", "const CFI_cdesc_t"),
    "registered": ("type(*), dimension(..), target, asynchronous, INTENT :: NAME", "const CFI_cdesc_t"),
    "new_pointer": ("TYPE, pointer, INTENT :: NAME(..)", "CFI_cdesc_t"),
    "ranks": ("integer(c_int), contiguous, INTENT :: NAME(:)", "const CFI_cdesc_t"),
    "int": ("integer(c_int), VALUE :: NAME", "int"),
    "word": ("integer(c_int64_t), VALUE :: NAME", "std::uint64_t"),
    "flag": ("integer(c_int64_t), asynchronous, INTENT :: NAME", "std::uint64_t"),
    "address": ("integer(c_intptr_t), VALUE :: NAME", "std::intptr_t"),
    # These appear only in interfaces of C functions.
    "pointer": ("type(c_ptr), VALUE :: NAME", None),
    "size": ("integer(c_size_t), VALUE :: NAME", None),
    "long": ("integer(c_long), VALUE :: NAME", None),
    "group": ("integer(c_int), INTENT :: NAME", None),
    "handle": ("type(armci_hdl_t), INTENT :: NAME", None),
    "text": ("character(kind=c_char), INTENT :: NAME(*)", None),
    "addresses": ("type(c_ptr), INTENT :: NAME(*)", None),
    "ints": ("integer(c_int), INTENT :: NAME(*)", None),
    "longs": ("integer(c_long), INTENT :: NAME(*)", None),
    "floats": ("real(c_float), INTENT :: NAME(*)", None),
    "doubles": ("real(c_double), INTENT :: NAME(*)", None),
}
# The types of a pointer of the kind new_pointer, and the ends of the names of the specific procedures.
POINTER_TYPES = {"int8": "integer(int8)", "int32": "integer(int32)", "int64": "integer(int64)",
                 "real32": "real(real32)", "real64": "real(real64)", "complex32": "complex(real32)",
                 "complex64": "complex(real64)"}
OUTCOME = ("integer(c_int), optional, intent(out) :: stat",
           "type(*), dimension(..), optional, intent(inout) :: errmsg")
MODULE = """module {name}
  use, intrinsic :: iso_c_binding, only: {c_kinds}
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use rma_types
  implicit none
  private

@interfaces@
end module {name}
"""


class Argument:
    def __init__(self, text):
        optional, intent, self.kind, self.name = ARGUMENT.match(text).groups()
        self.optional, self.intent = bool(optional), intent or "in"
        self.fortran, self.cpp = KINDS[self.kind]

    def declaration(self, asynchronous=False, pointer_type=""):
        words = {"VALUE": "value" if self.intent == "in" else "INTENT",
                 "ASYNCHRONOUS, ": "asynchronous, " * asynchronous,
                 "INTENT": "optional, " * self.optional + f"intent({self.intent})",
                 "TYPE": pointer_type, "NAME": self.name}
        text = self.fortran
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        return text

    @property
    def is_value(self):
        return "VALUE" in self.fortran and self.intent == "in"

    def parameter(self):
        """The parameter of the C++ function."""
        if self.is_value:
            return f"{self.cpp} {self.name}"
        const = "const " * (self.intent == "in" and not self.cpp.startswith("const "))
        return f"{const}{self.cpp}{'*' if self.optional else '&'} {self.name}"

    @property
    def begins_empty(self):
        return self.intent == "out" and not self.optional and self.cpp != "CFI_cdesc_t"


class Procedure:
    def __init__(self, comments, pure, result, name, arguments, mark, end, suffix=None):
        self.comments, self.pure, self.result = comments, pure or "", result
        self.name, self.arguments = name + (suffix or ""), arguments
        self.expression = end if mark == "=" else None
        self.asynchronous = suffix in ("_nb", "_nbi")
        if suffix is not None:
            if suffix == "_nb":
                place = next((i for i, one in enumerate(arguments) if one.optional), len(arguments))
                self.arguments = arguments[:place] + [Argument("out request request")] + arguments[place:]
            rest = ", &request" if suffix == "_nb" else ""
            self.expression = end.replace("@", suffix).replace(", ...", rest)
        bare = re.sub("^(rma|c)_", "", self.name)
        self.c_name = end if mark == ":" else f"rma_fortran_{bare}" if self.expression else name
        self.has_outcome = self.expression is not None and not result

    def interface(self, name, pointer_type=""):
        declarations = [one.declaration(self.asynchronous, pointer_type) for one in self.arguments]
        declarations += OUTCOME if self.has_outcome else ()
        names = ", ".join([one.name for one in self.arguments] + ["stat", "errmsg"] * self.has_outcome)
        what, begin = "subroutine", "subroutine"
        if self.result:
            what, begin = "function", self.pure + KINDS[self.result][0].partition(",")[0] + " function"
        head = wrapped(f"    {begin} {name}({names}) bind(C, name='{self.c_name}')")
        return [head, "      import", *(f"      {one}" for one in declarations), f"    end {what} {name}"]

    def interfaces(self):
        comments = [f"    {comment}" for comment in self.comments]
        if not any(one.kind == "new_pointer" for one in self.arguments):
            return [*comments, *self.interface(self.name.lower())]
        lines = ["  end interface", "", *(comment[2:] for comment in comments), f"  interface {self.name}"]
        for end, pointer_type in POINTER_TYPES.items():
            lines += self.interface(f"{self.name.removeprefix('rma_')}_{end}", pointer_type)
        return [*lines, f"  end interface {self.name}", "", "  interface"]

    def entry(self):
        parameters = [one.parameter() for one in self.arguments]
        parameters += ["int* stat", "CFI_cdesc_t* errmsg"] * self.has_outcome
        result = KINDS[self.result][1] if self.result else "void"
        body = [f"{one.name} = {{}};" for one in self.arguments if one.begins_empty]
        call = re.sub("^c_", "rma_", self.name)
        body.append(f'conclude("{call}", {self.expression}, {{stat, errmsg}});' if self.has_outcome
                    else f"return {self.expression};")
        head = f"{result} {self.c_name}({', '.join(parameters)}) {{"
        return "\n".join([head, *(f"  {line}" for line in body), "}", ""])


class Module:
    def __init__(self, name):
        self.name, self.comments, self.procedures = name, [], []

    def interfaces(self):
        public = [one.name.lower() for one in self.procedures if not one.name.startswith("c_")]
        lines = [f"  public :: {name}" for name in public]
        lines += ["", "  interface"]
        for procedure in self.procedures:
            lines += [*procedure.interfaces(), ""]
        return re.sub(r"  interface\n\s*(end interface\n|$)", "", "\n".join(lines[:-1] + ["  end interface"]))

    def text(self, source):
        template = source / f"{self.name}.f90.in"
        interfaces = self.interfaces()
        kinds = sorted(set(re.findall(r"\bc_int\w*", interfaces)))
        text = MODULE.format(name=self.name, c_kinds=", ".join(kinds))
        if template.exists():
            text = template.read_text(encoding="utf-8")
        return "\n".join(self.comments) + "\n" + text.replace("@interfaces@", interfaces)


def wrapped(text):
    """A line of Fortran in lines of at most 110 columns."""
    return " &\n".join(textwrap.wrap(text, 108, subsequent_indent="      ", break_long_words=False))


def read(path):
    modules, comments = [], []
    text = re.sub(r"\n +", " ", path.read_text(encoding="utf-8"))
    for line in text.splitlines():
        if line.startswith("["):
            modules.append(Module(line[1:-1]))
        elif line.startswith("!"):
            comments.append(line)
        elif not line and comments:
            modules[-1].comments, comments = comments, []
        elif line and not line.startswith("#"):
            match = PROCEDURE.match(line) or sys.exit(f"{path}: not a procedure: {line}")
            pure, result, name, forms, arguments, mark, end = match.groups()
            arguments = [Argument(one) for one in arguments.split(", ") if one]
            for suffix in ("", "_nb", "_nbi") if forms else (None,):
                one = Procedure(comments, pure, result, name, arguments, mark, end, suffix)
                modules[-1].procedures.append(one)
                comments = []
    return modules


def entries(modules):
    headers = ("calls", "outcome", "transfers")
    lines = ["// The entry points of the Fortran modules, by functions.txt.", ""]
    lines += [f'#include "fortran/{one}.hpp"' for one in headers]
    lines += ["", "namespace librma::fortran {", 'extern "C" {', ""]
    lines += [one.entry() for module in modules for one in module.procedures if one.expression]
    return "\n".join([*lines, '}  // extern "C"', "}  // namespace librma::fortran", ""])


def main():
    source, output = map(pathlib.Path, sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    modules = read(source / "functions.txt")
    files = {f"{module.name}.f90": module.text(source) for module in modules}
    files["entries.cpp"] = entries(modules)
    for name, text in files.items():
        path = output / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
