#!/usr/bin/env python3
"""Checks the project's include graph against src/layers.txt.

usage: include_graph.py PROJECT_ROOT     prints each include that the table does not allow, and each entry of it that no
                                         include needs; exits 1 when there are any
"""

import pathlib
import re
import sys

# Folders of programs that use only the public headers, as a user of the library does.
USERS = ("apps", "examples")

# A folder of src with more files is divided into rooms.
MOST_FILES = 40

SOURCE_SUFFIXES = {".h", ".hpp", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
LAYER = re.compile(r"^([a-z_]+(?:/(?:[a-z_]+|\.))?):(.*)$", re.MULTILINE)


def read_layers(root):
    """Returns, from the table, each folder of src with the folders that it may use, and each room `folder/room` with the
    rooms of its folder that it may use; and the errors of the table."""
    knows, wrong = {}, []
    for folder, known in LAYER.findall((root / "src/layers.txt").read_text(encoding="utf-8")):
        house = folder.rpartition("/")[0]
        names = [f"{house}/{name}" if house else name for name in known.split()]
        for name in names:
            if name not in knows:
                wrong.append(f"src/layers.txt: {folder} may know {name}, which does not stand above it")
        knows[folder] = set(names)
    return knows, wrong


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


def room_of(path):
    """The room of a file, by its path relative to src; "." if it lies beside the rooms."""
    return f"{path.parts[0]}/{path.parts[1] if len(path.parts) > 2 else '.'}"


def wrong_rooms(root, knows):
    """Yields one text for each violation between the rooms of one folder."""
    houses = {room.partition("/")[0] for room in knows if "/" in room}
    for house in sorted(houses):
        used = {room: set() for room in knows if room.startswith(f"{house}/")}
        for path in source_files(root / "src" / house):
            room = room_of(path.relative_to(root / "src"))
            if room not in used:
                yield f"{path.relative_to(root)}: not in a room of src/layers.txt"
                continue
            for target in included_files(root, path):
                if target.parts[:2] != ("src", house):
                    continue
                other = room_of(target.relative_to("src"))
                if other == room:
                    continue
                used[room].add(other)
                if other not in knows[room]:
                    yield f"{path.relative_to(root)} includes {target}: {room} may not know {other}"
        for room in used:
            for unused in sorted(knows[room] - used[room]):
                yield f"src/layers.txt: {room} may know {unused}, and no file of it does"


def most_files(root):
    """Yields one text for each folder of src that has more than MOST_FILES files side by side."""
    for folder in sorted(path for path in (root / "src").rglob("*") if path.is_dir()):
        count = sum(path.is_file() for path in folder.iterdir())
        if count > MOST_FILES:
            yield f"{folder.relative_to(root)} has {count} files side by side: more than {MOST_FILES} need rooms"


def violations(root):
    """One text for each include that is not allowed, and for each folder or entry that the table should not have."""
    root = pathlib.Path(root).resolve()
    knows, found = read_layers(root)

    found += [*wrong_rooms(root, knows), *most_files(root)]
    for folder in sorted(path.name for path in (root / "src").iterdir() if path.is_dir()):
        if folder not in knows:
            found.append(f"src/{folder}: not in src/layers.txt")
            continue
        allowed = knows[folder] | {folder}
        used = set()
        for path in source_files(root / "src" / folder):
            for target in included_files(root, path):
                if target.parts[0] == "src":
                    used.add(target.parts[1])
                if target.parts[0] == "src" and target.parts[1] not in allowed:
                    found.append(f"{path.relative_to(root)} includes {target}: {folder} may not know {target.parts[1]}")
                elif target.parts[0] not in ("src", "include"):
                    found.append(f"{path.relative_to(root)} includes {target}: the library may not know its users")
        for unused in sorted(knows[folder] - used):
            found.append(f"src/layers.txt: {folder} may know {unused}, and no file of it does")

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
    print(f"{len(found)} violations of src/layers.txt")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
