#!/usr/bin/env python3
"""How rmarun explains a job that hangs: on SIGQUIT, and on --timeout.

usage: hang_cases.py CASE RMARUN HANGS HANGS_SHMEM

A wait is shown after it has lasted for a while. So a case asks again until the report is as it should be, and has no
other times in it.
"""

import re
import signal
import sys

from harness import CLIENT as HANGS
from harness import HANG_GUARD, HEAD, contains, equal, explained, main, run, start

HANGS_SHMEM = sys.argv[4]


def hang(case, ranks, *wanted, program=HANGS, exactly=True):
    """A job whose report has these lines and, if `exactly`, no others."""
    job = start("-n", str(ranks), program, case)
    explained(job, *wanted, only=exactly)
    assert job.poll() is None, "the job goes on"
    job.send_signal(signal.SIGINT)
    job.communicate(timeout=HANG_GUARD)
    equal(job.returncode, 128 + signal.SIGINT)


def cycle(*ranks):
    following = ranks[1:] + ranks[:1]
    return "cycle: " + ", ".join(f"rank {a} waits for rank {b}" for a, b in zip(ranks, following))


def two_receives():
    lines = [f"rank {me}: MPI_Recv from rank {1 - me}, tag 7, MPI_COMM_WORLD@" for me in range(2)]
    hang("two_receives", 2, *lines, cycle(0, 1))


def two_sends():
    lines = [f"rank {me}: MPI_Ssend to rank {1 - me}, tag 7, MPI_COMM_WORLD@" for me in range(2)]
    hang("two_sends", 2, *lines, cycle(0, 1))
    lines = [f"rank {me}: MPI_Send to rank {(me + 1) % 3}, tag 7, MPI_COMM_WORLD@" for me in range(3)]
    hang("long_sends", 3, *lines, cycle(0, 1, 2))
    lines = [f"rank {me}: MPI_Sendrecv from rank {1 - me}, tag 8, MPI_COMM_WORLD@" for me in range(2)]
    hang("sendrecv", 2, *lines, cycle(0, 1))


def ring():
    lines = [f"rank {me}: MPI_Recv from rank {(me + 1) % 16}, tag 7, MPI_COMM_WORLD@" for me in range(16)]
    hang("ring", 16, *lines, cycle(*range(16)))
    hang("ring_and_tail", 5, "rank 4: MPI_Recv from rank 3, tag 7, MPI_COMM_WORLD@",
         "ranks? .*3: MPI_Recv from rank 2, tag 7, MPI_COMM_WORLD@", cycle(0, 1, 2), exactly=False)
    hang("oneself", 2, "rank 0: MPI_Recv from rank 0, tag 7, MPI_COMM_WORLD@",
         "rank 1: not waiting in librma.*", "cycle: rank 0 waits for rank 0")


def requests():
    hang("probe_any", 3, "ranks 0-2: MPI_Probe from any rank, any tag, MPI_COMM_WORLD@", "cycle: .*")
    lines = [f"rank {me}: MPI_Waitall for a receive from rank {1 - me}, tag 8, MPI_COMM_WORLD@" for me in range(2)]
    hang("wait_all", 2, *lines, cycle(0, 1))
    of = [f"a receive from rank {rank}, tag 7, MPI_COMM_WORLD" for rank in range(3)]
    lines = [f"rank {me}: MPI_Waitany for one of 2 requests " + re.escape(f"({of[(me + 1) % 3]}; {of[(me + 2) % 3]})") + "@"
             for me in range(3)]
    hang("wait_any", 3, *lines, cycle(0, 1))


def collective():
    hang("missing_computes", 5, "ranks 0,1,3,4: MPI_Barrier, MPI_COMM_WORLD@; rank 2 has not come",
         "rank 2: not waiting in librma.*")
    hang("missing_receives", 3, "ranks 0,2: MPI_Allreduce, MPI_COMM_WORLD@; rank 1 has not come",
         "rank 1: MPI_Recv from rank 0, tag 7, MPI_COMM_WORLD@", cycle(0, 1))
    hang("missing_split", 6, r"ranks? 0(,2)?: MPI_Bcast, communicator 'even'@(; rank 4 has not come)?",
         r"rank 1: MPI_Recv from rank 1 \(rank 3 of the job\), tag 7, communicator 'odd'@",
         r"ranks 3,5: MPI_Recv from rank 0 \(rank 1 of the job\), tag 7, communicator 'odd'@",
         "rank 4: not waiting in librma.*", cycle(1, 3), exactly=False)
    hang("different_calls", 3, "rank 0: MPI_Barrier, MPI_COMM_WORLD@; ranks 1,2 have not come",
         "ranks 1,2: MPI_Finalize, all ranks@; rank 0 has not come", cycle(0, 1))


