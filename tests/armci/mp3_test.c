/* A program that uses the names of mp3.h, as programs of the original ARMCI do. */
#undef NDEBUG
#include <armci.h>
#include <assert.h>
#include <mp3.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  int me = -1;
  int size = 0;
  MP_INIT(argc, argv);
  MP_PROCS(&size);
  MP_MYID(&me);
  assert(me >= 0 && me < size);
  MP_BARRIER();
  const double begin = MP_TIMER();
  ARMCI_INIT(argc, argv);
  assert(armci_msg_me() == me && armci_msg_nproc() == size);
  void** numbers = calloc((size_t)size, sizeof *numbers);
  assert(numbers != NULL && ARMCI_Malloc(numbers, sizeof(int)) == 0);
  int value = 100 + me;
  const int next = (me + 1) % size;
  assert(ARMCI_Put1(&value, numbers[next], sizeof value, next) == 0);
  ARMCI_Barrier();
  ARMCI_Access_begin(numbers[me]);
  assert(*(int*)numbers[me] == 100 + (me + size - 1) % size);
  ARMCI_Access_end(numbers[me]);
  ARMCI_Free(numbers[me]);
  free(numbers);
  ARMCI_Finalize();
  assert(MP_TIMER() >= begin);
  MP_BARRIER();
  MP_FINALIZE();
  puts("right");
  return EXIT_SUCCESS;
}
