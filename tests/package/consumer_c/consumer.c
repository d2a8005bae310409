/* A C program as a user would write it: built against the installed library only, by each way to find it. */
#include <rma/rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void check(rma_status_t status) {
  if (status == RMA_SUCCESS) return;
  fprintf(stderr, "consumer: %s: %s\n", rma_strerror(status), rma_last_error());
  exit(EXIT_FAILURE);
}

int main(void) {
  check(rma_init());
  const int rank = rma_rank();
  const int size = rma_size();
  int64_t** numbers = calloc((size_t)size, sizeof *numbers);
  if (numbers == NULL) return EXIT_FAILURE;
  check(rma_malloc(rma_team_world(), sizeof **numbers, 0, (void**)numbers, NULL));

  const int64_t value = 100 + rank;
  const int right = (rank + 1) % size;
  check(rma_put(numbers[right], &value, sizeof value, right));
  check(rma_barrier(rma_team_world()));
  const int64_t expected = 100 + (rank + size - 1) % size;
  const int is_right = *numbers[rank] == expected;
  printf("consumer of C, rank %d of %d: %s\n", rank, size, is_right ? "right" : "WRONG");

  check(rma_free(rma_team_world(), numbers[rank]));
  free(numbers);
  check(rma_finalize());
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
