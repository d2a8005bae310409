#!/usr/bin/env python3
"""One case of rmarun's behaviour: cases.py CASE RMARUN CLIENT.

Every case ends with the same check: no process and no file of the job is left. This process is a child subreaper, so
whatever a job leaves behind becomes its child.
"""

import ctypes
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
HANG_GUARD = 120  # seconds; how long anything that must happen may take on a slow machine
PR_SET_CHILD_SUBREAPER = 36

RMARUN = sys.argv[2]
CLIENT = sys.argv[3]


def start(*arguments, **options):
    """Starts rmarun with pipes for everything that it reads and writes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([RMARUN, *arguments], text=True, **{**pipes, **options})


def run(*arguments, stdin="", program=None):
    """Runs rmarun to its end. Returns its exit code, stdout and stderr."""
    command = [program or RMARUN, *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=HANG_GUARD)
    return done.returncode, done.stdout, done.stderr


def equal(got, wanted, context=""):
    assert got == wanted, f"got {got!r}, not {wanted!r} {context}"


def contains(text, part):
    assert part in text, f"{part!r} is not in {text!r}"


def succeeds(*arguments, stdin="", program=None):
    """Returns the stdout of an rmarun that ends with 0 and prints nothing on stderr."""
    code, out, err = run(*arguments, stdin=stdin, program=program)
    equal(code, 0, err)
    equal(err, "")
    return out


def until(condition, what):
    """Waits until the condition is true, and returns its value."""
    give_up = time.monotonic() + HANG_GUARD
    while not (met := condition()):
        assert time.monotonic() < give_up, f"never: {what}"
        time.sleep(0.02)
    return met


def children_of(pid):
    """Returns its children, oldest first, or none once it has ended."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as listed:
            return [int(word) for word in listed.read().split()]
    except OSError:
        return []


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def children():
    """Reaps ended children, inherited ones included. Returns whether any child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return False
    return True


def shared_memory():
    return {name for name in os.listdir("/dev/shm") if "rma" in name or "pmix" in name}


def descendants_of(pid):
    """Returns all living processes below `pid`."""
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


# ---- Exit codes -----------------------------------------------------------------------------------------------


def exit_code():
    equal(run("true")[0], 0)
    code, _, err = run("-n", "3", "sh", "-c", "[ $PMIX_RANK != 1 ] || exit 7")
    equal(code, 7)
    contains(err, "rank 1 ")
    contains(err, "exited with code 7")


def signal_code():
    code, _, err = run("-n", "2", CLIENT, "segv")
    equal(code, 128 + signal.SIGSEGV)
    contains(err, "rank 1 ")
    contains(err, "killed by signal 11 (Segmentation fault)")


def first_failure():
    # Rank 1 fails second, as a consequence of the job's end: the first code counts, and only that is reported.
    script = "trap 'exit 5' TERM; if [ $PMIX_RANK = 0 ]; then read go; exit 4; fi; echo ready; sleep 1000 & wait"
    job = start("-n", "2", "sh", "-c", script)
    equal(job.stdout.readline(), "ready\n")
    _, err = job.communicate("go\n", timeout=HANG_GUARD)
    equal(job.returncode, 4)
    contains(err, "rank 0 ")
    assert "rank 1" not in err, err


def missing_program():
    code, _, err = run("-n", "2", "no-such-program-anywhere")
    equal(code, 127)
    contains(err, "cannot run 'no-such-program-anywhere': No such file")


def not_executable():
    code, _, err = run("/etc/passwd")
    equal(code, 126)
    contains(err, "Permission denied")


def usage():
    equal(run("--help")[0], 0)
    contains(run("--help")[1], "--timeout")
    for wrong in ([], ["-n", "0", "true"], ["-n", "two", "true"], ["--no-such-option", "true"], ["--env", "A", "true"],
                  ["--bind", "socket", "true"]):
        code, out, err = run(*wrong)
        equal(code, 2, wrong)
        equal(out, "")
        assert err.startswith("rmarun: "), err


# ---- Input and output -----------------------------------------------------------------------------------------


def stdin():
    text = "".join(f"line {i}\n" for i in range(10000))
    equal(succeeds("-n", "3", "sh", "-c", "[ $PMIX_RANK != 0 ] || cat", stdin=text), text)


def no_stdin():
    script = "[ $PMIX_RANK = 0 ] || readlink /proc/self/fd/0"
    equal(succeeds("-n", "3", "sh", "-c", script, stdin="x"), "/dev/null\n" * 2)


def label():
    code, out, err = run("-n", "3", "--label", "sh", "-c", "echo out $PMIX_RANK; echo err $PMIX_RANK >&2")
    equal(code, 0)
    equal(sorted(out.splitlines()), [f"[{rank}] out {rank}" for rank in range(3)])
    equal(sorted(err.splitlines()), [f"[{rank}] err {rank}" for rank in range(3)])


def separate_streams():
    code, out, err = run("sh", "-c", "echo to out; echo to err >&2")
    equal((code, out, err), (0, "to out\n", "to err\n"))


def interleave():
    # Lines of many lengths, longer than a pipe too, written in pieces, on two streams that are one file.
    writer = ("import os, sys\n"
              "rank = int(os.environ['PMIX_RANK'])\n"
              "for i in range(60):\n"
              "  line = str(rank) * (1 + i * i * 40) + '\\n'\n"
              "  for at in range(0, len(line), 5000):\n"
              "    os.write(1 + i % 2, line[at:at + 5000].encode())\n")
    job = start("-n", "6", sys.executable, "-c", writer, stderr=subprocess.STDOUT)
    out, _ = job.communicate(timeout=HANG_GUARD)
    equal(job.returncode, 0)
    wanted = sorted(str(rank) * (1 + i * i * 40) for rank in range(6) for i in range(60))
    assert sorted(out.splitlines()) == wanted, "lines were mixed or lost"


def partial_line():
    equal(succeeds("printf", "no newline"), "no newline")
    equal(sorted(succeeds("-n", "2", "sh", "-c", "printf $PMIX_RANK").splitlines()), ["0", "1"])


def closed_stdout():
    job = start("-n", "2", "yes")
    job.stdout.readline()
    job.stdout.close()
    equal(job.wait(HANG_GUARD), 128 + signal.SIGPIPE)
    contains(job.stderr.read(), "nobody reads stdout")


# ---- The ranks' surroundings ----------------------------------------------------------------------------------


def environment():
    os.environ["INHERITED"] = "as it was"
    os.environ["REPLACED"] = "old"
    script = 'echo "$INHERITED,$REPLACED,$LIST"'
    equal(succeeds("-n", "2", "--env", "REPLACED=new", "--env", "LIST=[a=b,c]", "sh", "-c", script),
          "as it was,new,[a=b,c]\n" * 2)
    equal(succeeds("-n", "1", "--", "printf", "%s|", "[a,b]", "-n", "", "--"), "[a,b]|-n||--|")


def hardware():
    """Checks that rmarun makes hwloc look for processors only, unless the user selects more; ranks do not see that."""
    os.environ.pop("HWLOC_COMPONENTS", None)
    os.environ["HWLOC_COMPONENTS_VERBOSE"] = "1"
    show = ("-n", "1", "sh", "-c", 'echo "${HWLOC_COMPONENTS-unset}"')
    code, out, err = run(*show)
    equal((code, out), (0, "unset\n"))
    enabled = {line.split("`")[1].split("'")[0] for line in err.splitlines() if "Enabling discovery" in line}
    assert "linux" in enabled and enabled <= {"linux", "x86", "no_os"}, err
    os.environ["HWLOC_COMPONENTS"] = "no_os,stop"
    code, out, err = run(*show)
    equal((code, out), (0, "no_os,stop\n"))
    assert "Enabling discovery component `linux'" not in err, err


def nested():
    out = succeeds("-n", "2", RMARUN, "-n", "3", CLIENT, "exchange")
    equal(sorted(out.splitlines()), sorted([f"round 0 rank {r} of 3 local 3" for r in range(3)] * 2))


def bind():
    show = "import os; print(sorted(os.sched_getaffinity(0)))"
    ranks = len(os.sched_getaffinity(0)) + 1
    free = succeeds(sys.executable, "-c", show)
    equal(free, f"{sorted(os.sched_getaffinity(0))}\n")
    equal(succeeds("--bind", "none", sys.executable, "-c", show), free)
    bound = succeeds("-n", str(ranks), "--bind", "core", sys.executable, "-c", show).splitlines()
    equal(len(bound), ranks)
    everywhere = set().union(*(eval(line) for line in bound))
    equal(everywhere, os.sched_getaffinity(0))
    # Cores do not overlap, and the ranks went round them at least once.
    distinct = {line for line in bound}
    equal(sum(len(eval(line)) for line in distinct), len(everywhere))


# ---- The end --------------------------------------------------------------------------------------------------

# Two processes per rank that do not end by themselves: one in the rank's group, one that has fled into a session of
# its own. The rank prints "ready" once all three exist.
STUBBORN = "setsid sh -c 'echo ready; exec sleep 1000' & sleep 1001 & wait"
UNIMPRESSED = "trap '' TERM INT HUP; " + STUBBORN


def ready(job, ranks):
    for _ in range(ranks):
        equal(job.stdout.readline(), "ready\n")


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


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state(pid) == "T", "the process is stopped")


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
    # PMIx does not come back from its initialisation: it reads a file that no process writes. Each way to end a job ends
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

    # rmarun names the needed limit before anything starts, and that limit is enough.
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
    # The ranks succeed; processes that they leave behind do not outlive the job.
    equal(succeeds("-n", "2", "sh", "-c", "setsid sleep 1000 & sleep 1001 & exit 0"), "")


# ---- PMIx -----------------------------------------------------------------------------------------------------


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
    # The ranks have said goodbye and ended before the launcher looks. It finds their ends before their goodbyes: the
    # threads that read these get only the time that its main thread leaves of one processor.
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


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for name in [name for name in os.environ if name.startswith("PMIX_") and not name.startswith("PMIX_MCA_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="launcher-case-") as directory:
        os.environ["TMPDIR"] = directory
        before = shared_memory()
        globals()[sys.argv[1]]()
        if sys.argv[1] == "under_mpirun":
            return  # the test does not check how mpirun cleans up
        if sys.argv[1] == "kill_rmarun":
            # There is no child left to wait for, so the test sees the end only from outside.
            until(lambda: not children(), "all processes are gone")
        assert not children(), f"processes are left: {descendants_of(os.getpid())}"
        equal(os.listdir(directory), [])
        # Jobs of other tests may have something there for a while.
        until(lambda: not shared_memory() - before, "/dev/shm is as before")


main()
