"""Two ranks in Python put into each other's memory, which nobody registered, and run other programs.

usage: python.py librma.so"""

import ctypes
import os
import subprocess
import sys

rma = ctypes.CDLL(sys.argv[1])
rma.rma_last_error.restype = ctypes.c_char_p
rma.rma_team_world.restype = ctypes.c_void_p


def check(status):
    assert status == 0, rma.rma_last_error().decode()


check(rma.rma_init())
rank = rma.rma_rank()
other = 1 - rank
world = ctypes.c_void_p(rma.rma_team_world())
BYTES = 1 << 20
mine = ctypes.create_string_buffer(bytes([rank]) * BYTES, BYTES)
address = ctypes.c_void_p(ctypes.addressof(mine))
theirs = ctypes.c_void_p()
for sender in (0, 1):
    if rank == sender:
        check(rma.rma_send(ctypes.byref(address), ctypes.c_size_t(8), other, 1, 0))
    else:
        check(rma.rma_recv(ctypes.byref(theirs), ctypes.c_size_t(8), other, 1, 0, None))
data = ctypes.create_string_buffer(bytes([10 + rank]) * BYTES, BYTES)
check(rma.rma_put(theirs, data, ctypes.c_size_t(BYTES), other))
check(rma.rma_barrier(world))
assert mine.raw == bytes([10 + other]) * BYTES

environment = dict(os.environ, WORD="x" * 5000)
said = subprocess.run([sys.executable, "-c", "import os; print(len(os.environ['WORD']))"], env=environment,
                      stdout=subprocess.PIPE, check=True)
assert said.stdout == b"5000\n", said
# preexec_fn makes subprocess use fork.
said = subprocess.run(["cat"], input=b"y" * 300000, stdout=subprocess.PIPE, preexec_fn=os.getpid, check=True)
assert said.stdout == b"y" * 300000
assert os.system("exit 3") == 3 << 8

check(rma.rma_barrier(world))
assert mine.raw == bytes([10 + other]) * BYTES
check(rma.rma_finalize())
print("python: right")
