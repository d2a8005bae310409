// Counts the instructions of calls of OpenSHMEM (WITH_SHMEM) or ARMCI with 8 bytes, as calls.c does those of
// MPI.
//
// usage: puts FILE     FILE has at least 4096 zero bytes; both ranks map it

#include "rows.h"

#ifdef WITH_SHMEM
#include <shmem.h>
#else
#include <armci.h>
#include <mpi.h>
#endif

// Counts rows of rank 0, which uses the memory of rank 1.
#ifdef WITH_SHMEM
static void count(long* theirs) {
  begin();
  for (int i = 0; i < kCalls; ++i) shmem_putmem(&theirs[i], &data[i], 8, 1);
  end_row("shmem_putmem", kCalls);
  begin();
  for (int i = 0; i < kCalls; ++i) shmem_getmem(&data[i], &theirs[i], 8, 1);
  end_row("shmem_getmem", kCalls);
  begin();
  for (int i = 0; i < kCalls; ++i) shmem_long_p(&theirs[i], data[i], 1);
  end_row("shmem_long_p", kCalls);
}
#else
static void count(long* theirs) {
  begin();
  for (int i = 0; i < kCalls; ++i) ARMCI_Put(&data[i], &theirs[i], 8, 1);
  end_row("ARMCI_Put", kCalls);
  ARMCI_Fence(1);
  begin();
  for (int i = 0; i < kCalls; ++i) ARMCI_Get(&theirs[i], &data[i], 8, 1);
  end_row("ARMCI_Get", kCalls);
}
#endif

int main(int argc, char** argv) {
#ifdef WITH_SHMEM
  shmem_init();
  rank = shmem_my_pe();
  long* const theirs = shmem_malloc(sizeof data);
#else
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* parts[2] = {NULL, NULL};
  ARMCI_Malloc(parts, sizeof data);
  long* const theirs = parts[1];
#endif
  if (!map_meetings("puts", argc, argv)) return 2;
  // Twice, because the first call of each kind opens paths. The second round counts.
  for (int round = 0; round < 2; ++round) {
    meet();
    if (rank == 0) count(theirs);
  }
  meet();
#ifdef WITH_SHMEM
  shmem_global_exit(0);  // Open MPI 4.1's shmem_finalize may crash
#else
  ARMCI_Free(parts[rank]);
  ARMCI_Finalize();
  MPI_Finalize();
#endif
  return 0;
}
