/* Does what a profiler does: this file defines ARMCI_Put and ARMCI_Barrier, which call their strong names.
 * The library's own calls do not pass through them. */
#include <armci.h>
#include <rma/rma.h>
#include <stdio.h>
#include <stdlib.h>

static int puts_seen = 0;
static int barriers_seen = 0;

int ARMCI_Put(void* src, void* dst, int bytes, int proc) {
  ++puts_seen;
  return PARMCI_Put(src, dst, bytes, proc);
}

void ARMCI_Barrier(void) {
  ++barriers_seen;
  PARMCI_Barrier();
}

int main(void) {
  ARMCI_Init();
  void** addresses = calloc((size_t)rma_size(), sizeof *addresses);
  if (addresses == NULL || ARMCI_Malloc(addresses, 64) != 0) return EXIT_FAILURE;
  int value = 1;
  ARMCI_Put(&value, addresses[0], sizeof value, 0);
  int flag = 2;
  ARMCI_Put_flag(&value, addresses[0], sizeof value, (int*)addresses[0] + 1, flag, 0);
  ARMCI_Barrier();
  const int right = *(int*)addresses[rma_rank()] == 1 || rma_rank() != 0;
  ARMCI_Free(addresses[rma_rank()]);
  free(addresses);
  ARMCI_Finalize();
  if (right && puts_seen == 1 && barriers_seen == 1) return EXIT_SUCCESS;
  fprintf(stderr, "saw %d puts and %d barriers, data %s\n", puts_seen, barriers_seen,
          right ? "right" : "wrong");
  return EXIT_FAILURE;
}
