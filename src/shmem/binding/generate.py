#!/usr/bin/env python3
"""Writes what functions.txt says: the header shmem.h, and the entry points of each chapter.

usage: generate.py SOURCE_FOLDER OUTPUT_FOLDER HEADER_FOLDER VERSION

SOURCE_FOLDER holds functions.txt and shmem.h.in. HEADER_FOLDER gets shmem.h, pshmem.h and mpp/shmem.h, OUTPUT_FOLDER gets
CHAPTER.cpp for each chapter. A file whose text is as it was stays untouched, so that a change of the table recompiles
one chapter only.
"""

import pathlib
import re
import sys
import textwrap

SECTION = re.compile(r"\[(\w+)\] ?(.*)$")
FUNCTION = re.compile(r"(\S+) (ctx|-) (.*?)(\*?)(!?[\w@]+)\((.*)\) = ([\w:]+)(?:<(.*)>)?(?: ; (\w+))?$")


class Type:
    """An element type: its name in function names, how C writes it, and the name of the basic type that it is."""

    def __init__(self, name, c_type, basic):
        self.name, self.c_type, self.basic = name, c_type, basic

    @classmethod
    def parse(cls, line):
        name, rest = line.split(" ", 1)
        c_type, _, basic = rest.partition(" = ")
        return cls(name, c_type, basic or name)


class Table:
    def __init__(self, path):
        self.types, self.sets, self.chapters = {}, {}, []
        section = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            if match := SECTION.match(line):
                section = match[1]
                if match[2]:
                    self.chapters.append((section, match[2], []))
            elif section == "types":
                parsed = Type.parse(line)
                self.types[parsed.name] = parsed
            elif section == "sets":
                name, *members = line.split()
                self.sets[name] = [one for member in members for one in self.sets.get(member, [member])]
            elif match := FUNCTION.match(line):
                self.chapters[-1][2].extend(self.expand(*match.groups()))
            else:
                sys.exit(f"{path}:{number}: not a function: {line}")

    def expand(self, members, forms, result, star, name, parameters, handler, arguments, generic):
        for member in [None] if members == "-" else self.sets[members]:
            for context in (False, True) if forms == "ctx" else (False,):
                yield Function(self.types.get(member), member, context, result + star, name, parameters, handler,
                               arguments, generic)


class Function:
    def __init__(self, element, member, context, result, name, parameters, handler, arguments, generic):
        self.element, self.context, self.handler, self.generic = element, context, handler, generic
        # A set that is not of types is of widths in bits.
        self.c_type = element.c_type if element else f"librma::shmem::Bits<{member}>"
        self.result = self.with_type(result.strip())
        self.name = name[1:] if name[0] == "!" else "shmem_" + "ctx_" * context + name.replace("@", member or "")
        self.parameters = [] if parameters == "void" else parameters.split(", ")
        self.chosen_by = next((i for i, text in enumerate(self.parameters) if "TYPE *" in text), None)
        if context:
            self.parameters.insert(0, "shmem_ctx_t ctx")
            self.chosen_by = None if self.chosen_by is None else self.chosen_by + 1
        self.parameters = [self.with_type(text) for text in self.parameters]
        self.template = f"<{self.with_type(arguments)}>" if arguments else ""

    def with_type(self, text):
        return re.sub(r"\bTYPE\b", self.c_type, text)

    @property
    def names(self):
        """The names of the parameters that are not variadic."""
        return [re.search(r"(\w+)$", text)[1] for text in self.parameters if text != "..."]

    def prototype(self, prefix="", name=None):
        parameters = ", ".join(self.parameters) or "void"
        space = "" if self.result.endswith("*") else " "
        return f"{self.result}{space}{prefix}{name or self.name}({parameters})"

    def call(self, function, names):
        return f"{'' if self.result == 'void' else 'return '}{function}({', '.join(names)});"

    def entry(self):
        """The strong definition, and the weak name for programs."""
        names = [f'"{self.name}"'] + self.names
        if self.context:
            names.remove("ctx")
            names[names.index("pe")] = f'librma::shmem::world_pe("{self.name}", ctx, pe)'
        scope = f'  const librma::shmem::ContextScope scope("{self.name}", ctx);\n' if self.context else ""
        return (f"RMA_SHMEM_ENTRY {self.prototype('p')} {{\n{scope}  {self.call(f'librma::shmem::{self.handler}{self.template}', names)}\n}}\n"
                f"RMA_SHMEM_WEAK({self.name});\n")


def wrapped(text):
    """A prototype in lines of at most 110 columns."""
    return "\n".join(textwrap.wrap(text, 110, subsequent_indent="    ", break_long_words=False))


