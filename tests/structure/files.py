#!/usr/bin/env python3
"""Checks that the repository holds no file that a program left behind: each file is of a kind, and in a folder, that the
project has. Checks that the build has each source file: a test that no list names would never run.

usage: files.py PROJECT_ROOT     prints each file that does not belong to the project, and each source file that nothing
                                 builds; exits 1 when there are any
"""

import pathlib
import re
import subprocess
import sys

FOLDERS = {".ci", "apps", "bench", "cmake", "docs", "examples", "include", "scripts", "src", "tests", "tools"}
ROOT_FILES = {".clang-format", ".clang-tidy", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md",
              "LICENSE", "README.md"}
ENDINGS = {".c", ".cmake", ".cpp", ".css", ".f", ".F", ".f90", ".F90", ".h", ".hpp", ".in", ".inc", ".map", ".md", ".patch",
           ".py", ".sh", ".supp", ".svg", ".txt"}
SOURCES = {".c", ".cpp", ".f", ".F", ".f90", ".F90"}
# Folders whose files have the names and endings that other programs want.
INPUTS = ("bench/installed/inputs/", "tests/fuzz/corpus/")


def strangers(files):
    """The files, as paths from the project's root, that do not belong to the project."""
    for file in files:
        path = pathlib.PurePosixPath(file)
        known = (file in ROOT_FILES if len(path.parts) == 1 else
                 path.parts[0] in FOLDERS and (path.suffix in ENDINGS or not path.suffix or file.startswith(INPUTS)))
        if not known:
            yield file


def builds(file):
    """Whether a file, a path from the project's root, may say how source files are built."""
    path = pathlib.PurePosixPath(file)
    return path.name == "CMakeLists.txt" or path.suffix in {".cmake", ".sh"} or file == ".ci/run"


def unbuilt(files, build_text):
    """The source files whose names, without their endings, are no word of the text of all files that build."""
    words = set(re.findall(r"\w+", build_text))
    for file in files:
        path = pathlib.PurePosixPath(file)
        if file.startswith(INPUTS) or path.suffix not in SOURCES:
            continue
        if path.stem not in words and not words.issuperset(re.findall(r"\w+", path.stem)):
            yield file


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    listed = subprocess.run(["git", "-C", sys.argv[1], "ls-files"], capture_output=True, text=True, check=False).stdout.split()
    found = list(strangers(listed))
    for file in found:
        print(f"{file}: no file of the project is of this kind in this folder (see tests/structure/files.py)")
    print(f"{len(found)} of {len(listed)} files do not belong to the project")
    root = pathlib.Path(sys.argv[1])
    build_text = "\n".join((root / file).read_text() for file in listed if builds(file) and (root / file).is_file())
    forgotten = list(unbuilt(listed, build_text))
    for file in forgotten:
        print(f"{file}: no CMakeLists.txt and no script names this source file, so nothing builds it")
    sys.exit(1 if found or forgotten else 0)


if __name__ == "__main__":
    main()
