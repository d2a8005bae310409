// The functions that Open MPI's header has for the constants MPI_COMM_NULL_COPY_FN and the like. A key that
// is made with them calls them as it calls those of a program.

#include "mpi.h"

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): Open MPI's names, and types

#define RMA_MPI_PREDEFINED(KIND, Handle)                                                                 \
  int OMPI_C_MPI_##KIND##NULL_COPY_FN(Handle /*object*/, int /*keyval*/, void* /*extra*/, void* /*in*/,  \
                                      void* /*out*/, int* flag) {                                        \
    *flag = 0;                                                                                           \
    return MPI_SUCCESS;                                                                                  \
  }                                                                                                      \
  int OMPI_C_MPI_##KIND##DUP_FN(Handle /*object*/, int /*keyval*/, void* /*extra*/, void* in, void* out, \
                                int* flag) {                                                             \
    *static_cast<void**>(out) = in;                                                                      \
    *flag = 1;                                                                                           \
    return MPI_SUCCESS;                                                                                  \
  }                                                                                                      \
  int OMPI_C_MPI_##KIND##NULL_DELETE_FN(Handle /*object*/, int /*keyval*/, void* /*value*/,              \
                                        void* /*extra*/) {                                               \
    return MPI_SUCCESS;                                                                                  \
  }
RMA_MPI_PREDEFINED(COMM_, MPI_Comm)
RMA_MPI_PREDEFINED(TYPE_, MPI_Datatype)
RMA_MPI_PREDEFINED(WIN_, MPI_Win)
RMA_MPI_PREDEFINED(, MPI_Comm)
#undef RMA_MPI_PREDEFINED

// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)
}  // extern "C"
