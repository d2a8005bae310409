"""Two ranks put into each other's NumPy arrays, which nobody registered. The arrays grow, are computed with, and are
seen by forked children, and stay right.

usage: arrays.py librma.so     (exit code 77 if there is no NumPy)"""

import ctypes
import multiprocessing
import sys

try:
    import numpy as np
except ImportError:
    print("arrays: this Python has no NumPy")
    sys.exit(77)

rma = ctypes.CDLL(sys.argv[1])
rma.rma_last_error.restype = ctypes.c_char_p
rma.rma_team_world.restype = ctypes.c_void_p
SIZES = (1 << 7, 1 << 13, 3 << 16)  # in doubles: 1 KiB to 1.5 MiB, which the other rank maps


def check(status):
    assert status == 0, rma.rma_last_error().decode()


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def barrier():
    check(rma.rma_barrier(ctypes.c_void_p(rma.rma_team_world())))


def exchanged(array, other):
    """Returns the other rank's array of this shape, by messages."""
    got = np.empty_like(array)
    if rma.rma_rank() == 0:
        check(rma.rma_send(address(array), ctypes.c_size_t(array.nbytes), other, 1, 0))
        check(rma.rma_recv(address(got), ctypes.c_size_t(got.nbytes), other, 1, 0, None))
    else:
        check(rma.rma_recv(address(got), ctypes.c_size_t(got.nbytes), other, 1, 0, None))
        check(rma.rma_send(address(array), ctypes.c_size_t(array.nbytes), other, 1, 0))
    return got


def puts(rank, other):
    """Each rank puts into arrays of the other one."""
    mine = [np.full(size, rank, dtype=np.float64) for size in SIZES]
    theirs = exchanged(np.array([array.ctypes.data for array in mine], dtype=np.uint64), other)
    for size, there in zip(SIZES, theirs):
        data = np.arange(size, dtype=np.float64) * (1 + rank)
        check(rma.rma_put(ctypes.c_void_p(int(there)), address(data), ctypes.c_size_t(data.nbytes), other))
    barrier()
    for size, array in zip(SIZES, mine):
        assert (array == np.arange(size, dtype=np.float64) * (1 + other)).all()


def messages(rank, other):
    """Blocks beyond the process heap's, and arrays that grew into such blocks."""
    for length in (1 << 10, 1 << 18, 1 << 21):
        array = np.full(16, rank, dtype=np.float64)
        array.resize(length, refcheck=False)
        array[16:] = np.arange(length - 16) + rank
        got = exchanged(array, other)
        assert (got[:16] == other).all() and (got[16:] == np.arange(length - 16) + other).all()


def products(rank, other):
    """The library of linear algebra that NumPy calls has memory and threads of its own."""
    side = 300
    left = np.arange(side * side, dtype=np.float64).reshape(side, side) % 7 + rank
    right = np.identity(side)[::-1]
    got = exchanged(left @ right, other)
    assert (got == (np.arange(side * side).reshape(side, side) % 7 + other)[:, ::-1]).all()


def child_sum(array, sums):
    array += 1
    sums.put(float(array.sum()))


def children(rank):
    """A forked child has a copy."""
    array = np.full(SIZES[-1], rank, dtype=np.float64)
    forking = multiprocessing.get_context("fork")
    sums = forking.Queue()
    child = forking.Process(target=child_sum, args=(array, sums))
    child.start()
    assert sums.get(timeout=60) == (rank + 1) * SIZES[-1]
    child.join()
    assert child.exitcode == 0 and (array == rank).all()


check(rma.rma_init())
me = rma.rma_rank()
puts(me, 1 - me)
messages(me, 1 - me)
products(me, 1 - me)
children(me)
barrier()
check(rma.rma_finalize())
print("arrays: right")
