#!/usr/bin/env python3
"""Checks that each path that the documents write in backticks exists, and that constants have the values in their tables.

usage: documents.py PROJECT_ROOT     prints each path that is not there and each wrong value; exits 1 when there are any

A path is a word in backticks with a slash or with one of the endings of the project's files. It is relative to the
project, to src, to include, or to the folder of the document. A name without a folder is that of any file. `*` and
`{a,b}` mean what they mean in a shell; a word in capital letters stands for a name, and paths below build/ and absolute
ones are not checked.

A row of a table of constants is `| number | meaning | `name` |`. The name is a constant or enumerator of src, behind the
class or enumeration that has it if several have one of this name.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

CONSTANT = re.compile(r"^\| *(0x[0-9a-f]+|\d+) *\|[^|\n]*\| *`([A-Za-z_:]+)` *\|$", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
# Files that the build or a benchmark makes.
GENERATED = {"mpi.h", "mpif.h", "shmem.h", "machine.txt"}
ENDINGS = (".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".txt", ".md", ".map", ".cmake", ".in", ".inc", ".f90")
PATH = re.compile(r"^[A-Za-z0-9_.{},*+-]+(?:/[A-Za-z0-9_.{},*+-]*)*$")


def expanded(pattern):
    """The patterns that `{a,b}` in a pattern stands for."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    head, tail = pattern[:match.start()], pattern[match.end():]
    return [name for part in match.group(1).split(",") for name in expanded(head + part + tail)]


def candidates(text, folders):
    """The words of a document that are paths of the project: those that end as its files do, and those that begin with
    one of its folders."""
    for span in SPAN.findall(text):
        for word in span.split():
            word = word.rstrip(".,;:)").removeprefix("./").removeprefix("(")
            if not PATH.match(word) or word.startswith(("build", "/")) or re.search(r"\b[A-Z]{2,}\b", word):
                continue
            if word.endswith(ENDINGS) and not word.startswith(".") or word.partition("/")[0] in folders and "/" in word:
                yield word


def missing(root, documents):
    """One text for each path in the documents that does not exist."""
    root = pathlib.Path(root).resolve()
    listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=False).stdout.split()
    files = listed or [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    paths = set(files) | {str(parent) for f in files for parent in pathlib.PurePath(f).parents}
    names = {pathlib.PurePath(f).name for f in files} | GENERATED
    folders = {f.partition("/")[0] for f in paths if "/" in f}
    for document in documents:
        text = (root / document).read_text(encoding="utf-8")
        here = str(pathlib.PurePath(document).parent)
        for word in candidates(text, folders):
            for path in expanded(word.rstrip("/")):
                tried = [path, f"src/{path}", f"include/{path}", f"{here}/{path}".removeprefix("./")]
                pool = paths if "/" in path else names | paths
                if not any(fnmatch.filter(pool, t) if "*" in t else t in pool for t in tried):
                    yield f"{document}: `{word}`: there is no {path}"


def values_of(sources, name):
    """The numbers that `name` or `scope::name` has in the sources."""
    scope, _, constant = name.rpartition("::")
    if scope:
        declared = re.compile(rf"\b(?:struct|class)\s+{scope}\b[^;{{]*\{{.*?\n\}};", re.DOTALL)
        sources = [match for text in sources for match in declared.findall(text)]
    assigned = re.compile(rf"\b{constant}\s*=\s*(0x[0-9a-fA-F]+|\d+)\b(?!')")
    return {int(value, 0) for text in sources for value in assigned.findall(text)}


def wrong_values(root, documents):
    """One text for each constant that has another value than a table in the documents says."""
    sources = [path.read_text(encoding="utf-8") for path in sorted((pathlib.Path(root) / "src").rglob("*.hpp"))]
    for document in documents:
        for number, name in CONSTANT.findall((root / document).read_text(encoding="utf-8")):
            values = values_of(sources, name)
            if values != {int(number, 0)}:
                yield f"{document}: `{name}` is {number}: src has {sorted(values) or 'no such constant'}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    documents = [*(str(p.relative_to(root)) for p in sorted(root.glob("docs/*.md"))), "README.md", "CONTRIBUTING.md"]
    found = [*missing(root, documents), *wrong_values(root, documents)]
    for text in found:
        print(text)
    print(f"{len(found)} paths and values of {len(documents)} documents are wrong")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
