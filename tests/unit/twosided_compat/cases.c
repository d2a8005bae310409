/* Misuse and ends of a job, for cases.sh. The argument names the case. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* A name of MPI that a profiler takes over: the library must not call it. */
int MPI_Initialized(int* flag) {
  printf("taken over\n");
  return PMPI_Initialized(flag);
}

/* A mistake in a call, by name. Errors are fatal, so the call does not return. */
static void make_mistake(const char* name) {
  int numbers[2] = {0, 0};
  MPI_Request request = MPI_REQUEST_NULL;
  if (strcmp(name, "rank") == 0) MPI_Send(numbers, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
  if (strcmp(name, "tag") == 0) MPI_Irecv(numbers, 1, MPI_INT, 0, -7, MPI_COMM_WORLD, &request);
  if (strcmp(name, "comm") == 0) MPI_Barrier(MPI_COMM_NULL);
  if (strcmp(name, "count") == 0) MPI_Send(numbers, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (strcmp(name, "type") == 0) MPI_Send(numbers, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
  if (strcmp(name, "op") == 0) MPI_Allreduce(MPI_IN_PLACE, numbers, 1, MPI_WCHAR, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(name, "root") == 0) MPI_Bcast(numbers, 1, MPI_INT, -1, MPI_COMM_WORLD);
  if (strcmp(name, "request") == 0) MPI_Start(&request);
  if (strcmp(name, "buffer") == 0) MPI_Bsend(numbers, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (strcmp(name, "alias") == 0) MPI_Scan(numbers, numbers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(name, "truncate") == 0) {
    MPI_Irecv(numbers, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(numbers, 2, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  MPI_Comm joined = MPI_COMM_NULL;
  int number = 0;
  if (strcmp(name, "early") == 0) {
    int major = 0;
    MPI_Abi_get_version(&major, &number);
    MPI_Info info;
    if (MPI_Info_create(&info) == MPI_SUCCESS && MPI_Info_free(&info) == MPI_SUCCESS && major == 1)
      printf("right\n");
    return 0;
  }
  if (strcmp(name, "before") == 0) MPI_Get_address(&number, NULL);
  if (strcmp(name, "before-accept") == 0) MPI_Comm_accept("none", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &joined);
  if (strcmp(name, "before-error") == 0) MPI_Error_class(77, &number);
  MPI_Init(&argc, &argv);
  if (strcmp(name, "twice") == 0) MPI_Init(&argc, &argv);
  if (strcmp(name, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 42);
  if (strcmp(name, "abort-0") == 0) MPI_Abort(MPI_COMM_WORLD, 256);
  if (strcmp(name, "fatal") == 0) MPI_Type_size(MPI_DATATYPE_NULL, &number);
  make_mistake(name);
  // Of two members, the one that is not the root might abort the job first, and says less.
  if (strcmp(name, "no-port") == 0) MPI_Comm_accept("none", MPI_INFO_NULL, 0, MPI_COMM_SELF, &joined);
  if (strcmp(name, "no-port-returns") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    printf("class %d\n", MPI_Comm_accept("none", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &joined));
  }
  MPI_Finalize();
  if (strcmp(name, "after") == 0) MPI_Get_address(&number, NULL);
  return 0;
}
