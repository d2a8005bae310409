#!/usr/bin/env python3
"""rmarun on several hosts, which are network namespaces (network.py), by the engine that this machine has: Open MPI 4's mpirun,
or prterun.

usage: hosts_cases.py CASE RMARUN CLIENT
"""

import base64
import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from harness import (CLIENT, HANG_GUARD, HEAD, RMARUN, SECONDS, SKIPPED, children_of, contains, equal, explained, kill_all, main,
                     state, stop, until)
from network import Network

ENGINE, DAEMON = next(((engine, daemon) for engine, daemon in (("prterun", "prted"), ("mpirun.openmpi", "orted"))
                       if shutil.which(engine)), ("", ""))
if not ENGINE:
    print("skipped: neither prterun nor mpirun.openmpi here (scripts/setup.sh ci installs the latter)")
    sys.exit(SKIPPED)


@contextlib.contextmanager
def network(*names, **options):
    """The hosts, whose processes are all gone at the end."""
    with tempfile.TemporaryDirectory() as directory, Network(directory, *names, **options) as hosts:
        yield hosts
        hosts.none_left()


def succeeds(hosts, *arguments, stdin=""):
    code, out, err = hosts.run(*arguments, stdin=stdin)
    equal((code, err), (0, ""), out)
    return out


# ---- Where ranks are --------------------------------------------------------------------------------------------


def placement():
    with network("a", "b") as hosts:
        out = succeeds(hosts, "--hosts", "a:2,b:2", "--label", "hostname")
        equal(sorted(out.splitlines()), ["[0] a", "[1] a", "[2] b", "[3] b"])
        out = succeeds(hosts, "--hosts", "a,b", "-n", "3", "--label", "hostname")
        equal(sorted(out.splitlines()), ["[0] a", "[1] a", "[2] b"])
        out = succeeds(hosts, "--hosts", "a:1,head:2", "--label", "hostname")
        equal(sorted(out.splitlines()), ["[0] a", "[1] head", "[2] head"])
        out = succeeds(hosts, "--hosts", "a", "hostname")
        equal(out, "a\n")


def puts(hosts, *places, ranks=4):
    """A program of librma whose ranks reach each other by libfabric alone."""
    program = os.path.join(os.path.dirname(os.path.abspath(RMARUN)), "example-hello_put")
    out = succeeds(hosts, *places, "--env", "RMA_SHM=off", "--env", "RMA_NETWORK=ofi", program)
    equal(sorted(out.splitlines()),
          sorted(f"rank {rank} of {ranks}: rank {left} put {100 + left} here"
                 for rank in range(ranks) for left in [(rank - 1) % ranks]))


def puts_over_tcp():
    with network("a", "b") as hosts:
        puts(hosts, "--hosts", "a:2,b:2")


def spawn_refused():
    """A rank on several hosts that spawns gets an error, which says why, and no rank waits."""
    spawner = os.path.join(os.path.dirname(os.path.abspath(RMARUN)), "launcher-spawner")
    with network("a", "b") as hosts:
        code, out, err = hosts.run("--hosts", "a:1,b:1", "--env", "RMA_NETWORK=ofi", spawner, "speak")
        assert code != 0, err
        equal(out, "")
        contains(err, "MPI_ERR_SPAWN")
        contains(err, "only rmarun without --hosts lets processes start more ranks")


def ipv6_over_tcp():
    """Hosts without an address of IPv4, which are named once for each slot."""
    with network("a", "b", ipv6=True) as hosts:
        equal(sorted(succeeds(hosts, "--host", "a,a,b,b", "--label", "hostname").splitlines()), ["[0] a", "[1] a", "[2] b", "[3] b"])
        puts(hosts, "--host", "a,a,b,b")


def full_names():
    """Names with domains. Hosts whose names differ in their domains only are two, and all is said by the names as they are
    written, whatever the hosts call themselves."""
    for names in (("a.x.org", "b.x.org"), ("n.one.org", "n.two.org")):
        first, second = names
        with network(*names) as hosts:
            hosts.setup[second] = ["hostname " + second.partition(".")[0]]
            out = succeeds(hosts, "--hosts", f"{first}:2,{second}:2", "--label", "hostname")
            short = second.partition(".")[0]
            equal(sorted(out.splitlines()), [f"[0] {first}", f"[1] {first}", f"[2] {short}", f"[3] {short}"])
            equal(sorted(hosts.calls), sorted(names))
            path = hosts.directory / "list"
            path.write_text(f"{first} port=2222 user=me\n{second} slots=1")
            succeeds(hosts, "--hostfile", str(path), "-n", "2", "hostname")
            equal((hosts.options[first], hosts.options[second]), (["-l", "me", "-p", "2222"], []))
            path.unlink()
            puts(hosts, "--hosts", f"{first}:2,{second}:2")
            job = hosts.start("--hosts", f"{first}:2,{second}:2", "sh", "-c", "echo ready; exec sleep 1000")
            equal([job.stdout.readline() for _ in range(4)], ["ready\n"] * 4)
            os.kill(until(lambda: hosts.processes(second, DAEMON), "the daemon runs")[0], signal.SIGKILL)
            _, err = job.communicate(timeout=HANG_GUARD)
            equal((job.returncode, err), (1, f"rmarun: host {second} was lost (ranks 2-3); ending the job\n"))
            hosts.none_left()
            hosts.refusals[second] = (255, "Permission denied (publickey).\n")
            code, _, err = hosts.run("--hosts", f"{first},{second}", "hostname")
            equal(code, 1)
            contains(err, f"host {second}: the remote shell has failed\n    Permission denied")


def own_full_name():
    """This host among others, by any of its names: it needs no remote shell."""
    for own, named in (("head.x.org", "head"), ("head.x.org", "head.x.org"), ("head", "head.x.org"), ("head", "localhost")):
        with network("a.x.org") as hosts:
            hosts.setup["head"] = ["hostname " + own]
            out = succeeds(hosts, "--hosts", f"{named}:1,a.x.org:1", "--label", "hostname")
            equal(sorted(out.splitlines()), ["[0] " + own, "[1] a.x.org"])
            equal(hosts.calls, ["a.x.org"])


def addresses():
    """Hosts by their addresses. Engines take none of IPv6, and the remote shell gets it nevertheless."""
    for ipv6, first, second in ((False, "10.99.1.1", "10.99.1.2"), (True, "fd99::1:1", "fd99::1:2")):
        with network("a", "b", ipv6=ipv6) as hosts:
            words = f"[{first}]:2,me@[{second}]:2" if ipv6 else f"{first}:2,me@{second}:2"
            out = succeeds(hosts, "--hosts", words, "--label", "hostname")
            equal(sorted(out.splitlines()), ["[0] a", "[1] a", "[2] b", "[3] b"])
            equal((sorted(hosts.calls), hosts.options[second]), ([first, second], ["-l", "me"]))
            puts(hosts, "--hosts", words)
            job = hosts.start("--hosts", words, "sh", "-c", "echo ready; exec sleep 1000")
            equal([job.stdout.readline() for _ in range(4)], ["ready\n"] * 4)
            os.kill(until(lambda: hosts.processes("b", DAEMON), "the daemon runs")[0], signal.SIGKILL)
            _, err = job.communicate(timeout=HANG_GUARD)
            equal((job.returncode, err), (1, f"rmarun: host {second} was lost (ranks 2-3); ending the job\n"))
            hosts.none_left()
            hosts.refusals["b"] = (255, "Permission denied (publickey).\n")
            code, _, err = hosts.run("--hosts", words, "hostname")
            equal(code, 1)
            contains(err, f"host {second}: the remote shell has failed\n    Permission denied")


