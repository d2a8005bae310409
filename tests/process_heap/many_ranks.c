/* A ring of as many ranks as there are: each sends a block of malloc to the next one. With the process heap,
   every receiver copies it from the sender's memory as it has mapped it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { kBytes = 200 * 1000, kRounds = 2 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;
  unsigned char* const mine = malloc(kBytes);
  unsigned char* const theirs = calloc(1, kBytes);
  CHECK(mine != NULL && theirs != NULL);
  memset(mine, rank % 251, kBytes);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Sendrecv(mine, kBytes, MPI_BYTE, next, round, theirs, kBytes, MPI_BYTE, previous, round,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int at = 0; at < kBytes; ++at) CHECK(theirs[at] == previous % 251);
    memset(theirs, 0, kBytes);
  }
  free(theirs);
  free(mine);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == ranks * (ranks - 1) / 2);
  MPI_Finalize();
  if (rank == 0) printf("%d ranks: right\n", ranks);
  return 0;
}
