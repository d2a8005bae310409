#!/usr/bin/env python3
"""Ranks that start programs of librma: under rmarun and Open MPI's mpirun, and behind wrappers.

usage: children.py RMARUN PROGRAM
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

RANKS = 2
WRAPPERS = {"rma": [], "mpi": ["sh", "-c", 'env NAME=value "$@"; exit $?', "sh"], "shmem": ["setsid", "-w"],
            "armci": ["nice", "-n", "1"]}


def run(command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RMA_", "PMIX_"))}
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def main():
    rmarun, program = sys.argv[1:]
    launchers = [[rmarun, "-n", str(RANKS), "--timeout", "200"]]
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun is not None:
        launchers.append([mpirun, "--oversubscribe", "-n", str(RANKS)])
    cases = [[*launcher, *wrapper, program, interface]
             for launcher in launchers for interface, wrapper in WRAPPERS.items()]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        for command, (code, output) in zip(cases, threads.map(run, cases)):
            passed = len(re.findall(rf"a rank of {RANKS} passed", output))
            # Each child says once why it is alone, and nobody else does. MPI cannot begin in a fork of a rank that has
            # finalized it.
            said = len(re.findall(r"this process is a job of one: process \d+ is already rank \d", output))
            children = (10 if command[-1] == "mpi" else 11) * RANKS
            if code != 0 or passed != RANKS or said != children:
                wrong += 1
                print(f"{' '.join(command)}: exit code {code}, {passed} ranks passed, {said} remarks\n{output}")
    print(f"{len(cases)} cases, {wrong} are wrong")
    sys.exit(1 if wrong or not cases else 0)


if __name__ == "__main__":
    main()
