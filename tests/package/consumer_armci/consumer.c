/* An ARMCI program as a user would write it: built against the installed library only, by each way to find
 * it. */
#include <armci.h>
#include <message.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  ARMCI_Init();
  const int me = armci_msg_me();
  const int size = armci_msg_nproc();
  void** numbers = calloc((size_t)size, sizeof *numbers);
  if (numbers == NULL || ARMCI_Malloc(numbers, sizeof(int)) != 0) ARMCI_Error("no memory", 1);
  const int next = (me + 1) % size;
  ARMCI_PutValueInt(100 + me, numbers[next], next);
  ARMCI_Barrier();
  const int is_right = *(int*)numbers[me] == 100 + (me + size - 1) % size;
  printf("consumer of ARMCI, process %d of %d: %s\n", me, size, is_right ? "right" : "WRONG");
  ARMCI_Free(numbers[me]);
  free(numbers);
  ARMCI_Finalize();
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