def settings_of_engines():
    """What users have set for their own calls of mpirun does not reach the engine; what they have set for MPI reaches ranks."""
    with network("a", "b") as hosts:
        for name, value in (("orte_default_hostfile", "/no/such"), ("plm", "slurm"), ("plm_rsh_agent", "/no/such"),
                            ("plm_rsh_args", "-o ConnectionAttempts=10"), ("rmaps_base_mapping_policy", "socket"),
                            ("rmaps_base_oversubscribe", "0"), ("ras", "slurm"), ("oob", "none"), ("ess", "env"),
                            ("orte_keep_fqdn_hostnames", "0"), ("hwloc_base_binding_policy", "socket"),
                            ("hwloc_base_bind_to_core", "1"), ("orte_tag_output", "0"), ("orte_launch_agent", "/no/orted"),
                            ("orte_timestamp_output", "1"), ("orte_xml_output", "1"), ("oob_tcp_if_exclude", "lo")):
            interface = ("--interface", "10.99.0.0/16") if name.startswith("oob_tcp") else ()
            job = hosts.start("--hosts", "a:1,b:1", *interface, "sh", "-c", "echo $(hostname) $OMPI_MCA_btl",
                              env={**os.environ, "OMPI_MCA_btl": "self,tcp", f"OMPI_MCA_{name}": value, f"PRTE_MCA_{name}": value})
            out, err = job.communicate(timeout=HANG_GUARD)
            equal((job.returncode, sorted(out.splitlines()), err), (0, ["a self,tcp", "b self,tcp"], ""), name)


def host_files():
    with network("a", "b") as hosts:
        path = hosts.directory / "list"
        for text, arguments in (("a slots=1\nb slots=2\n", ()), ("a:1\nb:2\n", ()), ("a\nb\nb\n", ()),
                                ("root@a slots 1\nb port=22 user=root slots=2 # two\n", ()), ("a\nb\n", ("-ppn", "2", "-n", "3"))):
            path.write_text(text)
            for option in ("--hostfile", "-f", "-machinefile"):
                out = succeeds(hosts, option, str(path), *arguments, "--label", "hostname")
                wanted = ["[0] a", "[1] a", "[2] b"] if arguments else ["[0] a", "[1] b", "[2] b"]
                equal(sorted(out.splitlines()), wanted, text)
        path.unlink()


def batch_variables():
    """The variables of batch systems, as a shell sees them."""
    with network("a", "b") as hosts:
        path = hosts.directory / "list"

        def run(text, variables, *words):
            path.write_text(text)
            job = hosts.start(*words, "hostname", env={**os.environ, **variables})
            out, err = job.communicate(timeout=HANG_GUARD)
            return job.returncode, sorted(out.split()), err

        for variable in ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "PE_HOSTFILE",
                         "HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile"):
            equal(run("", {variable: ""}, "-n", "2"), (0, ["head"] * 2, ""), variable)
        equal(run("", {"OMPI_MCA_orte_default_hostfile": "none"}, "-n", "2"), (0, ["head"] * 2, ""))
        equal(run("", {"SLURM_JOB_ID": ""}, "--hosts", "a,b"), (0, ["a", "b"], ""))
        pbs = {"PBS_NODEFILE": str(path)}
        equal(run("a\nb\n", pbs), (0, ["a", "b"], ""))
        equal(run("a\nb\n", pbs, "-n", "3", "--oversubscribe"), (0, ["a", "a", "b"], ""))
        code, _, err = run("a\nb\n", pbs, "-n", "3")
        equal((code, err.split(":")[1]), (2, " 3 ranks are more than the 2 slots of PBS_NODEFILE"))
        # This host alone: without -n, as many ranks as it has slots.
        equal(run("head\nhead\n", pbs), (0, ["head"] * 2, ""))
        equal(run("head\nhead\n", pbs, "-n", "3"), (0, ["head"] * 3, ""))
        equal(run("head\nhead\n", pbs, "hostname", ":", "-n", "1"), (0, ["head"] * 2, ""))
        path.unlink()


def every_option():
    """Each option that --help lists works over hosts, or is refused."""
    where = ("--hosts", "a:1,b:1")
    with network("a", "b") as hosts:
        path = hosts.directory / "list"
        path.write_text("b:2\na\n")
        say = ("sh", "-c", "echo $(hostname) $X $Y")
        table = {
            "--ranks": (("--hosts", "a:2,b:2", "--ranks", "3"), ["a", "a", "b"]),
            "--host": (("--host", "a,b:2"), ["a", "b", "b"]),
            "--hostfile": (("--hostfile", str(path)), ["a", "b", "b"]),
            "--ppn": ((*where, "--ppn", "2"), ["a", "a", "b", "b"]),
            "--engine": ((*where, "--engine", ENGINE), ["a", "b"]),
            "--agent": (where, ["a", "b"]),  # each job has it
            "--interface": ((*where, "--interface", "10.99.0.0/16"), ["a", "b"]),
            "--start-timeout": ((*where, "--start-timeout", "100"), ["a", "b"]),
            "--oversubscribe": ((*where, "-n", "3", "--oversubscribe"), ["a", "a", "b"]),
            "--by-node": (("--hosts", "a:2,b:1", "--by-node", "--label"), ["[0] a", "[1] b", "[2] a"]),
            "--wdir": ((*where, "--wdir", "/usr", "sh", "-c", "echo $(hostname) $(pwd)"), ["a /usr", "b /usr"]),
            "--env": ((*where, "-n", "1", "--env", "X=1", *say, ":", "-n", "1", "--env", "X=2", *say), ["a 1", "b 2"]),
            "--genv": ((*where, "-n", "1", "--genv", "Y=3", *say, ":", "-n", "1", "--env", "X=2", *say), ["a 3", "b 2 3"]),
            "--bind": ((*where, "--bind", "core"), ["a", "b"]),
            "--label": ((*where, "--label"), ["[0] a", "[1] b"]),
            "--mpi": ((*where, "--mpi", "openmpi", "sh", "-c",
                       "case $LD_LIBRARY_PATH in */rma/openmpi*) echo $(hostname) $OMPI_COMM_WORLD_LOCAL_SIZE ;; esac"),
                      ["a 1", "b 1"]),
            "--timeout": ((*where, "--timeout", "100"), ["a", "b"]),
            "--universe": None, "--survive": None, "--help": None, "--version": None}
        listed = re.findall(r"^  (?:-., ?)?(--[a-z-]+)", succeeds(hosts, "--help").partition("Several programs")[0], re.MULTILINE)
        equal(sorted(listed), sorted(table))
        for option, case in table.items():
            if case:
                words, wanted = case
                command = () if "sh" in words else say
                equal(sorted(line.rstrip() for line in succeeds(hosts, *words, *command).splitlines()), wanted, option)
        for words in (("--universe", "4"), ("--survive",)):
            code, out, err = hosts.run(*where, *words, *say)
            equal((code, out, "is for jobs on this host" in err), (2, "", True), err)
        path.unlink()


