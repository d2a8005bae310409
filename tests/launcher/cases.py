#!/usr/bin/env python3
"""How rmarun starts a job, and what goes in and out: exit codes, streams, the ranks' surroundings.

usage: cases.py CASE RMARUN CLIENT
"""

import os
import pty
import resource
import signal
import subprocess
import sys
import tempfile

from harness import CLIENT, HANG_GUARD, RMARUN, SKIPPED, contains, equal, main, run, start, succeeds

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
                  ["--bind", "socket", "true"], ["-hostfile", "no-such-file", "-n", "2", "true"],
                  ["-host", "-oProxyCommand=x", "true"], ["--mca", "btl", "self", "true"]):
        code, out, err = run(*wrong)
        equal(code, 2, wrong)
        equal(out, "")
        assert err.startswith("rmarun: "), err


# ---- Input and output -----------------------------------------------------------------------------------------


def lent_rights():
    """As a setuid or setgid program, rmarun and its keeper start nothing."""
    if os.geteuid() != 0:
        print("skipped: only root may take different users")
        sys.exit(SKIPPED)
    keeper = os.path.join(os.path.dirname(os.path.abspath(RMARUN)), "../lib/rma/rmarun-keeper")
    for words in ([RMARUN, "echo", "ran"], [RMARUN, "--rank"], [keeper]):
        for change, kind in ((lambda: os.setresuid(65534, 0, 0), "setuid"), (lambda: os.setresgid(65534, 0, 0), "setgid")):
            done = subprocess.run(words, capture_output=True, text=True, timeout=HANG_GUARD, preexec_fn=change)
            equal((done.returncode, done.stdout), (2, ""), done.stderr)
            assert done.stderr.startswith(f"rmarun: rmarun does not run {kind}: "), done.stderr
            equal(done.stderr.count("\n"), 1)


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
    assert succeeds("-n", "2", "sh", "-c", "printf $PMIX_RANK") in ("01", "10")
    assert succeeds("-n", "2", "--label", "sh", "-c", "printf $PMIX_RANK") in ("[0] 0[1] 1", "[1] 1[0] 0")


# Rank 0 asks when it is told to, and goes on only when it has got an answer.
ASKING = '; [ $PMIX_RANK = 0 ] || exit 0; read go; printf "Enter n: "; read n; printf "%s" "n is $n"'


def prompt():
    """Checks that a question arrives before it is answered, into a pipe: rmarun cannot know that it is one."""
    for arguments, before, lines in (((), "true", 0), (("-n", "4"), "true", 0), (("-n", "4"), "echo hello", 4),
                                     (("-n", "1", "--label"), "true", 0)):
        job = start(*arguments, "sh", "-c", before + ASKING)
        for _ in range(lines):
            equal(job.stdout.readline(), "hello\n")
        job.stdin.write("go\n")
        job.stdin.flush()
        label = "[0] " if "--label" in arguments else ""
        wanted = label + "Enter n: "
        equal(job.stdout.read(len(wanted)), wanted)
        out, err = job.communicate("12\n", timeout=HANG_GUARD)
        equal((job.returncode, out, err), (0, "n is 12", ""))


