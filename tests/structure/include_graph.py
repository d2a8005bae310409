#!/usr/bin/env python3
"""Checks the project's include graph against the table of docs/architecture.md.

usage: include_graph.py PROJECT_ROOT     prints each include that the table does not allow; exits 1 when there are any
"""

import pathlib
import re
import sys

# Each folder of src, and the folders that its files may include. Every folder may include itself and the public C
# headers, which know nothing of src.
KNOWS = {
    "util": set(),
    "bootstrap": {"util"},
    "transport": {"util"},
    "malloc": {"util"},
    "core": {"malloc", "transport", "bootstrap", "util"},
    "channel": {"core", "malloc", "transport", "util"},
    "helper_thread": {"channel", "core", "util"},
    "atomics": {"helper_thread", "channel", "core", "util"},
    "strided": {"helper_thread", "channel", "atomics", "core", "transport", "util"},
    "collectives": {"atomics", "strided", "channel", "core", "util"},
    "api": {"util", "bootstrap", "transport", "malloc", "core", "channel", "helper_thread", "atomics", "strided",
            "collectives"},
    "armci": {"util"},
    "fortran": {"util"},
}

# Programs that show or measure what a user of the library can do, and so have no more than a user has.
USERS = ("apps", "examples")

SOURCE_SUFFIXES = {".h", ".hpp", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def source_files(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCE_SUFFIXES)


def included_files(root, path):
    """The project's own files that `path` includes, relative to `root`; other names are the system's."""
    for quote, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        bases = [root / "src", root / "include"]
        if quote == '"':
            bases.insert(0, path.parent)
        for base in bases:
            candidate = (base / name).resolve()
            if candidate.is_file() and root in candidate.parents:
                yield candidate.relative_to(root)
                break


def violations(root):
    """One text for each include that is not allowed, and for each folder that the table does not have."""
    root = pathlib.Path(root).resolve()
    found = []

    for folder in sorted(path.name for path in (root / "src").iterdir() if path.is_dir()):
        if folder not in KNOWS:
            found.append(f"src/{folder}: not in the table; add it there and to {pathlib.Path(__file__).name}")
            continue
        allowed = KNOWS[folder] | {folder}
        for path in source_files(root / "src" / folder):
            for target in included_files(root, path):
                if target.parts[0] == "src" and target.parts[1] not in allowed:
                    found.append(f"{path.relative_to(root)} includes {target}: {folder} may not know {target.parts[1]}")
                elif target.parts[0] not in ("src", "include"):
                    found.append(f"{path.relative_to(root)} includes {target}: the library may not know its users")

    for path in source_files(root / "include"):
        for target in included_files(root, path):
            if target.parts[0] != "include":
                found.append(f"{path.relative_to(root)} includes {target}: a public header may only know its like")

    for user in USERS:
        for path in source_files(root / user):
            for target in included_files(root, path):
                if target.parts[0] not in ("include", user):
                    found.append(f"{path.relative_to(root)} includes {target}: {user} may only know the public headers")

    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = violations(sys.argv[1])
    for text in found:
        print(text)
    print(f"{len(found)} includes against the architecture")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
