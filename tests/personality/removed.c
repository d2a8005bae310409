/* A program as it was before MPI 3.0 removed functions and datatypes. The libraries of Open MPI and MPICH
 * still have them. */

#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef OPEN_MPI
#undef MPI_LB
#undef MPI_UB
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
int MPI_Address(void* location, MPI_Aint* address);
int MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement);
int MPI_Type_hindexed(int count, int lengths[], MPI_Aint places[], MPI_Datatype oldtype,
                      MPI_Datatype* newtype);
int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_struct(int count, int lengths[], MPI_Aint places[], MPI_Datatype types[], MPI_Datatype* newtype);
int MPIX_Query_cuda_support(void);
#endif

struct Record {
  double value;
  char name;
};

static int seen = 0;

static void note(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  seen = *code;
}

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  exit(EXIT_FAILURE);
}

static void check_bounds(MPI_Datatype type, MPI_Aint lower, MPI_Aint upper, const char* what) {
  MPI_Aint extent = -1, lb = -1, ub = -1;
  MPI_Type_extent(type, &extent);
  MPI_Type_lb(type, &lb);
  MPI_Type_ub(type, &ub);
  check(extent == upper - lower && lb == lower && ub == upper, what);
}

/* Bounds that a structure's markers set, alone and in a type that is made of it. */
static void markers(void) {
  int lengths[3] = {1, 1, 1}, size = -1;
  MPI_Aint places[3] = {-8, 4, 40};
  MPI_Datatype types[3] = {MPI_LB, MPI_INT, MPI_UB}, both, upper, lower, vector;
  MPI_Type_struct(3, lengths, places, types, &both);
  check_bounds(both, -8, 40, "both markers");
  MPI_Type_size(both, &size);
  check(size == (int)sizeof(int), "the size with markers");
  MPI_Type_struct(2, lengths + 1, places + 1, types + 1, &upper);
  check_bounds(upper, 4, 40, "the marker of the end");
  MPI_Type_struct(2, lengths, places, types, &lower);
  check_bounds(lower, -8, 8, "the marker of the beginning");
  MPI_Type_contiguous(2, both, &vector);
  check_bounds(vector, -8, 88, "a type of one with markers");
  MPI_Type_free(&both);
  MPI_Type_free(&upper);
  MPI_Type_free(&lower);
  MPI_Type_free(&vector);
}

static void messages(int rank, int size) {
  struct Record sent[3] = {{1, 'a'}, {2, 'b'}, {3, 'c'}}, got[3] = {{0}};
  int lengths[3] = {1, 1, 1}, i;
  MPI_Aint places[3], start;
  MPI_Datatype types[3] = {MPI_DOUBLE, MPI_CHAR, MPI_UB}, record, strided, listed;
  MPI_Address(&sent[0], &start);
  MPI_Address(&sent[0].value, &places[0]);
  MPI_Address(&sent[0].name, &places[1]);
  places[0] -= start;
  places[1] -= start;
  places[2] = sizeof(struct Record);
  MPI_Type_struct(3, lengths, places, types, &record);
  MPI_Type_commit(&record);
  for (i = 0; i < 3; ++i) sent[i].value += 10 * rank;
  MPI_Sendrecv(sent, 3, record, (rank + 1) % size, 1, got, 3, record, (rank + size - 1) % size, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 0; i < 3; ++i)
    check(got[i].value == i + 1 + 10 * ((rank + size - 1) % size) && got[i].name == 'a' + i, "the records");
  MPI_Type_hvector(3, 1, sizeof(struct Record), MPI_DOUBLE, &strided);
  check_bounds(strided, 0, 2 * sizeof(struct Record) + sizeof(double), "the vector");
  places[0] = 8;
  places[1] = 32;
  MPI_Type_hindexed(2, lengths, places, MPI_INT, &listed);
  check_bounds(listed, 8, 36, "the list");
  MPI_Type_free(&record);
  MPI_Type_free(&strided);
  MPI_Type_free(&listed);
}

int main(int argc, char** argv) {
  int rank, size, class = -1;
  MPI_Errhandler before, mine, now;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Errhandler_get(MPI_COMM_WORLD, &before);
  check(before == MPI_ERRORS_ARE_FATAL, "the first error handler");
  MPI_Errhandler_create(note, &mine);
  MPI_Errhandler_set(MPI_COMM_WORLD, mine);
  MPI_Errhandler_get(MPI_COMM_WORLD, &now);
  check(now == mine, "the error handler");
  MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  MPI_Error_class(seen, &class);
  check(class == MPI_ERR_RANK, "the error that the handler gets");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  check(MPI_Type_ub(MPI_INT, NULL) != MPI_SUCCESS && MPI_Type_lb(MPI_INT, NULL) != MPI_SUCCESS &&
            MPI_Type_extent(MPI_INT, NULL) != MPI_SUCCESS,
        "null pointers");
  MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  markers();
  messages(rank, size);
  check(MPIX_Query_cuda_support() == 0, "memory of graphics processors");
  MPI_Finalize();
  return 0;
}
