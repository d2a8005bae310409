// The intercommunicator with the processes that have spawned this one.

#include "twosided_compat/processes/parent.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include "rma/launcher.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator_management/intercommunicators.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// MPI_COMM_NULL in a process that was not spawned. Relaxed: it is set before a program has other threads
/// that ask, and its object is found by the handle.
std::atomic<MPI_Comm> parent = MPI_COMM_NULL;

}  // namespace

int meet_parents() {
  const int* ranks = nullptr;
  std::uint32_t context = 0;
  const int count = rma_parents(&ranks, &context);
  if (count == 0) return MPI_SUCCESS;
  MPI_Comm made = MPI_COMM_NULL;
  RMA_TRY(
      make_intercommunicator(*find<Communicator>(MPI_COMM_WORLD), {ranks, ranks + count}, context, &made));
  find<Communicator>(made)->name = "MPI_COMM_PARENT";
  parent.store(made, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

void leave_parents() {
  const MPI_Comm left = parent.exchange(MPI_COMM_NULL, std::memory_order_relaxed);
  if (auto* const comm = find<Communicator>(left); comm != nullptr) comm->remove_reference();
}

// The handle of a communicator that the program has freed finds nothing.
int comm_get_parent(MPI_Comm* found) {
  const MPI_Comm handle = parent.load(std::memory_order_relaxed);
  *found = find<Communicator>(handle) != nullptr ? handle : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
