/* A fatal error of one process while the others sleep in ARMCI, beside an MPI.
 *
 * usage: fatal_test CASE RANK */
#include <armci.h>
#include <message.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  const int fatal = argc > 2 ? atoi(argv[2]) : 0;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(which, "early") == 0 && rank == fatal) ARMCI_Error("before ARMCI_Init", 7);
  if (strcmp(which, "half") == 0) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    ARMCI_Init_mpi_comm(half);
  } else {
    ARMCI_Init();
  }
  ARMCI_Barrier();
  if (rank == fatal) {
    if (strcmp(which, "misuse") == 0) ARMCI_Lock(0, 0);
    ARMCI_Error("of one process", 7);
  }
  /* In the other half no process is missing. */
  for (;;) ARMCI_Barrier();
}
