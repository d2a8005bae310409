/* An OpenSHMEM program as a user would write it: built against the installed library only, by each way to
 * find it. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static int number;

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int size = shmem_n_pes();
  shmem_p(&number, 100 + me, (me + 1) % size);
  shmem_barrier_all();
  const int is_right = number == 100 + (me + size - 1) % size;
  printf("consumer of OpenSHMEM, PE %d of %d: %s\n", me, size, is_right ? "right" : "WRONG");
  shmem_finalize();
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
