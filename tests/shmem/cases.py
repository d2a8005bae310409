#!/usr/bin/env python3
"""Runs the cases of shmem-misuse under the launcher, and looks at their exit codes and at what they print.

usage: cases.py RMARUN PROGRAM
"""

import concurrent.futures
import os
import re
import subprocess
import sys

# Case, environment, exit code, and what the output must contain.
CASES = [
    ("bad-pe", {}, 1, r"PE \d: shmem_int_p: there is no PE 2; the job has PEs 0 to 1"),
    ("bad-pe-of-nothing", {}, 1, r"PE \d: shmem_putmem: there is no PE 2; the job has PEs 0 to 1"),
    ("bad-pe-of-no-blocks", {}, 1, r"shmem_long_iget: there is no PE -1;"),
    # One warning.
    ("outside-the-set", {}, 0, r"\A(done\n)*PE 1: shmem_barrier: this PE is not one of the active set of 1 PEs .*\n(done\n)*\Z"),
    ("negative-pe", {}, 1, r"shmem_long_g: there is no PE -1;"),
    ("not-symmetric", {}, 1, r"shmem_long_put: the 8 bytes at 0x\w+ are not symmetric"),
    ("beyond-the-heap", {}, 1, r"shmem_char_put: the \d+ bytes at 0x\w+ are not symmetric"),
    ("atomic-not-symmetric", {}, 1, r"shmem_int_atomic_inc: the 4 bytes at 0x\w+ are not symmetric"),
    ("destroyed-team", {}, 1, r"shmem_long_sum_reduce: there is no team 0x\w+: it was destroyed"),
    ("invalid-team", {}, 1, r"shmem_long_sum_reduce: the team is SHMEM_TEAM_INVALID"),
    ("destroyed-context", {}, 1, r"shmem_ctx_long_p: there is no context 0x\w+: it was destroyed"),
    ("destroy-world", {}, 1, r"shmem_team_destroy: a predefined team cannot be destroyed"),
    ("free-twice", {}, 1, r"shmem_free: 0x\w+ is not the start of a block"),
    ("free-local", {}, 1, r"shmem_free: 0x\w+ is not the start of a block"),
    ("alignment", {}, 1, r"shmem_align: alignment 24 is not a power of two"),
    ("comparison", {}, 1, r"shmem_long_wait_until: there is no comparison 17"),
    ("signal-operation", {}, 1, r"shmem_long_put_signal: there is no signal operation 9"),
    ("not-locked", {}, 1, r"shmem_clear_lock: this PE does not hold the lock"),
    ("locked-twice", {}, 1, r"PE 0: shmem_set_lock: this PE holds the lock at 0x\w+ already"),
    ("active-set", {}, 1, r"shmem_barrier: the job has no active set of 3 PEs"),
    ("different-sizes", {"SHMEM_DEBUG": "1"}, 1, r"shmem_malloc: the PEs gave different arguments"),
    ("debug-not-symmetric", {"SHMEM_DEBUG": "1"}, 1, r"shmem_long_sum_reduce: the 8 bytes at 0x\w+ are not symmetric"),
    ("debug-not-symmetric", {}, 0, r"done"),
    ("global-exit", {}, 37, r"PE 0: shmem_global_exit\(37\)"),
    ("global-exit-of-success", {}, 0, r"\A\Z"),
    ("after-finalize", {}, 1, r"shmem_long_p: OpenSHMEM is not initialized"),
    ("before-init", {}, 1, r"shmem_long_p: OpenSHMEM is not initialized"),
    ("return", {}, 0, r"done"),
    ("again", {}, 0, r"again: 5"),
    ("heap-size", {"SHMEM_SYMMETRIC_SIZE": "1m"}, 0, r"heap: 1 0"),
    ("heap-size", {"SMA_SYMMETRIC_SIZE": "1m"}, 0, r"heap: 1 0"),
    ("heap-size", {"SHMEM_SYMMETRIC_SIZE": "0.002g", "SMA_SYMMETRIC_SIZE": "1m"}, 0, r"heap: 1 1"),
    ("heap-size", {}, 0, r"heap: 1 1"),
    ("return", {"SHMEM_SYMMETRIC_SIZE": "much"}, 1, r"SHMEM_SYMMETRIC_SIZE is 'much': expected a number of bytes"),
    ("return", {"SHMEM_SYMMETRIC_SIZE": "100t"}, 1, r"no symmetric heap of \d+ bytes"),
    # The wrapper sets what comes after the comma on the last PE only.
    ("return", {"SHMEM_SYMMETRIC_SIZE": "1m,2m"}, 1,
     r"SHMEM_SYMMETRIC_SIZE \(0: not set\) is (1048576 on this PE and 2097152 on PE 1|2097152 on this PE and 1048576 on PE 0)"),
    ("return", {"SHMEM_DEBUG": "0,1"}, 1, r"SHMEM_DEBUG is (0 on this PE and 1 on PE 1|1 on this PE and 0 on PE 0)"),
    ("return", {"SHMEM_VERSION": "1"}, 0, r"^librma [\d.]+, OpenSHMEM 1\.5$"),
    ("return", {"SHMEM_INFO": "yes"}, 0, r"SHMEM_SYMMETRIC_SIZE +\d+ +bytes of the symmetric heap of each PE \(default\)"),
    ("return", {"SHMEM_INFO": "yes"}, 0, r"Static data +shared "),
    ("return", {"SHMEM_INFO": "yes", "RMA_ALIAS": "0"}, 0, r"Static data +registered +rma_alias: RMA_ALIAS is 0"),
]


def run(rmarun, program, case, environment):
    settings = [word for name, value in environment.items() for word in ("--env", f"{name}={value.split(',')[0]}")]
    others = [f"{name}={value.split(',')[1]}" for name, value in environment.items() if "," in value]
    wrapper = ["sh", "-c", f'[ "$PMIX_RANK" = 0 ] || export {" ".join(others)}; exec "$@"', "sh"] if others else []
    command = [rmarun, "-n", "2", "--timeout", "60", *settings, *wrapper, program, case]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHMEM_", "SMA_"))}
    return subprocess.run(command, env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def main():
    wrong = 0
    # The cases are independent, and most of their time is waiting for processes to start.
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda case: run(sys.argv[1], sys.argv[2], case[0], case[1]), CASES))
    for (case, environment, code, expected), done in zip(CASES, results):
        if done.returncode != code or not re.search(expected, done.stdout, re.MULTILINE):
            wrong += 1
            print(f"{case} {environment}: exit code {done.returncode}, expected {code} and '{expected}':\n{done.stdout}")
    print(f"{len(CASES)} cases, {wrong} are wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
