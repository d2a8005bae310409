"""Runs jobs whose ranks cannot see each other's processes, may not look into each other, or may take little of
something, and checks that all ways of moving data work there.

usage: environment_cases.py CASE RMARUN PROGRAM      (PROGRAM: rma-multi-tests)
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# Puts and gets of memory in the heap and outside it, messages of all sizes, and collectives.
FILTER = "Contiguous.*:Message.*:Collective.*"
SHORT = "Contiguous.*"
USER = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def works(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Job:
    def __init__(self, rmarun, program):
        self.rmarun, self.program = rmarun, program

    def run(self, ranks, *, user=(), limits="", rank_prefix=(), program=None, tests=FILTER):
        """Runs the tests. `user` and `limits` are for the whole job, `rank_prefix` starts each rank."""
        command = [*user, "sh", "-c", f'{limits or ":"}; exec "$@"', "sh", self.rmarun, "-n", str(ranks), "--timeout",
                   "240", *rank_prefix, program or self.program, f"--gtest_filter={tests}"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RMA_")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280, check=False,
                              stdin=subprocess.DEVNULL)
        print(done.stdout[-3000:], done.stderr[-3000:], sep="", end="")
        return done

    def passes(self, ranks, **how):
        done = self.run(ranks, **how)
        if done.returncode != 0:
            sys.exit(f"FAILED: exit code {done.returncode}")
        ran = re.search(r"(\d+) tests on \d+ ranks, failed on 0", done.stdout)
        if not ran or int(ran[1]) < 4:
            sys.exit("FAILED: too few tests ran")


def as_a_user():
    """Returns what makes the job that of a user who is not root."""
    if os.getuid() == 0 and not works(*USER, "true"):
        skip("setpriv is not permitted")
    return USER if os.getuid() == 0 else []


def pid_namespaces(job):
    prefix = ["unshare", "--pid", "--fork", "--mount-proc"]
    if not works(*prefix, "true"):
        skip("unshare --pid is not permitted")
    job.passes(3, rank_prefix=prefix)


def one_pid_namespace(job):
    """One rank has a PID namespace of its own; the others see its process, which does not see theirs."""
    prefix = ["unshare", "--pid", "--fork", "--mount-proc"]
    if not works(*prefix, "true"):
        skip("unshare --pid is not permitted")
    job.passes(3, rank_prefix=["sh", "-c", f'[ "$PMIX_RANK" = 1 ] || exec "$@"; exec {" ".join(prefix)} "$@"', "sh"])


def user_namespaces(job):
    prefix = ["unshare", "--user", "--map-current-user"]
    user = as_a_user()
    if not works(*user, *prefix, "true"):
        skip("unshare --user is not permitted")
    job.passes(3, user=user, rank_prefix=prefix)


def execute_only(job):
    """The kernel protects the processes of a program that its user may not read, as after PR_SET_DUMPABLE 0."""
    user = as_a_user()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "program")
        shutil.copy(job.program, program)
        os.chmod(program, 0o111)
        if not works(*user, program, "--gtest_list_tests"):
            skip("this user may not execute a program in the folder of temporary files")
        job.passes(3, user=user, program=program)


def no_proc(job):
    prefix = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if not works(*prefix, "true"):
        skip("unshare --mount is not permitted")
    job.passes(3, rank_prefix=prefix)


def host_names(job):
    """Ranks of one host that see different names of it."""
    prefix = ["unshare", "--uts", "sh", "-c", 'hostname "other-${PMIX_RANK:-x}" && exec "$@"', "sh"]
    if not works(*prefix, "true"):
        skip("unshare --uts is not permitted")
    job.passes(3, rank_prefix=prefix)


def network_namespaces(job):
    """Ranks in network namespaces of their own meet at files of rmarun's directory: all of them, and one."""
    prefix = ["unshare", "--net"]
    if not works(*prefix, "true"):
        skip("unshare --net is not permitted")
    job.passes(3, rank_prefix=prefix, tests=SHORT)
    one = f'[ "$PMIX_RANK" = 1 ] || exec "$@"; exec {" ".join(prefix)} "$@"'
    job.passes(3, rank_prefix=["sh", "-c", one, "sh"], tests=SHORT)


def root_in_user_namespaces(job):
    """The ranks' user is 0 in namespaces of their own, with and without network namespaces beside them."""
    user = as_a_user()
    for prefix in ["unshare", "--user", "--map-root-user"], ["unshare", "--user", "--map-root-user", "--net"]:
        if not works(*user, *prefix, "true"):
            skip("unshare --user is not permitted")
        job.passes(3, user=user, rank_prefix=prefix, tests=SHORT)


def no_way(job):
    """Ranks that do not see rmarun's directory: one that cannot reach rmarun at all, and one that cannot meet the others."""
    hide = 'mount -t tmpfs none "${RMARUN_DIRECTORY%/*}" && exec "$@"'
    if not works("unshare", "--net", "--mount", "true"):
        skip("unshare --net --mount is not permitted")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        alone = ["unshare", "--net", "--mount", "sh", "-c", hide, "sh"]
        done = job.run(2, rank_prefix=alone)
        refused(done, "does not reach rmarun", "network namespace", "see the directory", folder)
        apart = ["sh", "-c", '[ "$PMIX_RANK" = 1 ] || exec unshare --net "$@"; '
                 f"exec unshare --mount sh -c '{hide}' sh " + '"$@"', "sh"]
        done = job.run(2, rank_prefix=apart)
        refused(done, "only 1 of the 2 ranks of this host can share memory", "network namespaces", "see the directory")


def refused(done, *words):
    if done.returncode == 0 or "tests on" in done.stdout:
        sys.exit(f"FAILED: exit code {done.returncode}")
    for word in words:
        if word not in done.stderr:
            sys.exit(f"FAILED: '{word}' is not in the text")


def few_addresses(job):
    for ranks, kilobytes in (4, 1 << 20), (2, 2 << 20), (16, 4 << 20):
        job.passes(ranks, limits=f"ulimit -v {kilobytes}")


def short_files(job):
    # The unit of ulimit -f is 512 bytes.
    for megabytes in 32, 500:
        job.passes(3, limits=f"ulimit -f {megabytes * 2048}")


def few_descriptors(job):
    job.passes(4, limits="ulimit -n 64")


def small_limits(job):
    user = as_a_user()
    job.passes(3, user=user, limits="ulimit -l 0; ulimit -s 512; ulimit -c 0")


def few_processes(job):
    """The system refuses one process or thread after the other. No job hangs or crashes, and the text names the limit."""
    user = as_a_user()
    passed = 0
    for most in range(3, 20):
        limit = ["prlimit", f"--nproc={most}"]
        if not works(*user, *limit, "sh", "-c", "exec true"):
            skip("prlimit is not permitted, or the user has other processes")
        done = job.run(2, user=[*user, *limit], tests="Contiguous.*")
        if done.returncode == 0:
            passed += 1
            if passed == 3:
                return
            continue
        if done.returncode != 1 or passed:
            sys.exit(f"FAILED: exit code {done.returncode} with {most} processes")
        if "ulimit -u" not in done.stderr and "PMIx_server_init failed" not in done.stderr:
            sys.exit(f"FAILED: the text does not name the limit of {most} processes")
    sys.exit("FAILED: no job has run")


def many_ranks_of_a_user(job):
    """The system limits the descriptors of a user, other than root, that are on their way."""
    user = as_a_user()
    job.passes(40, user=user, limits="ulimit -Sn 256", tests="Contiguous.*")


if __name__ == "__main__":
    case, launcher, client = sys.argv[1:]
    globals()[case](Job(launcher, client))
