/* A profiler: shmem_long_put is this program's, which counts the calls and makes them by the shifted name. */

#include <pshmem.h>
#include <stdio.h>

static long puts_made, word;

void shmem_long_put(long* dest, const long* source, size_t nelems, int pe) {
  ++puts_made;
  pshmem_long_put(dest, source, nelems, pe);
}

int main(void) {
  const long sent = 7;
  shmem_init();
  shmem_long_put(&word, &sent, 1, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_barrier_all();
  if (word != 7 || puts_made != 1) {
    fprintf(stderr, "%ld came, %ld puts were counted\n", word, puts_made);
    return 1;
  }
  shmem_finalize();
  return 0;
}
