#!/usr/bin/env python3
"""rmarun on several hosts, by Open MPI's mpirun: the hosts are network namespaces (network.py).

usage: hosts_cases.py CASE RMARUN CLIENT
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time

from harness import CLIENT, HANG_GUARD, RMARUN, SKIPPED, contains, equal, main, until
from network import Network

if not shutil.which("mpirun.openmpi"):
    print("skipped: no mpirun.openmpi here (scripts/setup.sh ci installs it)")
    sys.exit(SKIPPED)


@contextlib.contextmanager
def network(*names):
    """The hosts, whose processes are all gone at the end."""
    with tempfile.TemporaryDirectory() as directory, Network(directory, *names) as hosts:
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


main(globals())
