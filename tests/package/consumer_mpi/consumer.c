/* An MPI program as a user would write it: built against the installed library only, by its compiler. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  MPI_Init(NULL, NULL);
  int me = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int mine = 100 + me;
  int number = 0;
  const int next = (me + 1) % size;
  const int previous = (me + size - 1) % size;
  MPI_Sendrecv(&mine, 1, MPI_INT, next, 0, &number, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  const int is_right = number == 100 + previous;
  printf("consumer of MPI, rank %d of %d: %s\n", me, size, is_right ? "right" : "WRONG");
  MPI_Finalize();
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
