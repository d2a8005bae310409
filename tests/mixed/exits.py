#!/usr/bin/env python3
"""One rank ends without finalizing while the others wait for it: the job ends with its code, in every interface.

usage: exits.py RMARUN PROGRAM [FORTRAN_PROGRAM]
"""

import concurrent.futures
import subprocess
import sys

INTERFACES = ("shmem", "mpi", "armci", "rma", "all")
# How the rank ends, and the exit code of the job. Exit handlers run where the way says so.
FAILING = {"exit": (7, True), "return": (7, True), "_exit": (7, False), "quick_exit": (7, False), "abort": (134, False),
           "thread": (7, True), "fork": (7, True), "_exit-zero": (1, False)}
# A SHMEM program may end with success by returning from main() or by exit(): the library finalizes.
SUCCEEDING = {"shmem": 0}
FORTRAN = {"stop": 7, "error-stop": 8, "exit": 9}


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode, done.stdout


def main():
    rmarun, program, *fortran = sys.argv[1:]
    cases = [((program, interface, way), code, handlers) for interface in INTERFACES
             for way, (code, handlers) in FAILING.items()]
    cases += [((program, interface, "zero"), code, True) for interface, code in SUCCEEDING.items()]
    cases += [((path, way), code, None) for path in fortran for way, code in FORTRAN.items()]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(3) as threads:
        results = threads.map(lambda case: run([rmarun, "-n", "3", "--timeout", "60", *case[0]]), cases)
        for (command, code, handlers), (got, output) in zip(cases, results):
            ran = "an exit handler of the program ran" in output
            if got != code or (handlers and not ran):
                wrong += 1
                print(f"{' '.join(command[1:])}: exit code {got}, expected {code}; exit handlers ran: {ran}\n{output}")
    print(f"{len(cases)} cases, {wrong} are wrong")
    sys.exit(1 if wrong or not cases else 0)


if __name__ == "__main__":
    main()
