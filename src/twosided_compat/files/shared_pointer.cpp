#include "twosided_compat/files/shared_pointer.hpp"

#include "rma/rma.h"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"

namespace librma::mpi {

int advance_shared_pointer(const File& file, MPI_Count bytes, MPI_Offset& before) {
  std::uint64_t old = 0;
  RMA_TRY(checked(rma_atomic64(RMA_FETCH_ADD, file.shared_pointer, static_cast<std::uint64_t>(bytes), 0, &old,
                               file.comm().world_rank(0))));
  before = static_cast<MPI_Offset>(old);
  return MPI_SUCCESS;
}

int set_shared_pointer(const File& file, MPI_Offset position) {
  return checked(rma_atomic64(RMA_SWAP, file.shared_pointer, static_cast<std::uint64_t>(position), 0, nullptr,
                              file.comm().world_rank(0)));
}

}  // namespace librma::mpi
