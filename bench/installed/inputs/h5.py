"""Writes and reads a file of HDF5 from all ranks, by itself and together, and checks each number."""

import sys

sys.path.pop(0)  # this script's own folder
import numpy
from mpi4py import MPI

import h5py

world = MPI.COMM_WORLD
length = 1 << 20
line = numpy.arange(length)
with h5py.File("data.h5", "w", driver="mpio", comm=world) as file:
    rows = file.create_dataset("rows", (world.size, length), "f8")
    columns = file.create_dataset("columns", (length, world.size), "i4", chunks=(length // 4, 1))
    rows[world.rank] = line + world.rank
    with columns.collective:
        columns[:, world.rank] = line * (world.rank + 1)
wrong = 0
with h5py.File("data.h5", "r", driver="mpio", comm=world) as file:
    for other in range(world.size):
        wrong += numpy.count_nonzero(file["rows"][other] != line + other)
        with file["columns"].collective:
            column = file["columns"][:, other]
        wrong += numpy.count_nonzero(column != (line * (other + 1)).astype("i4"))
wrong = world.allreduce(wrong)
if world.rank == 0:
    print(f"{wrong} numbers are wrong")
