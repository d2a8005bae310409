// Collective calls on intercommunicators that combine data: each group reduces its own data at its first
// member, and the result goes to the other group.

#include <cstddef>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collective.hpp"
#include "twosided_compat/intercollectives.hpp"

namespace rma::mpi {
namespace {

constexpr int kInterReductionTag = static_cast<int>(CollectiveTag::kRemoteReduction);

/// Room for `count` elements of a type.
class Room {
 public:
  /// Allocates the room. MPI_ERR_TYPE, MPI_ERR_COUNT.
  [[nodiscard]] int open(MPI_Count count, MPI_Datatype type) {
    MPI_Count lower = 0;
    MPI_Count extent = 0;
    MPI_Count true_lower = 0;
    MPI_Count true_extent = 0;
    if (count < 0) return failure(MPI_ERR_COUNT, "count is negative");
    if (const int code = type_get_extent(type, &lower, &extent); code != MPI_SUCCESS) return code;
    if (const int code = type_get_true_extent(type, &true_lower, &true_extent); code != MPI_SUCCESS)
      return code;
    if (count == 0) return MPI_SUCCESS;
    const MPI_Count step = extent >= 0 ? extent : -extent;
    bytes_.resize(static_cast<std::size_t>(true_extent + (count - 1) * step));
    // Elements of a negative extent lie below the first one.
    data_ = bytes_.data() - true_lower + (extent < 0 ? (count - 1) * step : 0);
    return MPI_SUCCESS;
  }
  [[nodiscard]] void* data() { return data_; }

 private:
  std::vector<std::byte> bytes_;
  std::byte* data_ = nullptr;
};

/// Reduces the local group's data at its first member, and gives that member the result of the other group in
/// `in`.
int reduce_and_swap(Communicator& comm, const void* out, void* in, MPI_Count count, MPI_Datatype type,
                    MPI_Op op) {
  Room room;
  if (const int code = room.open(count, type); code != MPI_SUCCESS) return code;
  if (const int code = reduce(out, room.data(), count, type, op, 0, local_group_of(comm));
      code != MPI_SUCCESS)
    return code;
  if (comm.rank() != 0) return MPI_SUCCESS;
  return carried(comm, sendrecv(room.data(), count, type, 0, kInterReductionTag, in, count, type, 0,
                                kInterReductionTag, comm.carrier(Traffic::kCollective), MPI_STATUS_IGNORE));
}

}  // namespace

int inter_reduce(Communicator& comm, const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 int root) {
  const MPI_Comm carrier = comm.carrier(Traffic::kCollective);
  if (root == MPI_PROC_NULL) return MPI_SUCCESS;
  if (root == MPI_ROOT)
    return carried(comm, recv(in, count, type, 0, kInterReductionTag, carrier, MPI_STATUS_IGNORE));
  if (root < 0 || root >= comm.peer_count())
    return failure(MPI_ERR_ROOT, "the root is not in the remote group");
  Room room;
  if (const int code = room.open(count, type); code != MPI_SUCCESS) return code;
  if (const int code = reduce(out, room.data(), count, type, op, 0, local_group_of(comm));
      code != MPI_SUCCESS)
    return code;
  return comm.rank() == 0 ? carried(comm, send(room.data(), count, type, root, kInterReductionTag, carrier))
                          : MPI_SUCCESS;
}

int inter_allreduce(Communicator& comm, const void* out, void* in, MPI_Count count, MPI_Datatype type,
                    MPI_Op op) {
  if (const int code = reduce_and_swap(comm, out, in, count, type, op); code != MPI_SUCCESS) return code;
  return bcast(in, count, type, 0, local_group_of(comm));
}

int inter_reduce_scatter(Communicator& comm, const void* out, void* in, Counts counts, MPI_Datatype type,
                         MPI_Op op) {
  if (counts.is_null()) return failure(MPI_ERR_ARG, "recvcounts is null");
  std::vector<MPI_Count> own_counts;
  std::vector<MPI_Count> places;
  MPI_Count total = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (counts[rank] < 0) return failure(MPI_ERR_COUNT, "a count is negative");
    own_counts.push_back(counts[rank]);
    places.push_back(total);
    total += counts[rank];
  }
  Room room;  // for the other group's result, at the first member
  if (const int code = room.open(total, type); code != MPI_SUCCESS) return code;
  if (const int code = reduce_and_swap(comm, out, room.data(), total, type, op); code != MPI_SUCCESS)
    return code;
  return scatterv(room.data(), own_counts.data(), places.data(), type, in, counts[comm.rank()], type, 0,
                  local_group_of(comm));
}

}  // namespace rma::mpi
