#!/usr/bin/env python3
"""How rmarun chooses the MPI of a program that was linked with Open MPI's or MPICH's.

usage: chosen.py MPI CASE RMARUN PROGRAM

MPI is openmpi or mpich.
"""

import os
import signal
import subprocess
import sys

OURS = "librma"
# How the version of the MPI itself begins, the variable of a rank's number, and the library that the program needs.
THEIRS, VARIABLE, LIBRARY, INSTEAD = {
    "openmpi": ("Open MPI v", "OMPI_COMM_WORLD_RANK", "libmpi.so.40", "libmpi.so.40"),
    "mpich": ("MPICH Version", "PMI_RANK", "libmpich.so.12", "libmpi.so.12")}[sys.argv[1]]


def run(rmarun, *words, variables=None):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("OMPI_", "PMI_", "MPI_LOCAL")) and name != "RMA_MPI"}
    return subprocess.run([rmarun, *words], env={**environment, **(variables or {})}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=90)


def expect_ours(result, ranks=2):
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result
    for rank in range(ranks):
        assert any(line.startswith(f"rank {rank} of {ranks}: {OURS}") and
                   line.endswith(f"{VARIABLE} {rank} of {ranks}") for line in lines), result


def asked(rmarun, program):
    expect_ours(run(rmarun, "--mpi", sys.argv[1], "-n", "2", program))


def by_itself(rmarun, program):
    expect_ours(run(rmarun, "-n", "2", program))
    # Where the program lies relative to the directory in which the ranks start.
    folder, name = os.path.split(program)
    expect_ours(run(rmarun, "-n", "2", "--wdir", folder, f"./{name}"))


def own(rmarun, program):
    result = run(rmarun, "--mpi", "own", "-n", "1", program)
    assert result.returncode == 0 and THEIRS in result.stdout, result


def through_a_shell(rmarun, program):
    expect_ours(run(rmarun, "--mpi", sys.argv[1], "-n", "2", "sh", "-c", f"{program}; true"))


def not_told(rmarun, program):
    result = run(rmarun, "-n", "2", "sh", "-c", f"{program}; true")
    assert result.returncode == 0 and THEIRS in result.stdout, result
    advice = f"{LIBRARY}, and no rank has joined the job; with --mpi {sys.argv[1]} it gets librma's {INSTEAD}"
    assert advice in result.stderr, result
    # A user who asks for the MPI itself gets no advice.
    result = run(rmarun, "--mpi", "own", "-n", "2", "sh", "-c", f"{program}; true")
    assert result.returncode == 0 and THEIRS in result.stdout and LIBRARY not in result.stderr, result


def another_process(rmarun, program):
    # Programs that are no ranks, while something else on this machine loads the MPI.
    other = ["sh", "-c", f"while kill -0 $$ 2> /dev/null; do {program} > /dev/null 2>&1; done"]
    with subprocess.Popen(other, stdin=subprocess.DEVNULL, start_new_session=True) as loader:
        try:
            result = run(rmarun, "-n", "2", "sh", "-c", "sleep 1")
        finally:
            os.killpg(loader.pid, signal.SIGKILL)
    assert result.returncode == 0 and result.stderr == "", result


def by_variable(rmarun, program):
    expect_ours(run(rmarun, "-n", "2", "sh", "-c", program, variables={"RMA_MPI": sys.argv[1]}))
    expect_ours(run(rmarun, "--genv", f"RMA_MPI={sys.argv[1]}", "-n", "2", "sh", "-c", program))


def no_such_value(rmarun, program):
    result = run(rmarun, "-n", "2", program, variables={"RMA_MPI": "lam"})
    assert result.returncode == 1 and "RMA_MPI is 'lam'; it may be auto, openmpi, mpich or own" in result.stderr, result
    result = run(rmarun, "--mpi", "lam", "-n", "2", program)
    assert result.returncode == 2, result


if __name__ == "__main__":
    globals()[sys.argv[2]](*sys.argv[3:])
