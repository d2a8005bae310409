// The blocking calls that have a short way: a barrier, and an allreduce of a few bytes, among processes that
// meet in memory. Every other call, and every call with an argument that is not plainly right, takes the
// general way, which also reports the error.

#include <cstddef>

#include "rma/unchecked.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/collectives/collective_forms.hpp"

namespace librma::mpi {
namespace {

/// Takes the general way. The next call on the communicator then knows whether there is a short one.
template <typename Fill>
[[gnu::noinline]] int run_generally(MPI_Comm handle, const Fill& fill) {
  const int code = run_collective(fill);
  if (auto* const comm = find<Communicator>(handle); comm != nullptr) comm->find_meeting();
  return code;
}

/// Returns the memory in which the members of a communicator meet, or null, also for a handle of none.
rma_meeting_t meeting_of(MPI_Comm handle) {
  const auto* const comm = find<Communicator>(handle);
  return comm != nullptr ? comm->meeting() : nullptr;
}

/// Executes an allreduce of a predefined operator and of a predefined type without holes. Returns whether it
/// is done.
bool allreduced_at_once(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
  const rma_meeting_t meeting = meeting_of(comm);
  const std::size_t size = dense_size(type);
  const void* const source = in_place(out) ? in : out;
  if (meeting == nullptr || size == 0 || count <= 0 || source == nullptr || in == nullptr || out == in)
    return false;
  const PredefinedType* const predefined = find<Datatype>(type)->predefined();
  const kernels::Loop loop = predefined != nullptr ? find_loop(op, *predefined) : nullptr;
  if (loop == nullptr) return false;
  const rma_reducer_t reducer = {.combine = loop, .context = nullptr, .element_bytes = size, .commutes = 1};
  return rma_try_allreduce(meeting, in, source, static_cast<std::size_t>(count), &reducer) != 0;
}

}  // namespace

int barrier(MPI_Comm comm) {
  const rma_meeting_t meeting = meeting_of(comm);
  if (meeting != nullptr && rma_try_barrier(meeting) != 0) [[likely]]
    return MPI_SUCCESS;
  return run_generally(comm, [&](CollectiveCall& call) { return call.barrier(comm); });
}

int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  if (allreduced_at_once(sendbuf, recvbuf, count, datatype, op, comm)) [[likely]]
    return MPI_SUCCESS;
  return run_generally(comm, [&](CollectiveCall& call) {
    return call.allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  });
}

}  // namespace librma::mpi
