#!/usr/bin/env python3
"""rmarun as the server of its ranks: they join, leave, abort, vanish.

usage: pmix_cases.py CASE RMARUN CLIENT
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys

from harness import (CLIENT, HANG_GUARD, RMARUN, SKIPPED, children_of, contains, equal, explained, main, ready, run, start, state, stop,
                     succeeds, until)


def exchange(ranks):
    out = succeeds("-n", str(ranks), CLIENT, "exchange")
    equal(sorted(out.splitlines()), sorted(f"round 0 rank {r} of {ranks} local {ranks}" for r in range(ranks)))


def exchange_1():
    exchange(1)


def exchange_2():
    exchange(2)


def exchange_5():
    exchange(5)


def exchange_16():
    exchange(16)


def many_ranks():
    equal(succeeds("-n", "64", CLIENT, "fence"), "")


def rejoin():
    out = succeeds("-n", "4", CLIENT, "exchange", "5")
    equal(sorted(out.splitlines()),
          sorted(f"round {round} rank {r} of 4 local 4" for r in range(4) for round in range(5)))


def abort():
    code, _, err = run("-n", "3", CLIENT, "abort")
    equal(code, 9)
    contains(err, "the last rank has had enough")
    contains(err, "rank 2 aborted the job with exit code 9")


def vanish():
    code, _, err = run("-n", "3", CLIENT, "vanish")
    equal(code, 1)
    contains(err, "rank 2 ")
    contains(err, "without leaving the job")


def vanish_forked():
    # A process that the lost rank has left holds its connection.
    code, _, err = run("-n", "3", CLIENT, "vanish_forked")
    equal(code, 1)
    contains(err, "rank 2 ")
    contains(err, "without leaving the job")


def slow_launcher():
    # The ranks have said goodbye and gone when the launcher comes to see to it. It finds their ends before their
    # words: its threads that read them get what its main thread leaves of one processor.
    ranks = 8
    job = start("-n", str(ranks), CLIENT, "leave_stopped")
    ready(job, ranks)
    launcher = children_of(job.pid)[0]
    stop(launcher)
    until(lambda: [state(pid) for pid in children_of(launcher)].count("Z") == ranks - 1, "all but rank 0 have ended")
    processor = min(os.sched_getaffinity(0))
    for thread in map(int, os.listdir(f"/proc/{launcher}/task")):
        os.sched_setaffinity(thread, {processor})
        if thread != launcher:
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
    os.kill(launcher, signal.SIGCONT)
    until(lambda: len(children_of(launcher)) <= 1, "the launcher has seen their ends")
    out, err = job.communicate(timeout=HANG_GUARD)
    equal((job.returncode, out, err), (0, "", ""))


def never_joins():
    code, _, err = run("-n", "2", "sh", "-c", '[ $PMIX_RANK = 1 ] || exec "$0" fence', CLIENT)
    equal(code, 1)
    contains(err, "rank 1 exited with code 0 without joining the job")


def after_leaving():
    """Checks that nobody is killed when ranks fail that have left the job, and that rmarun's exit code tells of them."""
    signalled = 128 + signal.SIGSEGV
    for how, codes, said in (("exit", range(11, 15), "exited with code "), ("_exit", range(11, 15), "exited with code "),
                             ("segv", (signalled,), "was killed by signal 11 "), ("silent", (0,), "")):
        job = start("-n", "5", CLIENT, "leave_and_fail", how)
        # The others have said so before rank 0 goes on, and have ended.
        lines = sorted(job.stdout.readline() for _ in range(5))
        equal(lines, [f"rank {rank} has left\n" for rank in range(5)])
        launcher = children_of(job.pid)[0]
        until(lambda: len(children_of(launcher)) == 1, "all but rank 0 have ended")
        out, err = job.communicate("", timeout=HANG_GUARD)
        assert job.returncode in codes, (how, job.returncode, err)
        equal(out, "the result\n")
        if said:
            contains(err, said)
            contains(err, " after it had left the job; 3 others failed likewise")
        else:
            equal(err, "")


def program_after_program():
    """Each rank executes two programs. The last rank is still in its first one, whose job it has left, when the others
    wait for it in their second."""
    go_on = os.path.join(os.environ["TMPDIR"], "go_on")
    job = start("-n", "4", "sh", "-c", '"$0" linger "$1" && exec "$0" exchange', CLIENT, go_on)
    explained(job, "ranks 0-2: the meeting of all ranks, all ranks@; rank 3 has not come")
    with open(go_on, "w", encoding="ascii"):
        pass
    out, err = job.communicate(timeout=HANG_GUARD)
    os.unlink(go_on)
    equal((job.returncode, sorted(out.splitlines())), (0, [f"round 0 rank {rank} of 4 local 4" for rank in range(4)]), err)
    # And without a meeting in between, many times.
    out = succeeds("-n", "3", "sh", "-c", 'for i in 1 2 3 4 5 6 7 8 9; do "$0" exchange || exit; done', CLIENT)
    equal(len(out.splitlines()), 3 * 9)


