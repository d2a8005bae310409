#!/usr/bin/env python3
"""Writes what the libraries that stand in for Open MPI's libmpi.so.40 and MPICH's libmpi.so.12 have instead of the files
that generate.py writes.

usage: generate_personality.py NAME SOURCE_FOLDER OUTPUT_FOLDER HEADER_FOLDER

NAME is openmpi or mpich. SOURCE_FOLDER holds the tables of generate.py, and NAME.txt with the values of that MPI.
HEADER_FOLDER gets mpi.h. OUTPUT_FOLDER gets twosided_compat/numbers.hpp, error_classes.inc, predefined_types.inc and
conversions.inc, and what only one library has: predefined_symbols.inc, fortran_numbers.inc and f08_constants.inc, or
integer_handles.inc. The entry points are those of generate.py.
"""

import pathlib
import re
import sys

import generate


class Handle:
    """A predefined object: `number` is the standard's, or one that the standard leaves free. `value` is the C expression of
    its handle. Open MPI's handles are the addresses of symbols, and have other numbers in Fortran."""

    def __init__(self, c_type, name, value, fortran, number):
        self.c_type, self.name, self.number, self.fortran = c_type, name, number, fortran
        self.is_number = value[0].isdecimal()
        self.symbol = f"rma_mpi_predefined_{name.lower()}" if value == "-" else value
        self.value = f"&{self.symbol}"
        if self.is_number:  # an int, some of them negative ones
            self.value = value if int(value, 0) < 1 << 31 else str(int(value, 0) - (1 << 32))

    @property
    def structure(self):
        return structure_of(self.c_type)


def structure_of(c_type):
    """The structure that a handle of this type is the address of."""
    return f"struct MPI_ABI_{c_type.removeprefix('MPI_')}"


def read_personality(path, standard):
    """Returns {name: value} of the numbers, the predefined objects, {C type: bytes of its objects}, and
    {name: (number, description)} of the datatypes that the standard does not have."""
    numbers, handles, sizes, types = {}, [], {}, {}
    c_type = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\[(\w*)\] ?(.*)$", line):
            c_type = match[1]
            if match[2].isdecimal():
                sizes[c_type] = int(match[2])
        elif line and not line.startswith("#"):
            name, value, *rest = line.split(maxsplit=4)
            if not c_type or c_type.startswith("MPI_T_"):
                numbers[name] = value
                continue
            if len(rest) > 2:
                types[name] = (rest[1], rest[2])
            number = rest[1] if len(rest) > 2 else standard[f"MPI_{name}"]
            handles.append(Handle(c_type, name, value, int(rest[0], 0) if rest else None, int(number, 0)))
    return numbers, handles, sizes, types


def merge(constants, numbers, handles):
    """The groups of generate.read_constants() with this MPI's values."""
    value_of = {(h.c_type, h.number): h.value for h in handles}
    known = {name.removeprefix("MPI_") for _, _, entries in constants for name, _ in entries}
    strangers = [h for h in handles if h.name not in known]
    merged = []
    for c_type, title, entries in constants:
        own = []
        for name, value in entries:
            key = name if name.startswith("MPIX_") else name.removeprefix("MPI_")
            own.append((name, value_of.get((c_type, int(value, 0)), numbers.get(key, value))))
        own += [(f"MPI_{h.name}", h.value) for h in strangers if h.c_type == c_type]
        merged.append((c_type, title, own))
    return merged


def conversions(chapters):
    """The names of the kinds of handles that C converts: (name, C type, parameter)."""
    for _, _, functions in chapters:
        for function in functions:
            if function.name.endswith("_toint"):
                yield function.name.removesuffix("_toint"), function.parameters[0].type, function.parameters[0].name


def conversion_prototypes(chapters):
    lines = []
    for prefix in ("", "P"):
        for name, c_type, parameter in conversions(chapters):
            lines += [f"MPI_Fint {prefix}MPI_{name}_c2f({c_type} {parameter});",
                      f"{c_type} {prefix}MPI_{name}_f2c(MPI_Fint {parameter});"]
        lines += [f"int {prefix}MPI_Status_c2f(const MPI_Status* status, MPI_Fint* f_status);",
                  f"int {prefix}MPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* status);"]
    return "\n".join(lines)


