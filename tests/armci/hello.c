/* The smallest ARMCI program in C: each process puts a number to the next one, and checks the number it got.
 * */
#include <armci.h>
#include <rma/rma.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  if (ARMCI_Init_args(&argc, &argv) != 0) return EXIT_FAILURE;
  const int me = rma_rank();
  const int size = rma_size();
  void** numbers = calloc((size_t)size, sizeof *numbers);
  if (numbers == NULL || ARMCI_Malloc(numbers, sizeof(int)) != 0) ARMCI_Error("no memory", 1);

  int value = 100 + me;
  const int next = (me + 1) % size;
  if (ARMCI_Put(&value, numbers[next], sizeof value, next) != 0) ARMCI_Error("put", 1);
  ARMCI_Barrier();
  const int from = (me + size - 1) % size;
  int seen = 0;
  if (ARMCI_Get(numbers[me], &seen, sizeof seen, me) != 0) ARMCI_Error("get", 1);
  const int right = seen == 100 + from && *(int*)numbers[me] == seen;
  printf("process %d of %d: %s\n", me, size, right ? "right" : "WRONG");

  ARMCI_Free(numbers[me]);
  free(numbers);
  ARMCI_Finalize();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
