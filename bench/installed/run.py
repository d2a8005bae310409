"""Runs installed programs on Open MPI and on librma in turn, compares their results, and prints their times.

usage: bench/installed.sh [OPTION...] [PROGRAM...]
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from programs import ENVIRONMENT, PROGRAMS, NotThere, Program

TIME_LIMIT = 900  # seconds for a command
TESTS = pathlib.Path(__file__).parents[2] / "tests/launcher"


@dataclasses.dataclass
class Outcome:
    """The results of one run: its time, the processors' time of all its processes on this host, its numbers, and, if it
    was wrong, the reason."""

    seconds: float = 0.0
    processor: float = 0.0
    numbers: list[float] = dataclasses.field(default_factory=list)
    wrong: str = ""


@dataclasses.dataclass
class Row:
    """The medians of one program at one number of ranks. An empty `wrong` means that all runs were right."""

    program: str
    ranks: int
    open_mpi: float = 0.0
    librma: float = 0.0
    open_mpi_processor: float = 0.0
    librma_processor: float = 0.0
    other_hosts: bool = False
    compared: int = 0
    wrong: str = ""


def printed(program: Program, output: str, folder: pathlib.Path) -> str:
    """Returns all that a command has printed, and what it has written into its files of results."""
    files = [folder / name for name in program.results]
    return output + "".join(file.read_text(errors="replace") for file in files if file.exists())


def processor_seconds() -> float:
    """Returns the time that the processors have spent in programs that have ended, in user and in system mode."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program: Program, launcher: list[str], folder: pathlib.Path) -> Outcome:
    """Runs the program's commands in a folder that has its input."""
    outcome = Outcome()
    used_before = processor_seconds()
    for command in program.commands:
        started = time.monotonic()
        try:
            done = subprocess.run(launcher + command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            outcome.wrong = f"{command[0]} did not end within {TIME_LIMIT} s"
            return outcome
        elapsed = time.monotonic() - started
        text = printed(program, done.stdout.decode(errors="replace"), folder)
        if (done.returncode != 0) != program.aborts:
            outcome.wrong = f"{command[0]} ended with {done.returncode}: {text.strip().splitlines()[-1:]}"
        elif program.passed and not re.search(program.passed, text, re.MULTILINE):
            outcome.wrong = f"{command[0]} did not print '{program.passed}'"
        elif program.failed and (found := re.search(program.failed, text)):
            outcome.wrong = f"{command[0]} printed '{found.group()}'"
        measured = re.search(program.seconds, text) if program.seconds else None
        if program.seconds and not measured and not outcome.wrong:
            outcome.wrong = f"{command[0]} did not print its time"
        if outcome.wrong:
            return outcome
        waited = sum(seconds for printed_then, seconds in program.waits.items() if printed_then in text)
        outcome.seconds += float(measured.group(1)) if measured else elapsed - waited
        if program.numbers:
            for groups in re.finditer(program.numbers, text):
                outcome.numbers += [float(number.replace("D", "E")) for number in groups.groups()]
    outcome.processor = processor_seconds() - used_before
    return outcome


def differ(program: Program, first: Outcome, second: Outcome) -> str:
    """Returns how the numbers of two runs differ, or an empty text."""
    if program.numbers and not first.numbers:
        return "it printed none of the numbers to compare"
    if len(first.numbers) != len(second.numbers):
        return f"{len(first.numbers)} numbers on Open MPI, {len(second.numbers)} on librma"
    for one, other in zip(first.numbers, second.numbers):
        if abs(one - other) > 10.0**-program.digits * max(abs(one), abs(other)):
            return f"{one} on Open MPI, {other} on librma"
    return ""


def measure(program: Program, ranks: int, options: argparse.Namespace) -> Row:
    """Runs one program `rounds` times on each, in turn."""
    row = Row(program.name, ranks)
    where = ["--host", options.hosts] if options.hosts else []
    agent = options.agent
    launchers = {
        "open_mpi": [*options.head, "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *where,
                     *(["--mca", "plm_rsh_agent", agent] if agent else []), *(["-x", "OMP_NUM_THREADS"] if where else [])],
        "librma": [*options.head, str(options.rmarun), "--mpi", "openmpi", "-n", str(ranks), *where,
                   *(["--agent", agent] if agent else [])],
    }
    seconds: dict[str, list[float]] = {"open_mpi": [], "librma": []}
    processor: dict[str, list[float]] = {"open_mpi": [], "librma": []}
    with tempfile.TemporaryDirectory(prefix=f"{program.name}.", dir=options.work) as place:
        prepared = pathlib.Path(place) / "input"
        prepared.mkdir()
        try:
            if not program.commands:
                raise NotThere("its programs are not there")
            program.prepare(prepared, ranks)
        except (NotThere, OSError) as reason:
            row.wrong = f"not run: {reason}"
            return row
        for _ in range(options.rounds):
            outcomes = {}
            for name, launcher in launchers.items():
                folder = pathlib.Path(place) / name
                shutil.copytree(prepared, folder)
                outcomes[name] = run(program, launcher, folder)
                if outcomes[name].wrong:
                    row.wrong = f"on {name.replace('_', ' ')}: {outcomes[name].wrong}"
                    return row
                shutil.rmtree(folder)
                seconds[name].append(outcomes[name].seconds)
                processor[name].append(outcomes[name].processor)
            row.compared = len(outcomes["librma"].numbers)
            row.wrong = differ(program, outcomes["open_mpi"], outcomes["librma"])
            if row.wrong:
                return row
    row.other_hosts = bool(options.hosts)
    row.open_mpi = statistics.median(seconds["open_mpi"])
    row.librma = statistics.median(seconds["librma"])
    row.open_mpi_processor = statistics.median(processor["open_mpi"])
    row.librma_processor = statistics.median(processor["librma"])
    return row


def show(row: Row) -> str:
    """Returns the line of the table for one row."""
    start = f"{row.program:18}{row.ranks:6}"
    if row.wrong:
        return f"{start}  {row.wrong}"
    # The ranks on other hosts are no children of this process, so their time is not known.
    known = row.open_mpi_processor and not row.other_hosts
    processor = f"{row.librma_processor / row.open_mpi_processor:.2f}" if known else "-"
    return (f"{start}{row.open_mpi:12.2f}{row.librma:10.2f}{row.librma / row.open_mpi:8.2f}{processor:>11}"
            f"{row.compared:10}  right")


@contextlib.contextmanager
def two_hosts(options: argparse.Namespace) -> Iterator[None]:
    """Emulates two hosts as the tests of rmarun do, and has both launchers start their ranks on these."""
    sys.path.append(str(TESTS))
    words, sys.argv = sys.argv, ["", "", str(options.rmarun), ""]  # the tests' module reads its program's command line
    from network import Network
    sys.argv = words
    with tempfile.TemporaryDirectory() as place, Network(place, "a", "b") as network:
        options.hosts, options.agent, options.head = "a,b", network.agent, network.inside("head")
        yield


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/installed.sh", description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="which programs (default: all of --list)")
    parser.add_argument("--list", action="store_true", help="name the programs, and end")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is run; times are medians (default 3)")
    parser.add_argument("--ranks", type=int, help="only with so many ranks")
    parser.add_argument("--hosts", help="a list of hosts, for both launchers' --host")
    parser.add_argument("--agent", help="the remote shell that starts processes on those hosts, instead of ssh")
    parser.add_argument("--two-hosts", action="store_true", help="on two hosts that are emulated here (root only)")
    parser.add_argument("--work", type=pathlib.Path, help="a folder for the runs, which all hosts must have (default: /tmp)")
    parser.add_argument("--rmarun", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where the table goes as JSON")
    options = parser.parse_args()
    options.head = []  # the words before both launchers
    names = [program.name for program in PROGRAMS]
    for name in options.programs:
        if name not in names:
            parser.error(f"unknown program '{name}'; there are {', '.join(names)}")
    if options.rounds < 1:
        parser.error("--rounds wants a number of 1 or more")
    return options


def measure_all(options: argparse.Namespace) -> list[Row]:
    """Measures the chosen programs, and prints each row at once."""
    print(f"{'program':18}{'ranks':>6}{'Open MPI s':>12}{'librma s':>10}{'ratio':>8}{'processor':>11}{'numbers':>10}",
          flush=True)
    rows = []
    for program in PROGRAMS:
        if options.programs and program.name not in options.programs:
            continue
        for ranks in program.ranks:
            if options.ranks in (None, ranks):
                rows.append(measure(program, ranks, options))
                print(show(rows[-1]), flush=True)
    return rows


def main() -> int:
    options = arguments()
    if options.list:
        print("\n".join(program.name for program in PROGRAMS))
        return 0
    with two_hosts(options) if options.two_hosts else contextlib.nullcontext():
        rows = measure_all(options)
    if options.json:
        options.json.write_text(json.dumps({"rows": [dataclasses.asdict(row) for row in rows]}, indent=1) + "\n")
    return 1 if any(row.wrong for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
