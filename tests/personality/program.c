/* A program for Open MPI or MPICH as it is: messages, a reduction, handles in static data, and a file that is
 * not there. Open MPI counts the null of the version, too. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
#define RANK_VARIABLE "OMPI_COMM_WORLD_RANK"
#define SIZE_VARIABLE "OMPI_COMM_WORLD_SIZE"
#else
#define RANK_VARIABLE "PMI_RANK"
#define SIZE_VARIABLE "PMI_SIZE"
#endif

static MPI_Comm world = MPI_COMM_WORLD;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(EXIT_FAILURE);
}

int main(int argc, char** argv) {
  int rank, size, sum, got = -1, count = -1, length, error;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Status status;
  MPI_Comm copy;
  MPI_File file = MPI_FILE_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sum = rank + 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, world);
  check(sum == size * (size + 1) / 2, "the sum");
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world,
               &status);
  MPI_Get_count(&status, MPI_INT, &count);
  check(got == (rank + size - 1) % size && status.MPI_SOURCE == got && status.MPI_TAG == 7 && count == 1,
        "the message");
  MPI_Comm_dup(world, &copy);
  MPI_Comm_free(&copy);
  check(copy == MPI_COMM_NULL, "the freed communicator");
  MPI_Get_library_version(version, &length);
  check((int)strlen(version) == length || version[length - 1] == '\0', "the version");
  error = MPI_File_open(world, "no-such-file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Error_class(error, &error);
  check(error == MPI_ERR_NO_SUCH_FILE && file == MPI_FILE_NULL, "the file");
  printf("rank %d of %d: %.20s, %s %s of %s\n", rank, size, version, RANK_VARIABLE, getenv(RANK_VARIABLE),
         getenv(SIZE_VARIABLE));
  MPI_Finalize();
  return 0;
}
