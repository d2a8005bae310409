#!/usr/bin/env python3
"""How rmarun chooses the MPI of a program that was linked with Open MPI's.

usage: chosen.py CASE RMARUN PROGRAM
"""

import os
import subprocess
import sys

OURS, THEIRS = "librma", "Open MPI v"


def run(rmarun, *words, variables=None):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_") and name != "RMA_MPI"}
    return subprocess.run([rmarun, *words], env={**environment, **(variables or {})}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=90)


def expect_ours(result, ranks=2):
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result
    for rank in range(ranks):
        assert any(line.startswith(f"rank {rank} of {ranks}: {OURS}") and
                   line.endswith(f"OMPI_COMM_WORLD_RANK {rank} of {ranks}") for line in lines), result


def asked(rmarun, program):
    expect_ours(run(rmarun, "--mpi", "openmpi", "-n", "2", program))


def by_itself(rmarun, program):
    expect_ours(run(rmarun, "-n", "2", program))
    # Where the program lies relative to the directory in which the ranks start.
    folder, name = os.path.split(program)
    expect_ours(run(rmarun, "-n", "2", "--wdir", folder, f"./{name}"))


def own(rmarun, program):
    result = run(rmarun, "--mpi", "own", "-n", "1", program)
    assert result.returncode == 0 and THEIRS in result.stdout, result


def through_a_shell(rmarun, program):
    expect_ours(run(rmarun, "--mpi", "openmpi", "-n", "2", "sh", "-c", f"{program}; true"))


def not_told(rmarun, program):
    result = run(rmarun, "-n", "2", "sh", "-c", f"{program}; true")
    assert result.returncode == 0 and THEIRS in result.stdout, result
    assert "libmpi.so.40, and no rank has joined the job; with --mpi openmpi it gets librma's" in result.stderr, result
    # Whoever wants Open MPI itself hears nothing of it.
    result = run(rmarun, "--mpi", "own", "-n", "2", "sh", "-c", f"{program}; true")
    assert result.returncode == 0 and THEIRS in result.stdout and "libmpi.so.40" not in result.stderr, result


def by_variable(rmarun, program):
    expect_ours(run(rmarun, "-n", "2", "sh", "-c", program, variables={"RMA_MPI": "openmpi"}))
    expect_ours(run(rmarun, "--genv", "RMA_MPI=openmpi", "-n", "2", "sh", "-c", program))


def no_such_value(rmarun, program):
    result = run(rmarun, "-n", "2", program, variables={"RMA_MPI": "mpich"})
    assert result.returncode == 1 and "RMA_MPI is 'mpich'; it may be auto, openmpi or own" in result.stderr, result
    result = run(rmarun, "--mpi", "mpich", "-n", "2", program)
    assert result.returncode == 2, result


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
