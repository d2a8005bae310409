/* Prints the sum of all PEs, counted from 1. */
#include <shmem.h>
#include <stdio.h>

static int mine, sum;

int main(void) {
  shmem_init();
  mine = shmem_my_pe() + 1;
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
  if (mine == 1) printf("sum %d of %d\n", sum, shmem_n_pes());
  shmem_finalize();
  return 0;
}
