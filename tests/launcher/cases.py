#!/usr/bin/env python3
"""How rmarun starts a job, and what goes in and out: exit codes, streams, the ranks' surroundings.

usage: cases.py CASE RMARUN CLIENT
"""

import os
import signal
import subprocess
import sys

from harness import CLIENT, HANG_GUARD, RMARUN, contains, equal, main, run, start, succeeds

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


main(globals())