def come_back_alone():
    """A rank joins again after the others have ended: it is told so."""
    code, _, err = run("-n", "3", CLIENT, "come_back_alone")
    equal(code, 1)
    contains(err, "has ended, or has left the job")


def claimed_twice():
    """A process in another network namespace does not see the claim of its rank, but rmarun does."""
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: unshare --net is not permitted")
        sys.exit(SKIPPED)
    code, _, err = run("-n", "2", CLIENT, "twice")
    equal(code, 0, err)
    equal(err.count("rmarun refuses this process as a rank"), 2)


def program_numbers():
    out = succeeds("-n", "1", CLIENT, "program", ":", "-n", "2", CLIENT, "program", ":", CLIENT, "program")
    equal(sorted(out.splitlines()), ["rank 0 program 0", "rank 1 program 1", "rank 2 program 1", "rank 3 program 2"])
    equal(sorted(succeeds("-n", "2", CLIENT, "program").splitlines()), ["rank 0 program 0", "rank 1 program 0"])


def host_names():
    """Checks that jobs run on hosts of any name. Each name is given to a UTS namespace of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone_newuts, clone_newuser = 0x04000000, 0x10000000
    if libc.unshare(clone_newuts) != 0 and libc.unshare(clone_newuts | clone_newuser) != 0:
        print("skipped: the system refuses a namespace for host names")
        sys.exit(SKIPPED)
    longest = 64
    names = ["h" * length for length in (1, 48, 49, 50, 56, 57, longest)]
    names += ["7" * longest, "x" + "7" * (longest - 1), "x1" * (longest // 2), "job-7d8f9c6b5-" + "y" * 48 + "-0",
              "a,b[1-3]", "a;b:c d", "%s%n", "."]
    for name in names:
        if libc.sethostname(name.encode(), len(name)) != 0:
            print("skipped: the system refuses to change the host's name")
            sys.exit(SKIPPED)
        equal(sorted(succeeds("-n", "2", CLIENT, "exchange").splitlines()),
              [f"round 0 rank {rank} of 2 local 2" for rank in range(2)])


def nameless_user():
    """Checks that a user who is in no list of users and has no HOME can run jobs, as in many containers."""
    if os.getuid() != 0:
        print("skipped: only root can become another user")
        sys.exit(SKIPPED)
    nobody_knows = 54321
    os.chmod(os.environ["TMPDIR"], 0o777)
    os.environ.pop("HOME", None)
    show = ("-n", "2", "sh", "-c", 'echo "$HOME"; exec "$0" fence', CLIENT)
    job = start(*show, user=nobody_knows, group=nobody_knows, extra_groups=[])
    out, err = job.communicate(timeout=HANG_GUARD)
    equal((job.returncode, out, err), (0, "/\n" * 2, ""))
    os.environ["HOME"] = "/somewhere"
    equal(succeeds(*show), "/somewhere\n" * 2)


def under_mpirun():
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun is None:
        print("skipped: there is no mpirun.openmpi")
        sys.exit(SKIPPED)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    code, out, err = run("--oversubscribe", "-n", "3", CLIENT, "exchange", "2", program=mpirun)
    equal(code, 0, err)
    equal(sorted(out.splitlines()),
          sorted(f"round {round} rank {r} of 3 local 3" for r in range(3) for round in range(2)))
    code, _, err = run("--oversubscribe", "-n", "3", CLIENT, "abort", program=mpirun)
    equal(code, 9, err)
    contains(err, "the last rank has had enough")


def under_mpich():
    mpirun = shutil.which("mpirun.mpich")
    if mpirun is None:
        print("skipped: there is no mpirun.mpich")
        sys.exit(SKIPPED)
    # A launcher without PMIx: its processes must not compute as many jobs of one, but one may.
    code, out, err = run("-n", "3", CLIENT, "exchange", program=mpirun)
    assert code != 0 and "round" not in out, (code, out)
    contains(out + err, "PMI_SIZE=3")
    contains(out + err, "rmarun -n 3 ")
    alone = "round 0 rank 0 of 1 local 1"
    equal(succeeds("-n", "1", CLIENT, "exchange", program=mpirun).splitlines(), [alone])
    # Each of them starts a job by rmarun.
    equal(succeeds("-n", "2", RMARUN, "-n", "2", CLIENT, "exchange", program=mpirun).count("of 2 local 2"), 4)


main(globals())
