#!/usr/bin/env python3
"""Ranks that programs start while they run: their output, and how rmarun ends with them.

usage: spawn_cases.py CASE RMARUN SPAWNER
"""

import signal

from harness import RMARUN, CLIENT as SPAWNER
from harness import contains, equal, main, run


def spawned(what, *options):
    return run("-n", "2", "--universe", "3", *options, SPAWNER, what)


def spawned_output():
    code, out, err = spawned("speak", "--label")
    equal((code, err), (0, ""))
    equal(out, "[2] a child speaks\n")


def spawned_exit():
    code, _, err = spawned("exit")
    equal(code, 7)
    contains(err, "rank 2 ")
    contains(err, "exited with code 7")


def spawned_killed():
    code, _, err = spawned("killed")
    equal(code, 128 + signal.SIGKILL)
    contains(err, "rank 2 ")


def spawned_abort():
    code, _, err = spawned("abort")
    equal(code, 9)
    contains(err, "rank 2 ")


def spawned_timeout():
    code, _, err = spawned("hang", "--timeout", "2")
    equal(code, 124)
    contains(err, "what the ranks wait for")


def spawned_stranger():
    code, _, err = spawned("stranger")
    equal(code, 1)
    contains(err, "rank 2 exited with code 0 without joining the job")


def spawned_fails_after():
    code, _, err = spawned("fails-after")
    equal(code, 5)
    contains(err, "after it had left the job")


def spawned_by_default():
    """A program that calls MPI_Comm_spawn has free seats without being asked."""
    code, out, err = run("-n", "2", SPAWNER, "speak")
    equal((code, err), (0, ""))
    equal(out, "a child speaks\n")


def spawned_one_after_another():
    """A program may spawn 100 times without asking for seats, and sees 16 free ones."""
    code, out, err = run("-n", "1", SPAWNER, "speak", "100")
    equal((code, err), (0, ""))
    equal(out, "a child speaks\n" * 100)
    equal(run("-n", "2", SPAWNER, "universe"), (0, "18\n", ""))
    equal(run("-n", "2", "--universe", "40", SPAWNER, "universe"), (0, "40\n", ""))
    # A rank of that job that starts another job gives it none of its own number.
    equal(run("-n", "1", "--env", "RMARUN_UNIVERSE=3", RMARUN, "-n", "2", "--universe", "40", SPAWNER, "universe"),
          (0, "40\n", ""))


def spawned_without_memory():
    """Ranks that share no memory have no free seats by default, which would need a network."""
    code, _, err = run("-n", "1", "--env", "RMA_SHM=off", "--env", "RMA_NETWORK=off", SPAWNER, "speak")
    assert code != 0, code
    contains(err, "room for 0 more ranks")


def spawned_no_room():
    code, _, err = run("-n", "2", "--universe", "2", SPAWNER, "speak")
    assert code != 0, code
    contains(err, "room for 0 more ranks")
    contains(err, "--universe")


def spawned_universe():
    code, _, err = run("-n", "3", "--universe", "2", SPAWNER, "speak")
    equal(code, 2)
    contains(err, "leaves no room for the 3 ranks")


main(globals())
