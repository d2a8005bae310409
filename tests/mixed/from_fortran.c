/* The part of from_fortran.f90 that uses OpenSHMEM. */

#include <shmem.h>

static long from[2]; /* symmetric static data */

/* Gives `mine` to the PEs on both sides, and returns the sum of what they have given. */
long sum_of_neighbors(long mine) {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  shmem_long_p(&from[0], mine, (me + 1) % pes);
  shmem_long_p(&from[1], mine, (me + pes - 1) % pes);
  shmem_barrier_all();
  return from[0] + from[1];
}

void end_shmem(void) { shmem_finalize(); }
