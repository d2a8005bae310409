// Memory and addresses.

#include <fmt/format.h>

#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {

// The memory comes from the heap that other ranks reach, so that messages and windows in it need no
// registration.
int alloc_mem(MPI_Aint size, MPI_Info /*info*/, void* baseptr) {
  if (size < 0) return failure(MPI_ERR_ARG, fmt::format("the size is {}", size));
  if (baseptr == nullptr) return failure(MPI_ERR_ARG, "baseptr is null");
  void* address = nullptr;
  if (rma_malloc_local(static_cast<std::size_t>(size), 0, &address) != RMA_SUCCESS) {
    return failure(MPI_ERR_NO_MEM, rma_last_error());
  }
  *static_cast<void**>(baseptr) = address;
  return MPI_SUCCESS;
}

int free_mem(void* base) {
  return rma_free_local(base) == RMA_SUCCESS ? MPI_SUCCESS : failure(MPI_ERR_BASE, rma_last_error());
}

int get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

// Addresses are unsigned; the sum wraps as they do.
MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(disp));
}
MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) - static_cast<std::uintptr_t>(addr2));
}

}  // namespace librma::mpi
