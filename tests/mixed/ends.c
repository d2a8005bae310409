/* A job of four interfaces that one of them ends, or that ends although the program has not finalized one.
 *
 * usage: mixed-ends global-exit | mpi-abort | armci-error | rma-abort | without-shmem */

#include <armci.h>
#include <mpi.h>
#include <shmem.h>
#include <string.h>

#include "rma/rma.h"

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  ARMCI_Init();
  shmem_init();
  if (rma_init() != RMA_SUCCESS) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (shmem_my_pe() == shmem_n_pes() - 1) {
    if (strcmp(how, "global-exit") == 0) shmem_global_exit(11);
    if (strcmp(how, "mpi-abort") == 0) MPI_Abort(MPI_COMM_WORLD, 12);
    if (strcmp(how, "armci-error") == 0) ARMCI_Error("the test ends the job", 13);
    if (strcmp(how, "rma-abort") == 0) rma_abort(14, "the test ends the job");
  }
  /* The others wait for the one that ends the job. */
  if (strcmp(how, "without-shmem") != 0) shmem_barrier_all();
  if (rma_finalize() != RMA_SUCCESS) return 1;
  ARMCI_Finalize();
  if (strcmp(how, "without-shmem") != 0) shmem_finalize();
  MPI_Finalize();
  return 0;
}