def programs():
    with network("a", "b") as hosts:
        words = ["--hosts", "a:2,b:2", "--label", "-n", "1", "sh", "-c", "echo one $(hostname) $X", ":", "-n", "3", "--env", "X=5",
                 "--wdir", "/usr", "sh", "-c", "echo two $(hostname) $X $(pwd)"]
        equal(sorted(succeeds(hosts, *words).splitlines()),
              ["[0] one a", "[1] two a 5 /usr", "[2] two b 5 /usr", "[3] two b 5 /usr"])


def binding():
    with network("a", "b") as hosts:
        script = "import os; print(os.environ['PMIX_RANK'], sorted(os.sched_getaffinity(0)))"
        cores = dict(line.split(" ", 1) for line in
                     succeeds(hosts, "--hosts", "a:2,b:2", "--bind", "core", sys.executable, "-c", script).splitlines())
        # The emulated hosts have the same cores: rank 2 is the first of its host, as rank 0 is.
        equal((cores["0"], cores["1"]), (cores["2"], cores["3"]))
        everywhere = len(os.sched_getaffinity(0))
        assert everywhere == 1 or len(eval(cores["0"])) < everywhere, cores


def directory():
    """A rank starts in rmarun's directory, or in HOME where there is none, with a remark."""
    with network("a", "b") as hosts, tempfile.TemporaryDirectory() as place:
        hosts.setup["b"] = [f"mount -t tmpfs none {place}", f"rmdir {place} 2> /dev/null || true"]
        inside = f"{place}/inside"
        os.mkdir(inside)
        job = hosts.start("--hosts", "a,b", "--label", "pwd", cwd=inside)
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, sorted(out.splitlines())), (0, [f"[0] {inside}", "[1] /root"]), err)
        contains(err, f"b: no directory '{inside}': its ranks start in /root")
        code, _, err = hosts.run("--hosts", "a,b", "--wdir", inside, "pwd")
        equal(code, 1)
        contains(err, f"host b: cannot start in the directory '{inside}'")


# ---- What goes in and out ---------------------------------------------------------------------------------------


def big_stdin():
    """10 MB come to rank 0 alone, whole."""
    with network("a", "b") as hosts, tempfile.TemporaryFile() as file:
        data = os.urandom(10_000_000)
        file.write(data)
        file.seek(0)
        script = "[ $PMIX_RANK = 0 ] && exec sha1sum; readlink /proc/self/fd/0"
        job = hosts.start("--hosts", "a:2,b:1", "sh", "-c", script, stdin=file)
        out, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 0, err)
        equal(sorted(out.splitlines()), sorted([hashlib.sha1(data).hexdigest() + "  -", "/dev/null", "/dev/null"]))


def binary_output():
    """Any bytes come out as they went in, on both streams."""
    with network("a", "b") as hosts, tempfile.NamedTemporaryFile() as file:
        data = os.urandom(300_000) + b"[1,0]<stdout>:[1,1]<stderr>\n\n\x10\x10(" * 5000
        file.write(data)
        file.flush()
        job = hosts.start("--hosts", "a,b", "sh", "-c", f"cat {file.name} >&$((PMIX_RANK + 1))", text=False)
        out, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 0)
        assert (out, err) == (data, data), (len(out), len(err))


def many_lines():
    """100,000 lines of eight hosts: whole, and in their order."""
    names = "abcdefgh"
    each = 12_500
    writer = ("import os, sys\n"
              f"for i in range({each}): sys.stdout.write(os.environ['PMIX_RANK'] + ' ' + str(i) + 'x' * (i % 60) + '\\n')\n")
    for label in (False, True):
        with network(*names) as hosts:
            out = succeeds(hosts, "--hosts", ",".join(names), *(["--label"] if label else []), sys.executable, "-c", writer)
            lines = {str(rank): [] for rank in range(8)}
            for line in out.splitlines():
                rank, _, rest = (line[1:].replace("] ", "] ", 1).partition("] ")[2] if label else line).partition(" ")
                if label:
                    equal(line[:4], f"[{rank}] ")
                lines[rank].append(rest)
            wanted = [str(i) + "x" * (i % 60) for i in range(each)]
            assert all(got == wanted for got in lines.values()), {rank: len(got) for rank, got in lines.items()}


def environment():
    """Values of any form and size come to the ranks, and none is in a command line."""
    with network("a", "b") as hosts:
        odd = {"ODD": "a\nb;c$d`e`'f'\"g\" \\ [1,0]<stdout>:", "LONG": "x" * 100_000, "EMPTY": "", "SECRET": "hunter2hunter2",
               "DISPLAY": ":7", "SSH_CONNECTION": "here", "LD_LIBRARY_PATH": "/x/lib"}
        script = ("import hashlib, json, os, sys\n"
                  "sys.stdin.readline()\n"
                  "print(json.dumps([os.environ['PMIX_RANK'], hashlib.sha1(os.environ['LONG'].encode()).hexdigest()] +\n"
                  " [os.environ.get(n) for n in ('ODD', 'EMPTY', 'SECRET', 'TMPDIR', 'DISPLAY', 'SSH_CONNECTION',\n"
                  " 'LD_LIBRARY_PATH', 'GIVEN', 'RMARUN_JOB', 'HOSTNAME')]))\n")
        job = hosts.start("--hosts", "a,b", "--env", "GIVEN=1=2", "--env", "SECRET2=swordfish", sys.executable, "-c", script,
                          env={**os.environ, **odd, "HOSTNAME": "wrong"})
        until(lambda: len(hosts.processes("a", "python3") + hosts.processes("b", "python3")) >= 1, "a rank runs")
        for name in hosts.names:
            for pid in hosts.processes(name):
                with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as line:
                    words = line.read()
                    assert b"hunter2" not in words, words
        out, err = job.communicate("go\n", timeout=HANG_GUARD)
        equal((job.returncode, err), (0, ""))
        long = hashlib.sha1(odd["LONG"].encode()).hexdigest()
        values = [long, odd["ODD"], "", "hunter2hunter2", None, None, None, "/x/lib", "1=2", None, None]
        equal(sorted(json.loads(line) for line in out.splitlines()), [["0", *values], ["1", *values]])


# ---- Ends -------------------------------------------------------------------------------------------------------


def failures():
    """Exit codes and texts are those of one host, with the host's name."""
    with network("a", "b") as hosts:
        code, _, err = hosts.run("--hosts", "a:2,b:2", "sh", "-c", "[ $PMIX_RANK != 2 ] || exit 7; sleep 1000")
        equal(code, 7)
        pid = re.search(r"rank 2 \(pid (\d+) on b\) exited with code 7; ending the job\n", err)
        assert pid and err.count("\n") == 1, err
        code, _, err = hosts.run("--hosts", "a:2,b:2", "sh", "-c", "[ $PMIX_RANK != 3 ] || kill -SEGV $$; sleep 1000")
        equal(code, 128 + signal.SIGSEGV)
        assert re.fullmatch(r"rmarun: rank 3 \(pid \d+ on b\) was killed by signal 11 \(Segmentation fault\)[^\n]*\n", err), err
        for program, wanted, text in (("no-such-program", 127, "No such file"), ("/etc/passwd", 126, "Permission denied")):
            code, _, err = hosts.run("--hosts", "a,b", program)
            equal(code, wanted)
            contains(err, f"cannot run '{program}': {text}")
            hosts.none_left()


