"""What the cases of rmarun's behaviour share. A program of cases is called with CASE RMARUN CLIENT.

Every case ends with the same check: no process and no file of the job is left. This process is a child subreaper, so
whatever a job leaves behind becomes its child.
"""

import contextlib
import ctypes
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
HANG_GUARD = 120  # seconds; how long anything that must happen may take on a slow machine
PR_SET_CHILD_SUBREAPER = 36
HEAD = "rmarun: what the ranks wait for:\n"
SECONDS = r", [0-9.]+ (s|min)( to [0-9.]+ (s|min))?"

RMARUN = sys.argv[2]
CLIENT = sys.argv[3]


def start(*arguments, **options):
    """rmarun, started with pipes for all that it reads and writes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([RMARUN, *arguments], text=True, **{**pipes, **options})


def run(*arguments, stdin="", program=None):
    """Runs rmarun to its end: exit code, stdout, stderr. `program` is another launcher, which gets no input."""
    options = {"capture_output": True, "text": True, "timeout": HANG_GUARD}
    if program is None:
        done = subprocess.run([RMARUN, *arguments], input=stdin, **options)
        return done.returncode, done.stdout, done.stderr
    # MPICH's mpirun may die by SIGPIPE if its standard input ends as its processes do: this one does not end.
    reading, writing = os.pipe()
    try:
        done = subprocess.run([program, *arguments], stdin=reading, **options)
    finally:
        os.close(reading)
        os.close(writing)
    return done.returncode, done.stdout, done.stderr


def equal(got, wanted, context=""):
    assert got == wanted, f"got {got!r}, not {wanted!r} {context}"


def contains(text, part):
    assert part in text, f"{part!r} is not in {text!r}"


def succeeds(*arguments, stdin="", program=None):
    """stdout of an rmarun that ends with 0 and nothing on stderr."""
    code, out, err = run(*arguments, stdin=stdin, program=program)
    equal(code, 0, err)
    equal(err, "")
    return out


def until(condition, what):
    """Waits for it, and returns what made it true."""
    give_up = time.monotonic() + HANG_GUARD
    while not (met := condition()):
        assert time.monotonic() < give_up, f"never: {what}"
        time.sleep(0.02)
    return met


def children_of(pid):
    """Its children, oldest first; none once it has ended."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as listed:
            return [int(word) for word in listed.read().split()]
    except OSError:
        return []


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def children():
    """The processes that have become ours, dead ones reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return False
    return True


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if "rma" in name or "pmix" in name}


def descendants_of(pid):
    """All processes below `pid` that are alive."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="latin-1") as stat:
                state, parent = stat.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(entry)] = int(parent)
    found = [pid]
    for above in found:
        found += [child for child, parent in parents.items() if parent == above]
    return found[1:]


def ready(job, ranks):
    for _ in range(ranks):
        equal(job.stdout.readline(), "ready\n")


def kill_all(pids):
    """Kills processes. Some of them may end before their turn, because others were killed."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state(pid) == "T", "the process is stopped")


def explained(job, *wanted, only=False):
    """Asks until a report has a line for each regular expression of `wanted`, where "@" stands for the time waited, and
    with `only` no others."""
    until(lambda: children_of(job.pid), "rmarun takes signals")
    patterns = [re.compile("rmarun:   " + line.replace("@", SECONDS)) for line in wanted]
    text = ""
    give_up = time.monotonic() + HANG_GUARD
    while time.monotonic() < give_up:
        job.send_signal(signal.SIGQUIT)
        # Until it is quiet. What comes later belongs to the next turn.
        while select.select([job.stderr], [], [], 0.3)[0]:
            piece = os.read(job.stderr.fileno(), 65536).decode()
            assert piece, f"rmarun has ended: {text}"
            text += piece
        lines = text.rpartition(HEAD)[2].splitlines()
        if all(any(pattern.fullmatch(line) for line in lines) for pattern in patterns):
            others = [line for line in lines if not any(pattern.fullmatch(line) for pattern in patterns)]
            if not (only and others):
                return
        text = text[-65536:]
    job.terminate()
    job.wait()
    raise AssertionError(f"never: {wanted}, but:\n{text}")


def main(cases):
    """Runs the case of `cases` that the command line names, and checks that nothing of it is left."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in [name for name in os.environ if name.startswith("PMIX_") and not name.startswith("PMIX_MCA_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="launcher-case-") as directory:
        os.environ["TMPDIR"] = directory
        before = shared_memory()
        cases[sys.argv[1]]()
        if sys.argv[1] == "under_mpirun":
            return  # how mpirun cleans up is not ours
        if sys.argv[1] == "kill_rmarun":
            # Nobody is left to wait for, so the end is only seen from outside.
            until(lambda: not children(), "all processes are gone")
        assert not children(), f"processes are left: {descendants_of(os.getpid())}"
        equal(os.listdir(directory), [])
        # Jobs of other tests may have something there for a while.
        until(lambda: not shared_memory() - before, "/dev/shm is as before")
