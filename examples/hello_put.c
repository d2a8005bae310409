/*
 * The smallest program: every rank writes one number into the memory of its right neighbour. The neighbour's
 * program takes no part in that.
 *
 *   rmarun -n 4 example-hello_put
 */
#include <rma/rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Every call returns a status. After a failure rma_last_error() describes it. */
static void check(rma_status_t status) {
  if (status != RMA_SUCCESS) rma_abort(EXIT_FAILURE, rma_last_error());
}

int main(void) {
  const rma_status_t status = rma_init();
  if (status != RMA_SUCCESS) {
    fprintf(stderr, "%s: %s\n", rma_strerror(status), rma_last_error());
    return EXIT_FAILURE;
  }
  const int rank = rma_rank();
  const int size = rma_size();

  /* Allocates one number in the memory of each rank and returns all addresses. All ranks can access this
   * memory. */
  int64_t** numbers = malloc((size_t)size * sizeof *numbers);
  if (numbers == NULL) rma_abort(EXIT_FAILURE, "out of memory");
  check(rma_malloc(rma_team_world(), sizeof **numbers, 0, (void**)numbers, NULL));
  *numbers[rank] = -1;
  check(rma_barrier(rma_team_world())); /* no rank writes before every number is set */

  /* The put: destination, source, size, rank. The address is the neighbour's own, as its owner would use it.
   */
  const int right = (rank + 1) % size;
  const int64_t value = 100 + rank;
  check(rma_put(numbers[right], &value, sizeof value, right));
  check(rma_barrier(rma_team_world())); /* every put is complete and visible */

  const int left = (rank + size - 1) % size;
  const int64_t got = *numbers[rank];
  printf("rank %d of %d: rank %d put %lld here\n", rank, size, left, (long long)got);
  const int right_number = got == 100 + left;

  check(rma_free(rma_team_world(), numbers[rank]));
  free(numbers);
  check(rma_finalize());
  return right_number ? EXIT_SUCCESS : EXIT_FAILURE;
}
