#!/usr/bin/env python3
"""Checks that each path that the documents write in backticks exists, and each heading that their links name, and that the
facts that they repeat from the sources are right (document_facts.py).

usage: documents.py PROJECT_ROOT     prints each missing path or heading and each wrong fact; exits 1 if there are any

A path is a word in backticks with a slash or with one of the endings of the project's files. It is relative to the
project, to src, to include, or to the folder of the document. A name without a folder is that of any file. `*` and
`{a,b}` mean what they mean in a shell; a word in capital letters stands for a name, and paths below build/ and absolute
ones are not checked.

A link names a heading as GitHub does: in small letters, with hyphens between its words and no other marks.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys

import document_facts

SPAN = re.compile(r"`([^`\n]+)`")
# Files that the build or a benchmark makes.
GENERATED = {"mpi.h", "mpif.h", "shmem.h", "machine.txt"}
ENDINGS = (".cpp", ".hpp", ".h", ".c", ".py", ".sh", ".txt", ".md", ".map", ".cmake", ".in", ".inc", ".f90")
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)")
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


def headings(text):
    """The names by which links find the headings of a document."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(next(n for n in [name, *(f"{name}-{i}" for i in range(1, 100))] if n not in found))
    return found


def wrong_links(root, documents):
    """One text for each link to a file or heading that does not exist."""
    root = pathlib.Path(root)
    for document in documents:
        text = (root / document).read_text(encoding="utf-8")
        for file, heading in LINK.findall(text):
            target = (root / document).parent / file if file else root / document
            if not target.exists():
                yield f"{document}: there is no {file}"
            elif heading and heading not in headings(target.read_text(encoding="utf-8")):
                yield f"{document}: {file or 'the page'} has no heading #{heading}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1]).resolve()
    documents = [*(str(p.relative_to(root)) for p in sorted(root.glob("docs/*.md"))), "README.md", "CONTRIBUTING.md"]
    found = [*missing(root, documents), *wrong_links(root, documents), *document_facts.wrong_facts(root, documents)]
    for text in found:
        print(text)
    print(f"{len(found)} paths, links and facts of {len(documents)} documents are wrong")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