def terminal():
    """Checks that a question arrives on a terminal too, while other ranks write there."""
    script = ('if [ $PMIX_RANK = 0 ]; then printf "Enter n: "; read n; echo "n is $n"; '
              "else while echo other; do sleep 0.01; done; fi")
    ours, theirs = pty.openpty()
    job = start("-n", "3", "sh", "-c", script, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = ""
    while "Enter n: " not in shown or not shown.endswith("other\r\n"):
        shown += os.read(ours, 1000).decode()
    os.write(ours, b"12\n")
    while "n is 12\r\n" not in shown:
        shown += os.read(ours, 1000).decode()
    job.terminate()
    while shown:
        try:
            shown = os.read(ours, 1000)
        except OSError:  # the end of a terminal
            break
    equal(job.wait(HANG_GUARD), 128 + signal.SIGTERM)
    os.close(ours)


def binary():
    # Any bytes of one rank, on either stream, come out as they are, also beside others that write nothing.
    data = os.urandom(3_000_000)
    for ranks in (1, 3):
        for stream in (1, 2):
            script = f'[ $PMIX_RANK != 0 ] || cat >&{stream}'
            done = subprocess.run([RMARUN, "-n", str(ranks), "sh", "-c", script], input=data, capture_output=True,
                                  timeout=HANG_GUARD)
            equal(done.returncode, 0)
            assert (done.stdout if stream == 1 else done.stderr) == data, f"{ranks} ranks, stream {stream}"


def full_device():
    for stream, name in (("stdout", "stdout"), ("stderr", "stderr")):
        with open("/dev/full", "w", encoding="ascii") as full:
            job = start("-n", "2", "sh", "-c", f"echo text >&{1 if stream == 'stdout' else 2}; exec sleep 1000",
                        **{stream: full})
            _, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 1)
        if stream == "stdout":
            contains(err, f"cannot write to {name}: No space left on device")
    # A file may reach the limit that the user has set for files.
    with tempfile.TemporaryFile() as small:
        limit = 50 << 20
        job = start("dd", "if=/dev/zero", "bs=1M", f"count={2 * limit >> 20}", stdout=small,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        _, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 1)
        contains(err, "cannot write to stdout: File too large")


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


def working_directory():
    directory = os.path.realpath(os.environ["TMPDIR"])
    equal(succeeds("-n", "2", "-wdir", directory, "pwd"), f"{directory}\n" * 2)
    with open(os.path.join(directory, "program"), "w", encoding="ascii") as file:
        file.write("#!/bin/sh\necho here\n")
    os.chmod(file.name, 0o755)
    equal(succeeds("--wdir", directory, "./program"), "here\n")
    os.remove(file.name)
    code, _, err = run("-wd", directory + "/none", "true")
    equal(code, 1)
    contains(err, f"cannot start in the directory '{directory}/none': No such file")


def programs():
    out = succeeds("-n", "1", "-env", "A", "1", "sh", "-c", "echo a $PMIX_RANK $A", ":", "-np", "2", "-x", "B=2", "sh",
                   "-c", "echo b $PMIX_RANK $A$B", ":", "sh", "-c", 'echo "c $PMIX_RANK $B"')
    equal(sorted(out.splitlines()), ["a 0 1", "b 1 2", "b 2 2", "c 3 2"])
    code, out, err = run("true", ":", "no-such-program-anywhere")
    equal((code, out), (127, ""))
    contains(err, "cannot run 'no-such-program-anywhere'")
    code, _, err = run("-n", "2", "true", ":", "sh", "-c", "exit 6")
    equal(code, 6)
    contains(err, "rank 2 ")


def hardware():
    """Checks that rmarun makes hwloc look for processors only, unless the user selects more; ranks do not see that."""
    os.environ.pop("HWLOC_COMPONENTS", None)
    os.environ["HWLOC_COMPONENTS_VERBOSE"] = os.environ["HWLOC_PLUGINS_VERBOSE"] = "1"
    show = ("-n", "1", "sh", "-c", 'echo "${HWLOC_COMPONENTS-unset}" "${HWLOC_PLUGINS_PATH-unset}"')
    code, out, err = run(*show)
    equal((code, out), (0, "unset unset\n"))
    assert "dlforeach found" not in err, err  # no plugin is loaded
    enabled = {line.split("`")[1].split("'")[0] for line in err.splitlines() if "Enabling discovery" in line}
    assert "linux" in enabled and enabled <= {"linux", "x86", "no_os"}, err
    os.environ["HWLOC_COMPONENTS"] = "no_os,stop"
    code, out, err = run(*show)
    equal((code, out), (0, "no_os,stop unset\n"))
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


main(globals())