def nonblocking():
    hang("missing_nonblocking", 3, "ranks 0,2: MPI_Wait for a collective of MPI_COMM_WORLD@; rank 1 has not come",
         "rank 1: not waiting in librma.*")
    hang("generalized", 2, "ranks 0,1: MPI_Wait for a request that the program or a peer's notification ends@")
    hang("missing_creation", 3, "ranks? .*: MPI_Comm_split, MPI_COMM_WORLD@(; rank 1 has not come)?",
         "rank 1: not waiting in librma.*", exactly=False)


def life():
    hang("missing_init", 3, "ranks 0,2: MPI_Init, all ranks@; rank 1 has not come", "rank 1: not waiting in librma.*")
    hang("missing_finalize", 3, "ranks 0,2: MPI_Finalize, all ranks@; rank 1 has not come",
         "rank 1: MPI_Recv from rank 0, tag 7, MPI_COMM_WORLD@", cycle(0, 1))


def window():
    hang("exclusive_lock", 4, "rank 0: MPI_Recv from rank 2, tag 7, MPI_COMM_WORLD@", "rank 1: not waiting in librma.*",
         "ranks 2,3: MPI_Win_lock at rank 1, window 'halo', held by rank 0@", cycle(0, 2))
    hang("shared_locks", 4, "ranks 0,1: not waiting in librma.*",
         "ranks? .*: MPI_Win_lock at rank 0, window 'halo', held by ranks 0,1@", exactly=False)
    hang("lock_all", 3, "rank 0: not waiting in librma.*",
         "ranks 1,2: MPI_Win_lock_all of window 'halo', held by rank 0@", exactly=False)
    hang("missing_fence", 3, "rank 0: not waiting in librma.*",
         "ranks 1,2: MPI_Win_fence, window 'halo'@; rank 0 has not come")
    hang("missing_post", 2, "rank 0: MPI_Win_start for MPI_Win_post by rank 1, window 'halo'@",
         "rank 1: not waiting in librma.*")
    hang("missing_complete", 2, "rank 0: MPI_Win_start for MPI_Win_post by rank 0, window 'halo'@",
         "rank 1: MPI_Win_wait for MPI_Win_complete by rank 0, window 'halo'@", "cycle: rank 0 waits for rank 0")


def rma():
    lines = [f"rank {me}: rma_recv from rank {1 - me}, tag 7, context 5@" for me in range(2)]
    hang("rma_receives", 2, *lines, cycle(0, 1))
    hang("rma_barriers", 3, "rank 0: rma_barrier, a team of 2 ranks@; rank 2 has not come",
         "ranks 1,2: not waiting in librma.*")
    hang("rma_locks", 3, "rank 0: not waiting in librma.*", "ranks 1,2: rma_lock of mutex 1 of rank 1, held by rank 0@")


def shmem():
    hang("wait_until", 2, "rank 0: not waiting in librma.*",
         "rank 1: shmem_long_wait_until for a word that other ranks write@", program=HANGS_SHMEM)
    hang("missing_barrier", 3, "ranks 0,2: shmem_barrier_all, all ranks@; rank 1 has not come",
         "rank 1: not waiting in librma.*", program=HANGS_SHMEM)
    hang("missing_reduction", 3, "ranks 0,2: shmem_long_sum_reduce, all ranks@; rank 1 has not come",
         "rank 1: shmem_long_wait_until for a word that other ranks write@", program=HANGS_SHMEM)
    hang("held_lock", 3, "rank 0: not waiting in librma.*", "rank [12]: shmem_set_lock behind rank 0@",
         program=HANGS_SHMEM, exactly=False)


def goes_on():
    job = start("-n", "3", HANGS, "late")
    equal(job.stdout.readline(), "ready\n")
    for _ in range(2):
        explained(job, "rank 0: not waiting in librma.*", "ranks 1,2: MPI_Recv from rank 0, tag 7, MPI_COMM_WORLD@",
                  only=True)
    _, err = job.communicate("go\n", timeout=HANG_GUARD)
    equal(job.returncode, 0, err)


def no_library():
    job = start("-n", "2", "sh", "-c", "[ $PMIX_RANK != 0 ] || read line")
    explained(job, "rank 0: not waiting in librma", "rank 1: has ended", only=True)
    job.communicate("go\n", timeout=HANG_GUARD)
    equal(job.returncode, 0)


def at_timeout():
    limit = 2
    while True:
        code, _, err = run("-n", "2", "--timeout", str(limit), HANGS, "two_receives")
        equal(code, 124, err)
        contains(err, f"no end after {limit} s; ending the job")
        if "rmarun:   " + cycle(0, 1) in err:
            assert err.index(HEAD) < err.index("no end after"), err
            return
        assert limit < HANG_GUARD, err
        limit *= 2  # the machine is slow


CASES = (two_receives, two_sends, ring, requests, collective, nonblocking, life, window, rma, shmem, goes_on, no_library,
         at_timeout)

if __name__ == "__main__":
    main({case.__name__: case for case in CASES})
