/* The smallest whole program, in C11 with the forms that choose by type: each PE puts to the next and gets
 * from the one before, to the heap and to static data. It returns from main() without shmem_finalize. */
#include <shmem.h>
#include <stdio.h>

static long here[2];

static int expect(int holds, const char* text) {
  if (!holds) fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), text);
  return holds ? 0 : 1;
}

int main(void) {
  int failed = 0;
  shmem_init();
  const int me = shmem_my_pe(), size = shmem_n_pes(), next = (me + 1) % size,
            previous = (me + size - 1) % size;
  int* const heap = shmem_malloc(4 * sizeof *heap);
  const long mine[2] = {me, -me};
  shmem_p(heap, me, next);
  shmem_put(here, mine, 2, next);
  shmem_put(SHMEM_CTX_DEFAULT, heap + 1, (const int[]){me + 1, me + 2}, 2, next);
  shmem_barrier_all();
  failed |= expect(*heap == previous, "p to the heap");
  failed |= expect(here[0] == previous && here[1] == -previous, "put to static data");
  failed |= expect(heap[1] == previous + 1 && heap[2] == previous + 2, "put with a context");
  failed |= expect(shmem_g(heap, next) == me, "g from the heap");
  failed |= expect(shmem_g(here, next) == me, "g from static data");
  long got[2];
  shmem_get(got, here, 2, next);
  failed |= expect(got[0] == me && got[1] == -me, "get from static data");
  shmem_barrier_all();
  failed |= expect(shmem_atomic_fetch_add(&here[0], 0L, me) == previous, "a fetching add");
  failed |= expect(shmem_sync(SHMEM_TEAM_WORLD) == 0, "sync of a team");
  shmem_free(heap);
  if (!failed) puts("right");
  return failed;
}
