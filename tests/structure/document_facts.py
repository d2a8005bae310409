"""Facts that documents repeat from the sources: numbers of constants, sizes of structures, and complete tables.

- A row of a table that begins with a number and has one cell that is a constant in backticks says the constant's value.
- `16 KiB (`kConstant`)` says it anywhere else. The unit may be KiB, MiB, GiB, ns, us, ms or s (constants of time are in
  nanoseconds or of std::chrono); any other word counts as one, and may be left out.
- `16 bytes (`sizeof(Type)`)` repeats a `static_assert(sizeof(Type) == 16)`.
- Below a table `| field | bytes | meaning |` a line begins with "In all 16 bytes (`sizeof(Type)`)".
- The tables list all enumerators of ENUMERATIONS and all 16-bit numbers of src, which are kinds and versions of messages.

A constant is one of src, behind the class or enumeration that has it if several have one of its name.
"""

import functools
import pathlib
import re

ENUMERATIONS = ("MessageType", "ActiveForm")
LIMITS = {"kKinds", "kFirstOfRings"}  # 16-bit constants of src that are no kind and no version
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
CHRONO = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9}
NUMBER = r"0x[0-9a-f]+|\d+"
CONSTANT = r"\w+::\w+|k[A-Z]\w*"
QUANTITY = re.compile(rf"(?<![\w.])(\d+(?:\.\d+)?)(?:\s+([A-Za-z]+))?\s+\(`(sizeof\([\w:]+\)|(?:\w+::)?k[A-Z]\w*)`\)")
FIELDS = re.compile(r"^\| field \| bytes \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)\n?(.*)", re.MULTILINE)
IN_ALL = re.compile(r"In all (\d+) bytes \(`sizeof\([\w:]+\)`\)")


class Sources:
    """The constants, enumerators and sizes that the files of src and include define."""

    def __init__(self, root):
        root = pathlib.Path(root)
        files = [p for folder in ("src", "include") for p in sorted((root / folder).rglob("*"))
                 if p.suffix in (".hpp", ".cpp", ".h")]
        self.texts = [re.sub(r"//.*", "", p.read_text(encoding="utf-8")) for p in files]

    def naming(self, *words):
        """The texts that contain all these words: to look for words first is much faster than a pattern alone."""
        return [text for text in self.texts if all(word in text for word in words)]

    @functools.cache
    def enumerators(self, enumeration):
        """The numbers of an enumeration's enumerators by their names, without the last one if that only counts them."""
        defined = re.compile(rf"\benum class {enumeration}\b[^;{{]*\{{([^}}]*)\}}")
        bodies = [body for text in self.naming("enum class " + enumeration) for body in defined.findall(text)]
        numbers = {}
        for entry in (e.strip() for body in bodies for e in body.split(",") if e.strip()):
            name, _, number = (part.strip() for part in entry.partition("="))
            numbers[name] = int(number, 0) if number else max(numbers.values(), default=-1) + 1
        return {name: number for name, number in numbers.items() if name != "count_"}

    def kinds(self):
        """The names of all 16-bit numbers but LIMITS."""
        defined = re.compile(rf"constexpr std::uint16_t (\w+) = (?:{NUMBER});")
        return {name for text in self.naming("uint16_t") for name in defined.findall(text)} - LIMITS

    def sizes_of(self, name):
        """The sizes that the sources assert for a type."""
        asserted = re.compile(rf"\bsizeof\({name}\) == (\d+)(?=\)| &&|,)")
        return {int(size) for text in self.naming(f"sizeof({name})") for size in asserted.findall(text)}

    @functools.cache
    def values_of(self, name):
        """The numbers that `name` or `scope::name` has."""
        scope, _, constant = name.rpartition("::")
        texts = self.naming(constant, scope)
        if scope:
            number = self.enumerators(scope).get(constant)
            if number is not None:
                return {number}
            declared = re.compile(rf"\b(?:struct|class)\s+{scope}\b[^;{{]*\{{.*?\n\}};", re.DOTALL)
            texts = [match for text in texts for match in declared.findall(text)]
        assigned = re.compile(rf"(?:chrono::(\w+) )?\b{constant}(?:\s*=\s*|\{{)([^;]+?)\}}?;|#define {constant} (\d+)$",
                              re.MULTILINE)
        found = [match for text in texts for match in assigned.findall(text)]
        values = {self.evaluated(value or macro, CHRONO.get(unit, 1), constant) for unit, value, macro in found}
        return values - {None}

    def evaluated(self, expression, unit, defined):
        """The number that the definition of a constant by numbers and other constants has, or None."""
        expression = re.sub(r"[\w:]+\{(\w+)\}", r"\1", expression).replace("'", "")
        expression = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", expression)
        for name in set(re.findall(r"(?:\b\w+::)?\b[A-Za-z_]\w+", expression)):
            values = self.values_of(name) if re.fullmatch(r"(?:\w+::)?k[A-Z]\w*|RMA_\w+", name) and name != defined else ()
            if len(values) != 1:
                return None
            expression = re.sub(rf"\b{name}\b", str(*values), expression)
        if not re.fullmatch(r"[\dxa-fA-F<*/+\-() ]+", expression):
            return None
        return eval(expression.replace("/", "//"), {"__builtins__": {}}) * unit  # digits and operators only


def rows(text):
    """The number and the constant of each row that has both."""
    for line in text.splitlines():
        number, *others = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else [""]
        names = [match[1] for cell in others if (match := re.fullmatch(rf"`({CONSTANT})`", cell))]
        if re.fullmatch(NUMBER, number) and len(names) == 1:
            yield int(number, 0), names[0]


def quantities(text):
    """The number and the name of each `16 KiB (`kConstant`)`, and how the document writes it."""
    for match in QUANTITY.finditer(text):
        number, unit, name = match.groups()
        yield round(float(number) * UNITS.get(unit, 1)), name, " ".join(match[0].split())


def wrong_sums(text):
    """What is wrong with the tables of fields."""
    for table, below in FIELDS.findall(text):
        total = sum(int(size) for row in table.splitlines() for size in re.findall(r"\d+", row.split("|")[2]))
        stated = IN_ALL.match(below)
        if not stated:
            yield f"a table of fields, of {total} bytes in all, lacks its line \"In all ... bytes\""
        elif int(stated[1]) != total:
            yield f"the fields have {total} bytes, and not {stated[1]}"


def wrong_facts(root, documents):
    """One text for each fact of the documents that the sources contradict, and for each row that is missing."""
    sources = Sources(root)
    listed = set()
    for document in documents:
        text = (pathlib.Path(root) / document).read_text(encoding="utf-8")
        for number, name in rows(text):
            listed |= {name, name.rpartition("::")[2]}
            values = sources.values_of(name)
            if values != {number}:
                yield f"{document}: `{name}` is {number}: src has {sorted(values) or 'no such constant'}"
        for number, name, written in quantities(text):
            values = sources.sizes_of(name[len("sizeof("):-1]) if name.startswith("sizeof") else sources.values_of(name)
            if values != {number}:
                yield f"{document}: {written} is {number}: src has {sorted(values) or 'no such constant'}"
        for wrong in wrong_sums(text):
            yield f"{document}: {wrong}"
    wanted = {f"{enumeration}::{name}" for enumeration in ENUMERATIONS for name in sources.enumerators(enumeration)}
    for name in sorted((wanted | sources.kinds()) - listed):
        yield f"no table of the documents has a row for `{name}`"
