#!/usr/bin/env python3
"""Compiles each C++ header of src and include by itself (.ci/run headers).

A header that lacks an include compiles behind others that have it, so no source file shows what it lacks. The C headers
of include are checked by tests/structure/c_headers.py.

A header is compiled with the arguments of a source file of its folder, or of the nearest one. The headers of a folder
that were found complete are remembered in the way of .ci/tidy.py, and beside what it remembers: as a hash of the text
after preprocessing, here of a file that includes them all.

usage: .ci/headers.py BUILD_FOLDER     (as .ci/tidy.py)
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys

import tidy


def commands_of_folders(build):
    """Returns the compiler's arguments, without a source, of each folder of src that has sources."""
    commands = {}
    for source, command in tidy.groups(build):
        words = [word for word in command if word != str(source) and not word.endswith("ccache")]
        for part in tidy.parts_of(source):
            folder = pathlib.Path(part).parent
            if folder.is_relative_to(tidy.ROOT / "src"):
                commands.setdefault(folder, ["clang++", *words[1:]])
    return commands


def headers_of_folders():
    """Returns the headers of each folder."""
    listed = subprocess.run(["git", "ls-files", "src/*.hpp", "include/*.hpp"], capture_output=True, text=True, check=True)
    headers = {}
    for name in listed.stdout.split():
        header = tidy.ROOT / name
        if header.exists():
            headers.setdefault(header.parent, []).append(header)
    return headers


def nearest(folder, commands):
    """Returns the arguments of the folder with sources that shares the longest path with `folder`."""
    return commands[max(sorted(commands), key=lambda other: len(os.path.commonpath([folder, other])))]


def check(build, headers, command, version):
    """Returns (findings, checked): the text of the findings, and whether the headers were compiled."""
    folder = headers[0].parent.relative_to(tidy.ROOT)
    together = build / "headers" / f"{str(folder).replace('/', '-')}.cpp"
    together.write_text("".join(f'#include "{header}"\n' for header in headers))
    state = tidy.state_of(together, [*command, str(together)], [], version)
    if state is not None and (tidy.CLEAN / state).exists():
        return "", False
    findings = ""
    for header in headers:
        run = subprocess.run([*command, "-w", "-fsyntax-only", "-x", "c++", str(header)],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            findings += f"{header.relative_to(tidy.ROOT)} does not compile by itself\n{run.stderr}\n"
    if not findings and state is not None:
        (tidy.CLEAN / state).touch()
    return findings, True


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    version = b"headers " + subprocess.run(["clang++", "--version"], capture_output=True, check=True).stdout
    tidy.CLEAN.mkdir(parents=True, exist_ok=True)
    (build / "headers").mkdir(exist_ok=True)
    # ISO_Fortran_binding.h is gfortran's. Behind clang's own headers this folder shadows none of them.
    fortran = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
    commands = {folder: [*command, "-idirafter", fortran] for folder, command in commands_of_folders(build).items()}
    folders = headers_of_folders()
    if not commands or not folders:
        sys.exit("headers: there is nothing to check")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda folder: check(build, folders[folder], nearest(folder, commands), version), folders))
    for findings, _ in results:
        if findings:
            print(findings)
    count = sum(map(len, folders.values()))
    ran = sum(len(headers) for headers, (_, checked) in zip(folders.values(), results) if checked)
    print(f"headers: {count} headers, {ran} compiled, {count - ran} as complete as before")
    sys.exit(any(findings for findings, _ in results))


if __name__ == "__main__":
    main()