def never_joins():
    """A rank that exits with code 0 and never joins the job ends it: on another host than the rank that waits for it, which may
    be waiting already, and on the same one."""
    with network("a", "b") as hosts:
        for where, late in (("a:1,b:1", ":"), ("a:1,b:1", "sleep 2"), ("a:2", ":"), ("a:2", "sleep 2")):
            start = time.monotonic()
            code, out, err = hosts.run("--hosts", where, "sh", "-c", f'[ $PMIX_RANK = 1 ] || exec "$0" fence; {late}', CLIENT)
            equal((code, out, err), (1, "", "rmarun: rank 1 exited with code 0 without joining the job that rank 0 has joined; "
                                            "ending the job\n"), where)
            hosts.none_left()
            print(f"{where} {late}: {time.monotonic() - start:.1f} s")


def joins_late():
    """A rank that joins long after the others, and one that leaves long before them, are no failures."""
    with network("a", "b") as hosts:
        slow = 'sleep $((5 * PMIX_RANK)); "$0" fence; sleep $((5 - 5 * PMIX_RANK))'
        equal(hosts.run("--hosts", "a:1,b:1", "sh", "-c", slow, CLIENT), (0, "", ""))


def gone_in_job():
    """A rank that exits with code 0 in the middle of the job: what is said is that of one host."""
    for where, host in (("a:1,b:1", "b"), ("a:2", "a")):
        with network("a", "b") as hosts:
            code, out, err = hosts.run("--hosts", where, CLIENT, "vanish")
            equal((code, out), (1, ""), err)
            assert re.fullmatch(rf"rmarun: rank 1 \(pid \d+ on {host}\) exited with code 0 without leaving the job it had joined "
                                r"\(rma_finalize, PMIx_Finalize\) while others run; ending the job\n", err), err


def aborts():
    """A rank that aborts the job, and one that exits with the same code, are told apart."""
    if ENGINE == "prterun":
        print("skipped: it is not known what prterun says of ranks that abort the job")
        sys.exit(SKIPPED)
    with network("a", "b") as hosts:
        for where in ("a:1,b:1", "a:2,b:1", "a:1"):
            code, out, err = hosts.run("--hosts", where, CLIENT, "abort")
            last = {"a:1,b:1": 1, "a:2,b:1": 2, "a:1": 0}[where]
            equal((code, out, err), (9, "", f"the last rank has had enough\nrmarun: rank {last} aborted the job with exit code 9\n"))
            hosts.none_left()
        code, out, err = hosts.run("--hosts", "a:1,b:1", "sh", "-c", '[ $PMIX_RANK = 1 ] || exec "$0" fence; exit 9', CLIENT)
        equal((code, out), (9, ""), err)
        assert re.fullmatch(r"rmarun: rank 1 \(pid \d+ on b\) exited with code 9; ending the job\n", err), err
        # As shmem_global_exit(0) does.
        equal(hosts.run("--hosts", "a:1,b:1", CLIENT, "abort_well"), (0, "", "the last rank is content\n"))


def crash_over_tcp():
    """A rank ends in the middle of communication, of ranks that share memory and of ranks that do not. The job's text and
    code are those of its end, and not of the ranks that then find it lost."""
    program = os.path.join(os.path.dirname(os.path.abspath(RMARUN)), "launcher-victim")
    where = ("--hosts", "a:2,b:2", "--env", "RMA_NETWORK=ofi")
    with network("a", "b") as hosts:
        code, _, err = hosts.run(*where, program, "leave", "3", "700000")
        equal(code, 3, err)
        assert re.search(r"rank 3 \(pid \d+ on b\) exited with code 3; ending the job\n", err), err
        hosts.none_left()
        job = hosts.start(*where, program)
        until(lambda: len(hosts.processes("b", "launcher-victim")) == 2, "the ranks of b run")
        os.kill(max(hosts.processes("b", "launcher-victim")), signal.SIGSEGV)
        _, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 128 + signal.SIGSEGV, err)
        assert re.search(r"rank \d \(pid \d+ on b\) was killed by signal 11", err), err


def light_keepers():
    """A keeper does not load rmarun's libraries, which would delay its rank, unless it has to find cores."""
    count = ("sh", "-c", "grep -Ec 'libpmix|libhwloc' /proc/$PPID/maps; true")
    with network("a", "b") as hosts:
        equal(succeeds(hosts, "--hosts", "a,b", *count), "0\n0\n")
        bound = succeeds(hosts, "--hosts", "a,b", "--bind", "core", *count).split()
        assert all(int(lines) > 0 for lines in bound), bound


def missing_on_one_host():
    """A program, or rmarun itself, that is not on one of the hosts."""
    with network("a", "b") as hosts, tempfile.TemporaryDirectory() as place:
        program = shutil.copy("/bin/sleep", place)
        hosts.setup["b"] = [f"mount -t tmpfs none {place}"]
        code, _, err = hosts.run("--hosts", "a,b", program, "1000")
        equal(code, 127)
        contains(err, f"host b: cannot run '{program}': No such file or directory")
        contains(err, "do the hosts share no file system?")
        folder = os.path.dirname(os.path.abspath(RMARUN))
        hosts.setup["b"] = [f"mount -t tmpfs none {folder}"]
        code, _, err = hosts.run("--hosts", "a,b", "sleep", "1000")
        equal(code, 127)
        contains(err, f"host b: neither {os.path.abspath(RMARUN)} nor rmarun in PATH is on this host")


def missing_library():
    """A library of the program, or of rmarun itself, that is not on one of the hosts."""
    folder = os.path.dirname(os.path.abspath(RMARUN))
    with network("a", "b") as hosts:
        program = f"{folder}/launcher-victim"
        library = re.search(r"=> (\S+/librma\.so\S*)", subprocess.check_output(["ldd", program], text=True))[1]
        hosts.setup["b"] = [f"mount --bind /dev/null {library}"]
        code, _, err = hosts.run("--hosts", "a,b", program)
        equal(code, 127)
        assert re.search(r"error while loading shared libraries: \S+/librma\.so\S*: file too short", err), err
        assert re.search(r"rmarun: rank 1 \(pid \d+ on b\) exited with code 127; ending the job", err), err
        library = re.search(r"=> (\S+/libfmt\S+)", subprocess.check_output(["ldd", RMARUN], text=True))[1]
        hosts.setup["b"] = [f"mount --bind /dev/null {library}"]
        code, _, err = hosts.run("--hosts", "a,b", "--bind", "core", "sleep", "1000")  # else rmarun itself runs no rank
        equal(code, 127)
        assert re.search(r"127 before the ranks on b \(rank 1\). It says:\n(?s:.*)error while loading shared libraries: \S+libfmt", err), err


def own_file_systems():
    """Hosts that share no place for temporary files. Those of the ranks of this host are where they were."""
    with network("a", "b") as hosts:
        own = hosts.directory / "own"
        own.mkdir()
        hosts.setup["b"] = [f"mount --bind {own} {os.environ['TMPDIR']}"]
        out = succeeds(hosts, "--hosts", "head,a,b", "--label", "sh", "-c", "echo $TMPDIR")
        equal(sorted(line.rstrip() for line in out.splitlines()), [f"[0] {os.environ['TMPDIR']}", "[1]", "[2]"])
        own.rmdir()


def full_disk():
    """There is no room for the files of rmarun on its host."""
    with network("a", "b") as hosts:
        place = hosts.directory / "small"
        place.mkdir()
        hosts.setup = {"head": [f"mount -t tmpfs -o nr_inodes=2 none {place}"]}
        job = hosts.start("--hosts", "a,b", "hostname", env={**os.environ, "TMPDIR": str(place)})
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, out), (1, ""), err)
        contains(err, "No space left on device")
        place.rmdir()


