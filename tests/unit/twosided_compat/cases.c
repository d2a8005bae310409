/* Misuse and ends of a job, for cases.sh. The argument names the case. */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* A name of MPI that a profiler takes over: the library must not call it. */
int MPI_Initialized(int* flag) {
  printf("taken over\n");
  return PMPI_Initialized(flag);
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  MPI_Win win = MPI_WIN_NULL;
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
  if (strcmp(name, "before-missing") == 0) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (strcmp(name, "before-error") == 0) MPI_Error_class(77, &number);
  MPI_Init(&argc, &argv);
  if (strcmp(name, "twice") == 0) MPI_Init(&argc, &argv);
  if (strcmp(name, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 42);
  if (strcmp(name, "abort-0") == 0) MPI_Abort(MPI_COMM_WORLD, 256);
  if (strcmp(name, "fatal") == 0) MPI_Type_size(MPI_DATATYPE_NULL, &number);
  if (strcmp(name, "missing") == 0) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  if (strcmp(name, "missing-returns") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    printf("class %d\n", MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  }
  MPI_Finalize();
  if (strcmp(name, "after") == 0) MPI_Get_address(&number, NULL);
  return 0;
}
