#!/usr/bin/env python3
"""Runs clang-tidy on the shipped code, a few files of a folder at a time (.ci/run tidy).

Most of the time goes into the headers that files share, so CMake's unity files are checked instead of the files. The
analyzer looks at the main file only, so each #include of a unity file is replaced by the file's text.

What a group of files was found clean with is kept as a hash in ~/.cache/librma/tidy: the text after preprocessing, with
its comments and macros, the compiler's arguments, the configuration, and clang-tidy's version. A group that is the same as before is not checked
again, which saves a CI run on the same machine ten minutes.

usage: .ci/tidy.py BUILD_FOLDER     (configured with CMAKE_EXPORT_COMPILE_COMMANDS; the checkout is the current folder)
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path.cwd()
CLEAN = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "librma" / "tidy"
SHIPPED = re.compile(r"(src|tools|apps|bench|examples)/.*\.(cpp|cxx)$")
# The analyzer gives a function up after 30,000 steps instead of 225,000, which takes a third of the time.
ANALYZER = ["-Xclang", "-analyzer-config", "-Xclang", "max-nodes=30000"]


def parts_of(source):
    """Returns the files that a unity file includes, or the file itself."""
    if "Unity" not in source.parts:
        return {str(source)}
    return set(re.findall(r'^#include "(/.+)"$', source.read_text(), re.MULTILINE))


def groups(build):
    """Returns (source, compiler's arguments without output) of the shipped code. MPI's sources are compiled three times, and
    checked once: a group is left out if other groups have all of its files."""
    personalities = {"-DRMA_MPI_OPENMPI", "-DRMA_MPI_MPICH"}
    found = sorted(all_groups(build), key=lambda group: not personalities.isdisjoint(group[1]))
    seen = set()
    chosen = []
    for source, command in found:
        parts = parts_of(source)
        if parts <= seen:
            continue
        seen |= parts
        chosen.append((source, command))
    return chosen


def all_groups(build):
    """Yields (source, compiler's arguments without output) of the shipped code."""
    seen = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        inside = source.relative_to(build) if source.is_relative_to(build) else source.relative_to(ROOT)
        if source in seen or not SHIPPED.fullmatch(str(inside)):
            continue
        seen.add(source)
        words = shlex.split(entry["command"])
        at = words.index("-o")
        yield source, [word for word in words[:at] + words[at + 2:] if word != "-c"]


def expand(source):
    """Replaces the #includes of a unity file by the texts of the files."""
    text = source.read_text()
    lines = []
    for line in text.splitlines():
        part = re.fullmatch(r'#include "(/.+)"', line)  # not those of files that were put in before
        lines.append(f'#line 1 "{part[1]}"\n{pathlib.Path(part[1]).read_text()}' if part else line)
    source.write_text("\n".join(lines) + "\n")


def generate(build, sources):
    """Makes the generated files that unity files include."""
    parts = {part for source in sources if "Unity" in source.parts
             for part in re.findall(r'^#include "(/.+)"$', source.read_text(), re.MULTILINE)}
    missing = [str(pathlib.Path(part).relative_to(build)) for part in parts if not pathlib.Path(part).exists()]
    if missing:
        subprocess.run(["cmake", "--build", str(build), "--target", *missing], stdout=subprocess.DEVNULL, check=True)


def state_of(source, command, extra, version):
    """Returns a hash of all that clang-tidy's result depends on. Names of this checkout do not count."""
    compiler = [word for word in command if not word.endswith("ccache")]
    compiler[0] = "clang++"
    text = subprocess.run([*compiler, "-w", *extra, "-E", "-C", "-dD"], capture_output=True, check=False)
    if text.returncode != 0:
        return None
    state = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes() + " ".join(ANALYZER).encode())
    for part in " ".join(compiler + extra).encode(), text.stdout:
        state.update(part.replace(str(ROOT).encode(), b"."))
    return state.hexdigest()


def check(build, source, command, version):
    """Returns (findings, checked): the text of the findings, and whether clang-tidy ran."""
    if "Unity" in source.parts:
        expand(source)
    folder = str(source).replace(str(build), str(ROOT)).split("/CMakeFiles/")[0]
    extra = ["-iquote", folder]
    state = state_of(source, command, extra, version)
    if state is not None and (CLEAN / state).exists():
        return "", False
    arguments = [f"--extra-arg={word}" for word in extra + ANALYZER]
    run = subprocess.run(["clang-tidy", "-p", str(build), "--quiet", *arguments, str(source)],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if run.returncode != 0:
        return f"{source}: refused\n{run.stdout}", True
    if state is not None:
        (CLEAN / state).touch()
    return "", True


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    CLEAN.mkdir(parents=True, exist_ok=True)
    chosen = groups(build)
    if not chosen:
        sys.exit("tidy: there is nothing to check")
    generate(build, [source for source, _ in chosen])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda group: check(build, *group, version), chosen))
    for findings, _ in results:
        if findings:
            print(findings)
    ran = sum(checked for _, checked in results)
    print(f"tidy: {len(chosen)} groups of files, {ran} checked, {len(chosen) - ran} as clean as before")
    sys.exit(any(findings for findings, _ in results))


if __name__ == "__main__":
    main()
