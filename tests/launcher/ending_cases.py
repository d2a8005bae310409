#!/usr/bin/env python3
"""How a job ends, whatever its ranks do.

usage: ending_cases.py CASE RMARUN CLIENT
"""

import os
import re
import resource
import signal
import sys

from harness import (CLIENT, HANG_GUARD, children, children_of, contains, descendants_of, equal, main, ready, run, start, state, stop,
                     succeeds, until)

# Two processes per rank that do not end by themselves: one in the rank's group, one that has fled into a session of
# its own. Says "ready" once all three are there.
STUBBORN = "setsid sh -c 'echo ready; exec sleep 1000' & sleep 1001 & wait"
UNIMPRESSED = "trap '' TERM INT HUP; " + STUBBORN


def ended_by(send, code, part, script=STUBBORN):
    job = start("-n", "2", "sh", "-c", script)
    ready(job, 2)
    send(job)
    equal(job.wait(HANG_GUARD), code)
    contains(job.stderr.read(), part)


def timeout():
    code, _, err = run("-n", "2", "--timeout", "0.5", "sh", "-c", UNIMPRESSED)
    equal(code, 124)
    contains(err, "0.5 s")
    equal(run("--timeout", "100", "true")[0], 0)


def interrupt():
    ended_by(lambda job: job.send_signal(signal.SIGINT), 128 + signal.SIGINT, "interrupted by signal 2")


def terminate():
    ended_by(lambda job: job.send_signal(signal.SIGTERM), 128 + signal.SIGTERM, "interrupted by signal 15")


def ignores_sigterm():
    ended_by(lambda job: job.send_signal(signal.SIGTERM), 128 + signal.SIGTERM, "interrupted by signal 15",
             UNIMPRESSED)


def kill_rmarun():
    job = start("-n", "2", "sh", "-c", UNIMPRESSED)
    ready(job, 2)
    job.kill()
    equal(job.wait(HANG_GUARD), -signal.SIGKILL)


def kill_job():
    ended_by(lambda job: os.kill(children_of(job.pid)[0], signal.SIGKILL), 128 + signal.SIGKILL, "ended by signal 9",
             UNIMPRESSED)


def stopped_job():
    # The process that runs the job does nothing any more: the guard wakes it to end the job, or ends the job itself.
    def terminate_stopped(job):
        stop(children_of(job.pid)[0])
        job.terminate()

    ended_by(terminate_stopped, 128 + signal.SIGTERM, "interrupted by signal 15", UNIMPRESSED)
    job = start("-n", "2", "--timeout", "1", "sh", "-c", UNIMPRESSED)
    stop(until(lambda: children_of(job.pid), "the job has a process")[0])
    equal(job.wait(HANG_GUARD), 124)
    contains(job.stderr.read(), "the time limit has not ended the job")


def stuck_start():
    # PMIx does not come back from its initialisation: it reads a file that nobody writes. Each way to end a job ends
    # this one.
    settings = os.path.join(os.environ["TMPDIR"], "settings")
    os.mkfifo(settings)
    os.environ["PMIX_MCA_mca_base_param_files"] = settings
    job = start("--timeout", "0.5", "true")
    equal(job.wait(HANG_GUARD), 124)
    contains(job.stderr.read(), "PMIx is still being prepared")
    for number in (signal.SIGINT, signal.SIGTERM):
        job = start("true")
        until(lambda: children_of(job.pid), "the job has a process")
        job.send_signal(number)
        equal(job.wait(HANG_GUARD), 128 + number)
        contains(job.stderr.read(), "PMIx is still being prepared")
    job = start("true")
    until(lambda: children_of(job.pid), "the job has a process")
    job.kill()
    job.wait(HANG_GUARD)
    until(lambda: not children(), "all processes are gone")
    os.remove(settings)


def descriptors():
    def limit(soft, hard):
        return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}

    # What is needed is said before anything starts, and is enough.
    job = start("-n", "16", "echo", "started", **limit(30, 30))
    out, err = job.communicate(timeout=HANG_GUARD)
    equal((job.returncode, out), (1, ""))
    found = re.fullmatch(r"rmarun: .*-n 16 needs (\d+) open files in rmarun, and the hard limit is 30 .*\n", err)
    assert found, err
    needed = int(found.group(1))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for soft, hard in ((30, hard), (needed, needed)):
        job = start("-n", "16", "--bind", "core", "sh", "-c", 'ulimit -Sn; exec "$0" exchange', CLIENT,
                    **limit(soft, hard))
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, err), (0, ""))
        equal(out.splitlines().count(str(soft)), 16)


