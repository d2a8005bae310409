"""Loads librma.so into Python, and puts each rank's number to the next. usage: late.py librma.so"""

import ctypes
import sys

rma = ctypes.CDLL(sys.argv[1])
rma.rma_last_error.restype = ctypes.c_char_p
rma.rma_team_world.restype = ctypes.c_void_p


def check(status):
    assert status == 0, rma.rma_last_error().decode()


check(rma.rma_init())
rank, size = rma.rma_rank(), rma.rma_size()
world = ctypes.c_void_p(rma.rma_team_world())
addresses = (ctypes.c_void_p * size)()
mine = ctypes.c_void_p()
check(rma.rma_malloc(world, ctypes.c_size_t(8), ctypes.c_size_t(0), addresses, ctypes.byref(mine)))
number = ctypes.c_int64(100 + rank)
following = (rank + 1) % size
put_to = ctypes.c_void_p(addresses[following])
check(rma.rma_put(put_to, ctypes.byref(number), ctypes.c_size_t(8), following))
check(rma.rma_barrier(world))
assert ctypes.c_int64.from_address(mine.value).value == 100 + (rank - 1) % size
check(rma.rma_free(world, mine))
check(rma.rma_finalize())
print("late: right")