def full_disk_there():
    """There is no room for the files of the engine's daemon on another host: no file can be made, or no data written."""
    with network("a", "b") as hosts:
        for setup, text in ((["mount -t tmpfs -o nr_inodes=1 none /tmp"], "No space left on device"),
                            (["mount -t tmpfs -o size=64k none /tmp", "head -c 64k /dev/zero > /tmp/all"], "I/O error")):
            hosts.setup["b"] = setup
            code, out, err = hosts.run("--hosts", "a,b", "hostname")
            equal((code, out), (1, ""), err)
            contains(err, "host b: there is no room for temporary files")
            contains(err, text)
            hosts.none_left()


SIXTEEN = [f"h{number}" for number in range(1, 17)]
ON_SIXTEEN = ("--hosts", ",".join(f"{name}:2" for name in SIXTEEN))


def sixteen_hosts():
    """32 ranks on 16 hosts: where they are, what they get, and how they end."""
    with network(*SIXTEEN) as hosts:
        out = succeeds(hosts, *ON_SIXTEEN, "--label", "hostname")
        equal(sorted(out.splitlines()), sorted(f"[{rank}] {SIXTEEN[rank // 2]}" for rank in range(32)))
        code, _, err = hosts.run("--hosts", ",".join(SIXTEEN), "sh", "-c", "[ $PMIX_RANK != 15 ] || exit 7; sleep 1000")
        equal(code, 7)
        assert re.fullmatch(r"rmarun: rank 15 \(pid \d+ on h16\) exited with code 7; ending the job\n", err), err
        long = {name: name * 50_000 for name in ("X1", "X2")}
        job = hosts.start(*ON_SIXTEEN, "sh", "-c", "echo $X1$X2 | sha1sum", env={**os.environ, **long})
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, out), (0, 32 * (hashlib.sha1((long["X1"] + long["X2"] + "\n").encode()).hexdigest() + "  -\n")), err)
        job = started(hosts, *SLEEPER, where=ON_SIXTEEN, ranks=32)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 128 + signal.SIGINT)
        hosts.none_left()
        job = started(hosts, *SLEEPER, where=ON_SIXTEEN, ranks=32)
        kill_all(hosts.processes("h9"))
        _, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 1)
        contains(err, "rmarun: host h9 was lost (ranks 16-17); ending the job")


def sixteen_hosts_over_tcp():
    """32 ranks of librma on 16 hosts."""
    with network(*SIXTEEN) as hosts:
        puts(hosts, *ON_SIXTEEN, ranks=32)


def other_version():
    """A description of another version is refused, with both versions."""
    def fields(*texts):
        return "".join(f"{len(text)}:{text}" for text in texts)

    with network("a") as hosts:
        text = fields("rmarun of librma 9.9.9", "head", "/", "0", "1", "0", "0", "0", "1", "1", "", "1", "true", "0", "1", "a")
        job = {"RMARUN_JOB_0": base64.b64encode(text.encode()).decode().rstrip("="), "RMARUN_JOB": "1", "PMIX_RANK": "0"}
        done = subprocess.run(hosts.inside("a", os.path.abspath(RMARUN), "--rank"), env={**os.environ, **job}, capture_output=True,
                              text=True, timeout=HANG_GUARD)
        equal(done.returncode, 1)
        assert re.search(r"fail 1 \S+ here is rmarun of librma [0-9.]+, and on head it is rmarun of librma 9\.9\.9", done.stdout), done


def started(hosts, *arguments, ranks=4, where=("--hosts", "a:2,b:2"), **options):
    """A job whose ranks have said that they run."""
    job = hosts.start(*where, *arguments, **options)
    ready = sorted(job.stdout.readline() for _ in range(ranks))
    if ready != ["ready\n"] * ranks:
        job.kill()
        raise AssertionError(f"not all ranks have started: {ready}, {job.communicate(timeout=HANG_GUARD)}")
    return job


# Seconds within which rmarun sees a loss, on a slow machine too. If it did not, a limit of 60 s or more would end the job.
SOON = 40
SLEEPER = ("sh", "-c", "echo ready; sleep 1000 & wait")
STUBBORN = ("sh", "-c", "trap '' TERM INT HUP; echo ready; while :; do sleep 1; done")


def interrupts():
    for script in (SLEEPER, STUBBORN):
        for sent in (signal.SIGINT, signal.SIGTERM):
            with network("a", "b") as hosts:
                job = started(hosts, *script)
                start = time.monotonic()
                job.send_signal(sent)
                _, err = job.communicate(timeout=HANG_GUARD)
                equal(job.returncode, 128 + sent)
                contains(err, f"interrupted by signal {int(sent)}")
                hosts.none_left()
                print(f"{script[2][:4]} {sent.name}: {time.monotonic() - start:.1f} s")


def time_limit():
    stubborn = ("sh", "-c", "trap '' TERM INT HUP; echo ready; exec sleep 1000")  # signals stay ignored, and it never computes
    report = HEAD + "rmarun:   ranks 0-3: not waiting in librma\n"
    limit = 2
    with network("a", "b") as hosts:
        while True:
            code, out, err = hosts.run("--hosts", "a:2,b:2", "--timeout", str(limit), *stubborn)
            equal(code, 124, err)
            hosts.none_left()
            if out == "ready\n" * 4 and err == report + f"rmarun: no end after {limit} s; ending the job\n":
                break
            assert limit < HANG_GUARD, (out, err)
            limit *= 2  # the machine is slow: a rank has not said its word, or does not sleep yet


def explained_waits():
    """A report of the waits tells ranks that have ended, that are stopped and that compute; and a host that is cut off."""
    script = "echo ready; case $PMIX_RANK in 0) exit 0 ;; 1) while :; do :; done ;; *) exec sleep 1000 ;; esac"
    with network("a", "b") as hosts:
        job = started(hosts, "sh", "-c", script)
        stop(until(lambda: hosts.processes("b", "sleep"), "a rank sleeps")[0])
        explained(job, "rank 0: has ended", "rank 1: not waiting in librma: it computes", "rank [23]: stopped by a signal",
                  "rank [23]: not waiting in librma", only=True)
        hosts.link("b", "down")
        explained(job, "rank 0: has ended", "rank 1: .*", "ranks 2,3: its host does not answer", only=True)
        hosts.link("b", "up")
        job.terminate()
        job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 128 + signal.SIGTERM)


def hang_over_tcp():
    """What ranks of librma on several hosts wait for, on request and at the time limit."""
    program = os.path.join(os.path.dirname(os.path.abspath(RMARUN)), "launcher-hangs")
    network_only = ("--env", "RMA_SHM=off", "--env", "RMA_NETWORK=ofi")
    receives = [f"rank {me}: MPI_Recv from rank {(me + 1) % 4}, tag 7, MPI_COMM_WORLD@" for me in range(4)]
    cycle = "cycle: " + ", ".join(f"rank {me} waits for rank {(me + 1) % 4}" for me in range(4))
    late = ("ranks 0,1: MPI_Barrier, MPI_COMM_WORLD@; rank 2 has not come", "rank 2: not waiting in librma.*")
    with network("a", "b") as hosts:
        for where, hang, lines in (("a:2,b:2", "ring", (*receives, cycle)), ("a:2,b:1", "missing_computes", late)):
            job = hosts.start("--hosts", where, *network_only, program, hang)
            until(lambda: hosts.processes("b", "launcher-hangs"), "the ranks run")
            explained(job, *lines, only=True)
            job.send_signal(signal.SIGINT)
            job.communicate(timeout=HANG_GUARD)
            equal(job.returncode, 128 + signal.SIGINT)
        limit = 4
        while True:
            code, _, err = hosts.run("--hosts", "a:2,b:2", *network_only, "--timeout", str(limit), program, "ring")
            equal(code, 124, err)
            if "rmarun:   " + cycle in err:
                assert err.index(HEAD) < err.index(f"no end after {limit} s; ending the job"), err
                return
            assert limit < HANG_GUARD, err
            limit *= 2  # the machine is slow