def grandchildren():
    # The ranks succeed; what they leave behind does not outlive the job.
    equal(succeeds("-n", "2", "sh", "-c", "setsid sleep 1000 & sleep 1001 & exit 0"), "")


# Says which signals come, each with the rank.
LISTENER = """
import os, signal, sys
for name in sys.argv[1:]:
    number = getattr(signal, "SIG" + name)
    signal.signal(number, lambda got, frame: os.write(1, f"{os.environ['PMIX_RANK']} {got}\\n".encode()))
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""


def passed_signals():
    names = ("USR1", "USR2", "XCPU", "CONT")
    job = start("-n", "3", sys.executable, "-c", LISTENER, *names)
    ready(job, 3)
    for name in names:
        number = getattr(signal, "SIG" + name)
        job.send_signal(number)
        equal(sorted(job.stdout.readline() for _ in range(3)), [f"{rank} {number:d}\n" for rank in range(3)])
    equal(job.poll(), None)
    job.terminate()
    equal(job.wait(HANG_GUARD), 128 + signal.SIGTERM)
    # It reaches the program below a shell, and what does not handle it ends.
    job = start("-n", "2", "sh", "-c", 'trap : USR2; "$@"; echo shell', "-", sys.executable, "-c", LISTENER, "USR1")
    ready(job, 2)
    job.send_signal(signal.SIGUSR2)
    out, err = job.communicate(timeout=HANG_GUARD)
    equal((job.returncode, out), (0, "shell\n" * 2), err)
    job = start("-n", "2", sys.executable, "-c", LISTENER, "USR1")
    ready(job, 2)
    job.send_signal(signal.SIGUSR2)
    equal(job.wait(HANG_GUARD), 128 + signal.SIGUSR2)
    contains(job.stderr.read(), "was killed by signal 12 ")


def stop_and_continue():
    for stubborn in (False, True):
        script = ("trap '' TSTP; " if stubborn else "") + "echo ready; read go; echo gone"
        job = start("-n", "1", "sh", "-c", script)
        ready(job, 1)
        rank = children_of(children_of(job.pid)[0])[0]
        job.send_signal(signal.SIGTSTP)
        until(lambda: state(job.pid) == "T", "rmarun is stopped")
        until(lambda: state(rank) == "T", "the rank is stopped")
        job.send_signal(signal.SIGCONT)
        until(lambda: state(job.pid) != "T" and state(rank) != "T", "the job goes on")
        out, err = job.communicate("go\n", timeout=HANG_GUARD)
        equal((job.returncode, out, err), (0, "gone\n", ""))
    # A stopped job ends on request.
    job = start("-n", "2", "sh", "-c", STUBBORN)
    ready(job, 2)
    job.send_signal(signal.SIGTSTP)
    until(lambda: state(job.pid) == "T", "rmarun is stopped")
    job.terminate()
    job.send_signal(signal.SIGCONT)
    equal(job.wait(HANG_GUARD), 128 + signal.SIGTERM)


def killed_both():
    # Nobody is left to remove the job's directory. The next rmarun does.
    directory = os.environ["TMPDIR"]
    job = start("-n", "2", "sh", "-c", "echo ready; exec sleep 1000")
    ready(job, 2)
    other = start("-n", "1", "sh", "-c", "echo ready; read go")
    ready(other, 1)
    launcher = children_of(job.pid)[0]
    os.kill(job.pid, signal.SIGSTOP)
    os.kill(launcher, signal.SIGKILL)
    job.kill()
    equal(job.wait(HANG_GUARD), -signal.SIGKILL)
    until(lambda: set(descendants_of(os.getpid())) == {other.pid, *descendants_of(other.pid)}, "the ranks are gone")
    equal(len(os.listdir(directory)), 2)
    succeeds("true")
    equal(len(os.listdir(directory)), 1)  # that of the job that runs
    other.communicate("go\n", timeout=HANG_GUARD)
    equal(other.returncode, 0)


def hangup_ignored():
    # As nohup(1) starts it.
    job = start("sh", "-c", "echo ready; read go; echo gone",
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    ready(job, 1)
    for pid in (job.pid, children_of(job.pid)[0]):
        os.kill(pid, signal.SIGHUP)
    out, err = job.communicate("go\n", timeout=HANG_GUARD)
    equal((job.returncode, out, err), (0, "gone\n", ""))


main(globals())