def conversion_functions(chapters):
    return "".join(f"MPI_Fint PMPI_{name}_c2f({c_type} {parameter}) {{ return PMPI_{name}_toint({parameter}); }}\n"
                   f"RMA_MPI_WEAK(MPI_{name}_c2f);\n"
                   f"{c_type} PMPI_{name}_f2c(MPI_Fint {parameter}) {{ return PMPI_{name}_fromint({parameter}); }}\n"
                   f"RMA_MPI_WEAK(MPI_{name}_f2c);\n"
                   for name, c_type, parameter in conversions(chapters))


def header(template, chapters, constants, handles):
    symbols = "".join(f"extern {h.structure} {h.symbol};\n" for h in handles if not h.is_number)
    text = template.replace("@conversion_prototypes@", conversion_prototypes(chapters))
    text = text.replace("@handles@", f"{symbols}\n@handles@")
    return generate.header(text, chapters, constants)


def predefined_symbols(handles, sizes):
    """The structures behind the handles, and one object of them for each predefined handle."""
    lines = [f"{structure_of(c_type)} : PredefinedObject<{size}> {{\n  using PredefinedObject::PredefinedObject;\n}};"
             for c_type, size in sizes.items()]
    lines += [f"constinit {h.structure} {h.symbol}(0x{h.number:03x});" for h in handles]
    return "\n".join(lines) + "\n"


def fortran_numbers(handles):
    return "".join(f"Row{{kind_of({h.c_type}{{}}), 0x{h.number:03x}, {h.fortran}, &{h.symbol}}},\n" for h in handles)


def f08_constants(constants, handles):
    """The handles that Open MPI's module mpi_f08 has as constants."""
    numbers = {h.value: h.fortran for h in handles if not h.symbol.startswith("rma_")}
    names = [(name.removeprefix("MPI_").lower(), numbers.get(value)) for _, _, entries in constants for name, value in entries]
    return "".join(f"RMA_MPI_CONSTANT({name}, {number})\n" for name, number in names if number is not None)


def integer_handles(handles):
    """The elements of a table of the handles that are integers."""
    return "".join(f"IntegerHandle{{Kind::k{h.c_type.removeprefix('MPI_').title()}, 0x{h.number:03x}, {h.symbol}}},\n"
                   for h in handles if h.symbol != "0")


def main():
    name = sys.argv[1]
    source, output, headers = map(pathlib.Path, sys.argv[2:])
    chapters = generate.read_functions(source / "functions.txt")
    standard = generate.read_constants(source / "constants.txt")
    values = {constant: value for _, _, entries in standard for constant, value in entries}
    numbers, handles, sizes, types = read_personality(source / f"{name}.txt", values)
    constants = merge(standard, numbers, handles)
    template = generate.personality((source / "mpi.h.in").read_text(encoding="utf-8"), name)
    generate.write(headers / "mpi.h", header(template, chapters, constants, handles))

    added = [(f"MPI_{constant}", number) for constant, (number, _) in types.items()]
    with_added = [(c_type, title, entries + added * (c_type == "MPI_Datatype")) for c_type, title, entries in standard]
    descriptions = {constant: (numbers.get(constant, value), text)
                    for constant, (value, text) in generate.read_descriptions(source / "constants.txt").items()}
    made = {"numbers.hpp": generate.numbers(with_added), "error_classes.inc": generate.error_classes(descriptions),
            "predefined_types.inc": generate.predefined_types({**descriptions, **types}),
            "conversions.inc": conversion_functions(chapters)}
    if name == "openmpi":
        made |= {"predefined_symbols.inc": predefined_symbols(handles, sizes), "fortran_numbers.inc": fortran_numbers(handles),
                 "f08_constants.inc": f08_constants(constants, handles)}
    else:
        made["integer_handles.inc"] = integer_handles(handles)
    for file, text in made.items():
        generate.write(output / "twosided_compat" / file, text)


if __name__ == "__main__":
    main()
