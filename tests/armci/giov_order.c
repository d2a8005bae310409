/* An initializer without the members' names: right in ARMCI-MPI's order, wrong in armci.h's. */
#include <armci.h>

void list_of(void** from, void** to);
void list_of(void** from, void** to) {
  armci_giov_t list = {from, to, 8, 1};
  ARMCI_PutV(&list, 1, 0);
}