def passed_signals():
    """Ranks get USR1 and USR2, and stop and go on with rmarun."""
    script = ("import os, signal\n"
              "signal.signal(signal.SIGUSR1, lambda *_: print('usr1', flush=True))\n"
              "signal.signal(signal.SIGUSR2, lambda *_: (print('usr2', flush=True), os._exit(0)))\n"
              "print('ready', flush=True)\n"
              "while True: signal.pause()\n")
    with network("a", "b") as hosts:
        job = started(hosts, sys.executable, "-c", script)
        job.send_signal(signal.SIGUSR1)
        equal([job.stdout.readline() for _ in range(4)], ["usr1\n"] * 4)
        job.send_signal(signal.SIGUSR2)
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, out, err), (0, "usr2\n" * 4, ""))


def signals_in_start():
    """Signals that come while the engine starts its daemons do not end the job."""
    with network("a", "b") as hosts:
        hosts.noise["b"] = "sleep 1"
        job = hosts.start("--hosts", "a:1,b:1", "echo", "done")
        until(lambda: "b" in hosts.calls, "the remote shell of b is called")
        for each in (signal.SIGCONT, signal.SIGQUIT):
            job.send_signal(each)
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, out), (0, "done\n" * 2), err)
        contains(err, "no rank has started yet on")
        # The remote shell waits for a password, and the time passes.
        hosts.refusals["b"] = None
        code, _, err = hosts.run("--hosts", "a:1,b:1", "--timeout", "2", "echo", "done")
        equal(code, 124, err)
        contains(err, "no rank has started yet on")
        contains(err, "no end after 2 s")


def closed_stdin():
    with network("a", "b") as hosts:
        words = hosts.inside("head", "sh", "-c", 'exec "$@" <&-', "sh", os.path.abspath(RMARUN), "--agent", hosts.agent,
                             "--hosts", "a:1,b:1", "sh", "-c", "cat; echo done")
        done = subprocess.run(words, capture_output=True, text=True, timeout=HANG_GUARD)
        equal((done.returncode, done.stdout), (0, "done\n" * 2), done.stderr)


def job_in_job():
    """A rank starts a job on several hosts."""
    with network("a", "b") as hosts:
        inner = f"{os.path.abspath(RMARUN)} --agent {hosts.agent} --hosts a:1,b:1 hostname"
        out = succeeds(hosts, "--hosts", "a:1,b:1", "sh", "-c", f'[ "$PMIX_RANK" = 1 ] || {inner}')
        equal(sorted(out.splitlines()), ["a", "b"])


def large_environment():
    """More than the system takes twice. The keeper of a host has it once."""
    with network("a", "b") as hosts:
        job = hosts.start("--hosts", "a:1,b:1", "sh", "-c", "echo $X0$X11 | wc -c",
                          env={**os.environ, **{f"X{i}": "x" * 100_000 for i in range(12)}})
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, out.split()), (0, ["200001", "200001"]), err)


def stop_and_continue():
    with network("a", "b") as hosts:
        job = started(hosts, "sh", "-c", "echo ready; exec sleep 1000")
        ranks = until(lambda: len(found := [pid for name in "ab" for pid in hosts.processes(name, "sleep")]) == 4 and found,
                      "all ranks sleep")
        job.send_signal(signal.SIGTSTP)
        until(lambda: state(job.pid) == "T" and all(state(pid) == "T" for pid in ranks), "all are stopped")
        job.send_signal(signal.SIGCONT)
        until(lambda: state(job.pid) != "T" and all(state(pid) != "T" for pid in ranks), "all go on")
        job.terminate()
        equal(job.wait(HANG_GUARD), 128 + signal.SIGTERM)


# ---- Losses -----------------------------------------------------------------------------------------------------


def victims(hosts, job, kind):
    """The processes of a kind, to choose from."""
    if kind == "rmarun":
        return [job.pid]
    if kind == "job":
        return children_of(job.pid)
    program = {"rank": "sleep", "keeper": "rma-keeper", "daemon": DAEMON, "engine": ENGINE, "agent": "agent"}[kind]
    return [pid for name in hosts.names for pid in hosts.processes(name, program)]


def kills(*kinds):
    """Ends jobs by the death of one process. LIBRMA_HOST_KILLS sets how often for each kind."""
    random.seed(int(os.environ.get("LIBRMA_TEST_SEED", "7")))
    times = {}
    with network("a", "b") as hosts:
        for round in range(int(os.environ.get("LIBRMA_HOST_KILLS", "2"))):
            for kind in kinds:
                job = started(hosts, "sh", "-c", "echo ready; exec sleep 1000")
                victim = random.choice(until(lambda: victims(hosts, job, kind), f"there is a {kind}"))
                host = next((name for name in "ab" if victim in hosts.processes(name)), "?")
                start = time.monotonic()
                os.kill(victim, signal.SIGKILL)
                out, err = job.communicate(timeout=HANG_GUARD)
                hosts.none_left()
                times.setdefault(kind, []).append(time.monotonic() - start)
                wanted = {"rank": (137, rf"rank \d \(pid {victim} on {host}\) was killed by signal 9 \(Killed\); ending the job"),
                          "keeper": (137, rf"rank \d \(pid \d+ on {host}\) was lost: its keeper was killed by signal 9"),
                          "daemon": (1, rf"host {host} was lost \(ranks {'0-1' if host == 'a' else '2-3'}\); ending the job"),
                          "engine": (137, rf"{ENGINE} was killed by signal 9 \(Killed\) before the ranks on a"),
                          "job": (137, "ended by signal 9"), "rmarun": (-9, "")}[kind]
                equal((job.returncode, bool(re.search(wanted[1], err))), (wanted[0], True), f"{kind} on {host}: {err}")
    print({kind: f"{max(seconds):.1f} s" for kind, seconds in times.items()})


def kill_rank():
    kills("rank")


def kill_keeper():
    kills("keeper")


def kill_keeper_with_children():
    """What the rank has started ends too, though nobody is left who knows it."""
    with network("a", "b") as hosts:
        for script in (SLEEPER, STUBBORN):
            job = started(hosts, *script)
            os.kill(hosts.processes("b", "rma-keeper")[0], signal.SIGKILL)
            _, err = job.communicate(timeout=HANG_GUARD)
            equal(job.returncode, 128 + signal.SIGKILL, err)
            hosts.none_left()


def kill_daemon():
    kills("daemon")


def kill_engine():
    kills("engine")


def kill_front():
    kills("rmarun", "job")


