// A rank ends that holds the exclusive lock of another rank's window. The others, which wait for the lock,
// learn it. With at least three ranks; the launcher keeps the others alive. All of them last until rank 0 has
// told the result, as rmarun ends a job when a rank that is in it goes away.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "mpi.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) std::raise(SIGKILL);

  int code = MPI_Win_lock(rank == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
  if (rank != 0) {
    MPI_Send(&code, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(&code, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    bool agree = code == MPI_ERR_PROC_ABORTED;
    for (int other = 2; other < ranks; ++other) {
      MPI_Recv(&code, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      agree = agree && code == MPI_ERR_PROC_ABORTED;
    }
    std::puts(agree ? "survivors agree" : "the lock of the rank that has ended was given out");
    std::fflush(stdout);
    for (int other = 2; other < ranks; ++other) MPI_Send(&code, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
  }
  _exit(0);  // nobody could complete MPI_Finalize
}