def generic_forms(table):
    """For each generic name, with and without a context, its functions: one for each basic type."""
    forms = {}
    for _, _, functions in table.chapters:
        for function in functions:
            if function.generic:
                of_type = forms.setdefault((function.generic, function.context), {})
                of_type.setdefault(function.element.basic, function)
    return forms


def c_choice(table, argument, of_type, more=""):
    """A _Generic expression that chooses a function by the type that `argument` points to."""
    cases = ", ".join(f"{qualifier}{table.types[basic].c_type} *: {function.name}"
                      for basic, function in of_type.items() for qualifier in ("", "const ", "volatile "))
    return f"_Generic({argument}, {more}{cases})"


def c_generics(table):
    """Macros. They choose by the first argument, or if that is a context or a team, by the second."""
    forms = {}
    for (generic, _), of_type in generic_forms(table).items():
        forms.setdefault(generic, []).append(of_type)
    lines = []
    for generic, of_types in forms.items():
        plain = next(of_type for of_type in of_types if not next(iter(of_type.values())).context)
        second = [of_type for of_type in of_types if next(iter(of_type.values())).context]
        if next(iter(plain.values())).chosen_by == 1:
            text = c_choice(table, "SHMEM_SECOND_(__VA_ARGS__, 0)", plain)
        else:
            nested = "".join("shmem_ctx_t: " + c_choice(table, "SHMEM_SECOND_(__VA_ARGS__, 0)", of_type,
                                                        "default: shmem_no_form_, ") + ", " for of_type in second)
            text = c_choice(table, "SHMEM_FIRST_(__VA_ARGS__, 0)", plain, nested)
        text = f"#define shmem_{generic}(...) {text}(__VA_ARGS__)"
        lines.append(" \\\n".join(textwrap.wrap(text, 108, subsequent_indent="    ", break_long_words=False)))
    return "\n".join(lines)


def overloads(table):
    # Some names are those of functions, too.
    taken = {function.name for _, _, functions in table.chapters for function in functions}
    lines = []
    for (generic, _), of_type in generic_forms(table).items():
        for function in of_type.values():
            if f"shmem_{generic}" not in taken or function.element.name != "long":
                lines.append(wrapped(f"inline {function.prototype(name=f'shmem_{generic}')} {{ "
                                     f"{function.call(function.name, function.names)} }}"))
    return "\n".join(lines)


def c_complex(table):
    """Forms for pointers to C's complex types. They are templates, so that null pointers choose the plain functions."""
    lines = []
    for _, _, functions in table.chapters:
        for function in functions:
            if function.element is None or not function.element.name.startswith("complex"):
                continue
            theirs = function.c_type
            mine = theirs.replace("shmem_", "shmem_c_")
            arguments = [f"reinterpret_cast<{text[:-len(name)].strip()}>({name})" if theirs in text else name
                         for text, name in zip(function.parameters, function.names)]
            for name in [function.name] + ([f"shmem_{function.generic}"] if function.generic else []):
                parameters = ", ".join(function.parameters).replace(theirs, "C_")
                lines.append(wrapped(f"template <typename C_> typename shmem_if_same_<C_, {mine}, {function.result}>::type "
                                     f"{name}({parameters}) {{ {function.call(function.name, arguments)} }}"))
    return "\n".join(lines)


def header(template, table, version):
    prototypes = []
    for prefix in ("", "p"):
        for _, title, functions in table.chapters:
            prototypes.append(f"/* {title}{', by the names for profilers' if prefix else ''} */")
            for function in functions:
                ends = " __attribute__((noreturn))" if function.name == "shmem_global_exit" else ""
                prototypes.append(wrapped(function.prototype(prefix) + ends + ";"))
            prototypes.append("")
    for mark, text in (("VERSION", version), ("PROTOTYPES", "\n".join(prototypes)), ("OVERLOADS", overloads(table)),
                       ("C_COMPLEX", c_complex(table)), ("GENERICS", c_generics(table))):
        template = template.replace(f"@{mark}@", text)
    return template


def write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main():
    source, output, headers = (pathlib.Path(folder) for folder in sys.argv[1:4])
    table = Table(source / "functions.txt")
    write(headers / "shmem.h", header((source / "shmem.h.in").read_text(encoding="utf-8"), table, sys.argv[4]))
    write(headers / "pshmem.h", "/* The header of profilers. shmem.h declares their names, too. */\n#include \"shmem.h\"\n")
    write(headers / "mpp/shmem.h", "/* The deprecated place of the header. */\n#include \"../shmem.h\"\n")
    for chapter, title, functions in table.chapters:
        entries = "\n".join(function.entry() for function in functions)
        write(output / f"{chapter}.cpp",
              f"// {title}: the entry points, which generate.py wrote.\n\n#include \"shmem/binding/entry.hpp\"\n\n"
              f"extern \"C\" {{\n\n{entries}\n}}  // extern \"C\"\n")


if __name__ == "__main__":
    main()