def is_for(pid, word):
    """Whether the command line of a process has the word."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as line:
        return word in line.read().split(b"\0")
    return False


def kill_agent():
    """The remote shell of a host is killed while it starts the host's daemon. LIBRMA_HOST_KILLS sets how often."""
    with network("a", "b") as hosts:
        hosts.refusals["b"] = None
        for round in range(int(os.environ.get("LIBRMA_HOST_KILLS", "2"))):
            job = hosts.start("--hosts", "a:2,b:2", "sleep", "1000")
            # The wrapper that rmarun has written, and the client of the host's server.
            shells = until(lambda: len(found := [pid for pid in victims(hosts, job, "agent") if is_for(pid, b"b")]) == 2 and found,
                           "the remote shell of b runs")
            os.kill(shells[-1 - round % 2], signal.SIGKILL)
            _, err = job.communicate(timeout=HANG_GUARD)
            hosts.none_left()
            equal(job.returncode, 1, err)
            assert re.search(r"^  host b: the remote shell has (failed|not come back)$", err, re.MULTILINE), err


def losses(script, kill):
    """Ends jobs by the loss of a host. LIBRMA_HOST_LOSSES sets how often."""
    times = []
    with network("a", "b") as hosts:
        for _ in range(int(os.environ.get("LIBRMA_HOST_LOSSES", "1"))):
            job = started(hosts, *script)
            start = time.monotonic()
            hosts.link("b", "down")
            if kill:
                kill_all(hosts.processes("b"))
            _, err = job.communicate(timeout=HANG_GUARD)
            named = time.monotonic() - start
            equal(job.returncode, 1, err)
            contains(err, "rmarun: host b was lost (ranks 2-3); ending the job")
            assert named < SOON, named
            times.append((named, named + hosts.none_left()))
            hosts.link("b", "up")
    print(f"{len(times)} losses: named after {max(named for named, _ in times):.1f} s, gone after {max(gone for _, gone in times):.1f} s")


def link_down():
    """The link of a host goes down. The host's own processes end too."""
    losses(SLEEPER, kill=False)


def vanished_host():
    """A host is gone without a word, as by a loss of power."""
    losses(STUBBORN, kill=True)


def lost_in_start(lose, delay):
    """A host is lost after its daemon has connected, and before ranks start: another host's shell is not through. The lost host is
    named, and not the other one. `delay`: what the other host's shell does first, or None if it never comes back."""
    with network("a", "b") as hosts:
        if delay is None:
            hosts.refusals["b"] = None
        else:
            hosts.noise["b"] = delay
        job = hosts.start("--hosts", "a:2,b:2", "sleep", "1000")
        daemon = until(lambda: next((pid for pid in hosts.processes("a", DAEMON) if hosts.connected(pid)), None), "the daemon is there")
        start = time.monotonic()
        lose(hosts, daemon)
        line = job.stderr.readline()
        named = time.monotonic() - start
        out, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, out, line + err), (1, "", "rmarun: host a was lost (ranks 0-1); ending the job\n"))
        ended = time.monotonic() - start
        print(f"named after {named:.1f} s, ended after {ended:.1f} s, gone after {ended + hosts.none_left():.1f} s")
        assert named < SOON, named


def cut_off(hosts, _):
    hosts.link("a", "down")


def kill_daemon_in_start():
    lost_in_start(lambda _, daemon: os.kill(daemon, signal.SIGKILL), None)


def link_down_in_start():
    lost_in_start(cut_off, None)


def link_down_before_ranks():
    """The engine learns of no loss: it has sent the host its ranks, and waits for the answer. The system of a host waits longer
    for answers to what it has sent than for signs of life."""
    lost_in_start(cut_off, "sleep 2")


def interrupt_without_link():
    """Ctrl-C ends rmarun though its engine waits for a daemon that it cannot reach. rmarun kills that engine, before the job's own
    limit for signals, of which a second line would tell."""
    with network("a", "b") as hosts:
        job = started(hosts, *SLEEPER)
        hosts.link("b", "down")
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=HANG_GUARD)
        equal((job.returncode, err), (130, "rmarun: interrupted by signal 2 (Interrupt); ending the job\n"))
        hosts.link("b", "up")


# ---- Remote shells ----------------------------------------------------------------------------------------------


def noisy_shell():
    """The output of the hosts' shells does not reach the job's."""
    with network("a", "b") as hosts:
        for name in "ab":
            hosts.noise[name] = "echo welcome; echo '[1,0]<stdout>:warning' >&2; yes | head -c 100000"
        equal(sorted(succeeds(hosts, "--hosts", "a:2,b:2", "--label", "hostname").splitlines()),
              ["[0] a", "[1] a", "[2] b", "[3] b"])


def failing_shells():
    with network("a", "b") as hosts:
        code, out, err = hosts.run("--hosts", "a,nowhere:2", "hostname")
        equal((code, out), (1, ""))
        contains(err, "host nowhere: the remote shell has failed")
        contains(err, "Could not resolve hostname nowhere")
        hosts.refusals["b"] = (255, "root@b: Permission denied (publickey).\n\x1b[31m")
        code, out, err = hosts.run("--hosts", "a,b", "hostname")
        equal((code, out), (1, ""))
        contains(err, "host b: the remote shell has failed")
        contains(err, "Permission denied (publickey)")
        assert "\x1b" not in err
        hosts.refusals["b"] = (127, "sh: 1: orted: not found\n")
        for environment in ({}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}):  # a pod's name may be found later, a program is not
            hosts.calls.clear()
            job = hosts.start("--hosts", "a,b", "hostname", env={**os.environ, **environment})
            _, err = job.communicate(timeout=HANG_GUARD)
            contains(err, "host b: the engine's daemon is not there (apt install openmpi-bin, on all hosts)")
            equal(hosts.calls.count("b"), 1)


REFUSED = (255, "ssh: connect to host b port 22: Connection refused\n")


def no_agent():
    """A remote shell that is not on this machine. The engine may end one host's wrapper as soon as the other's has failed."""
    missing = r"rmarun: the job cannot start(\n  host [ab]: this machine does not have the remote shell\n    .*: not found){1,2}\n"
    with network("a", "b") as hosts:
        for words, text in (("no-such-shell -x", "rmarun: --agent no-such-shell: there is no such program in PATH"),
                            ("/no/such/shell", "rmarun: --agent /no/such/shell: there is no such program"),
                            ("$NOTHING no-such-shell", missing)):
            hosts.agent, agent = words, hosts.agent
            code, out, err = hosts.run("--hosts", "a,b", "hostname")
            hosts.agent = agent
            equal((code, out), (1, ""), err)
            assert re.search(text, err), err
            assert "openmpi-bin" not in err, err


def shells_that_come_late():
    """A remote shell is called again if its failure may pass; in a pod also if the host's name is unknown."""
    unknown = (255, "ssh: Could not resolve hostname b: Name or service not known\n")
    with network("a", "b") as hosts:
        for first, environment in ((REFUSED, {}), (unknown, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
                                   ((255, "kex_exchange_identification: read: Connection reset by peer\n"), {})):
            hosts.refusals["b"] = [first, first]
            job = hosts.start("--hosts", "a,b", "hostname", env={**os.environ, **environment})
            out, err = job.communicate(timeout=HANG_GUARD)
            equal((job.returncode, sorted(out.split())), (0, ["a", "b"]), err)
            assert err in ("", f"rmarun: host b: {first[1].strip()}; trying again\n"), err
            equal(hosts.calls.count("b"), 3)
            hosts.calls.clear()
        # Not for ever, and not otherwise.
        hosts.refusals["b"] = REFUSED
        code, _, err = hosts.run("--hosts", "a,b", "--start-timeout", "2", "hostname")
        equal(code, 1)
        assert re.search("host b: the remote shell (fails each time|has failed|has not come back)", err), err
        contains(err, REFUSED[1].strip())
        assert hosts.calls.count("b") >= 2, hosts.calls
        hosts.calls.clear()
        for final in (unknown, (255, "Permission denied (publickey).\n")):
            hosts.refusals["b"] = final
            code, _, err = hosts.run("--hosts", "a,b", "hostname")
            equal((code, hosts.calls.count("b")), (1, 1), err)
            contains(err, "host b: the remote shell has failed\n    " + final[1].strip())
            hosts.calls.clear()


def password_prompt():
    """A remote shell that asks for a password is ended with the job, and its host is named."""
    with network("a", "b") as hosts:
        hosts.refusals["b"] = None
        start = time.monotonic()
        code, out, err = hosts.run("--hosts", "a,b", "--start-timeout", "3", "hostname")
        equal((code, out), (1, ""))
        contains(err, "no rank has started within 3 s on a (rank 0), b (rank 1)")
        contains(err, "host b: the remote shell has not come back\n    root@b's password: ")
        assert "host a" not in err, err
        assert time.monotonic() - start < SOON


def no_engine():
    with network("a") as hosts, tempfile.TemporaryDirectory() as place:
        for program in ("hostname", "sh", "nsenter", "unshare"):
            os.symlink(shutil.which(program), f"{place}/{program}")
        job = hosts.start("--hosts", "a", "hostname", env={**os.environ, "PATH": place})
        _, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 1)
        contains(err, "apt install openmpi-bin, on all hosts")
        code, _, err = hosts.run("--hosts", "a", "--engine", "no-such-engine", "hostname")
        equal(code, 1)
        contains(err, "--engine no-such-engine: there is no such program")


def foreign_engines():
    """Programs that are no engine, some of which do not end when they are asked for their version."""
    with network("a") as hosts, tempfile.TemporaryDirectory() as place:
        for name, script, said in (("mpiexec.hydra", "echo 'HYDRA build details:'", "'HYDRA build details:'"), ("mpirun", "exit 0", "nothing"),
                                   ("srun", "while :; do echo y; done", "'y'"), ("prterun", "cat /dev/zero", "'"),
                                   ("orterun", "exec 2>&1; printf 'x\\033[31m\\n'; exec sleep 1000", "'x [31m'")):
            path = f"{place}/{name}"
            with open(path, "w", encoding="ascii") as file:
                file.write(f"#!/bin/sh\n{script}\n")
            os.chmod(path, 0o700)
            code, out, err = hosts.run("--hosts", "a", "--engine", path, "hostname")
            equal((code, out), (1, ""), err)
            contains(err, f"rmarun: --engine {path}: {path} is none of the launchers that rmarun can use: Slurm's srun, PRRTE's prterun "
                          f"and Open MPI's mpirun. {path} --version prints {said}")
            hosts.none_left()
        code, _, err = hosts.run("--hosts", "a", "--engine", "/bin/true", "hostname")
        equal(code, 1)
        contains(err, "/bin/true --version prints 'true (GNU coreutils)")


def engine_codes():
    """An engine's own codes are not rmarun's, and its text comes with rmarun's words."""
    with network() as hosts, tempfile.TemporaryDirectory() as place:
        with open(f"{place}/srun", "w", encoding="ascii") as script:
            script.write("#!/bin/sh\necho the reason >&2; exit $CODE\n")
        os.chmod(script.name, 0o700)
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[01-02]", "SLURM_TASKS_PER_NODE": "1,1"}
        for code in (0, 1, 2, 124, 213, 244, 255):
            job = hosts.start("hostname", env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "CODE": str(code), **slurm})
            out, err = job.communicate(timeout=HANG_GUARD)
            equal((job.returncode, out, err), (1, "", f"rmarun: srun has ended with code {code} before the ranks on n01 (rank 0), "
                                                      "n02 (rank 1). It says:\n  the reason\n"))


# ---- Other engines ------------------------------------------------------------------------------------------------


FAKE_ENGINE = """#!/bin/bash
printf '%s\\n' "$@" > {words}
ranks=0
while [ "$1" != /bin/sh ]; do
  case $1 in --ntasks=*) ranks=${{1#*=}} ;; -np) ranks=$2 ;; esac
  shift
done
for ((rank = 0; rank < ranks; ++rank)); do PMIX_RANK=$rank "$@" | sed -u 's/^/[x@1,0]<stdout>: /' & done
wait
"""


def fake_engine(name, options, environment, *wanted):
    """A script takes an engine's command line, and starts the keepers of all hosts here."""
    with network() as hosts, tempfile.TemporaryDirectory() as place:
        words = f"{place}/words"
        with open(f"{place}/{name}", "w", encoding="ascii") as script:
            script.write(FAKE_ENGINE.format(words=words))
        os.chmod(script.name, 0o700)
        job = hosts.start(*options, "--label", "sh", "-c", "printf '%d [x]' $PMIX_RANK; echo err >&2",
                          env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}", **environment})
        out, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 0, err)
        equal(sorted(re.findall(r"\[\d\] \d \[x\]", out)), [f"[{rank}] {rank} [x]" for rank in range(3)])
        equal(sorted(err.splitlines()), [f"[{rank}] err" for rank in range(3)])
        with open(words, encoding="ascii") as file:
            got = file.read().splitlines()
        for word in wanted:
            assert word in got, (word, got)


def fake_srun():
    slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[01-02]", "SLURM_TASKS_PER_NODE": "2,1"}
    fake_engine("srun", (), slurm, "--mpi=pmix", "--ntasks=3", "--nodes=2", "--distribution=arbitrary")


# Rank 1 fails. Then, as Slurm does it, the engine ends the processes of rank 0 one by one: the rank, and after it the keeper.
ENDING_ENGINE = """#!/bin/bash
while [ "$1" != /bin/sh ]; do shift; done
PMIX_RANK=0 "$@" & keeper=$!
PMIX_RANK=1 "$@"
until rank=$(< /proc/$keeper/task/$keeper/children) && [ "$(cat /proc/$((rank))/comm)" = sleep ]; do :; done
kill -TERM $((rank))
while [ -d /proc/$((rank)) ]; do :; done
kill -TERM $keeper
wait
"""


def engine_ends_rank_before_keeper():
    with network() as hosts, tempfile.TemporaryDirectory() as place:
        with open(f"{place}/srun", "w", encoding="ascii") as script:
            script.write(ENDING_ENGINE)
        os.chmod(script.name, 0o700)
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[01-02]", "SLURM_TASKS_PER_NODE": "1,1"}
        job = hosts.start("sh", "-c", "test $PMIX_RANK = 0 || exit 23; exec sleep 1000",
                          env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}", **slurm})
        _, err = job.communicate(timeout=HANG_GUARD)
        equal(job.returncode, 23, err)
        assert re.fullmatch(r"rmarun: rank 1 \(pid \d+ on \S+\) exited with code 23; ending the job\n", err), err


def fake_prterun():
    fake_engine("prterun", ("--hosts", "n1:2,n2"), {}, "--prtemca", "plm_ssh_agent", "seq:OVERSUBSCRIBE", "RMARUN_JOB_0")


main(globals())
