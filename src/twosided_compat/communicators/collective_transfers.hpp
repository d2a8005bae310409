#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/noncontiguous.hpp"

namespace librma::mpi {

/// The tags of the messages of collective calls, in their communicator's collective context. All members make
/// their collective calls in the same order, so messages of one kind cannot be taken for those of the next
/// call.
enum class CollectiveTag : int {
  kNewContext,
  kSplit,
  kBarrier,
  kBroadcast,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kReduce,
  kScan,
  kMerge,
  kDuplicate,
  kNeighbors  ///< and the numbers behind it, one for each place in a neighbourhood
};

/// Messages between the members of a communicator inside a collective call. Ranks are those of the
/// communicator. Each function returns MPI_SUCCESS or an error class.
///
/// MPI_Bcast and MPI_Allgather are librma's collectives, by the communicator's team. The broadcast and
/// allgather here serve the calls that make communicators: a communicator gets its team at its first
/// collective call that moves data, and one from which others are only made needs none.
class CollectiveTransfers {
 public:
  CollectiveTransfers(const Communicator& comm, CollectiveTag tag)
      : CollectiveTransfers(comm, Traffic::kCollective, static_cast<int>(tag)) {}
  /// Messages of another kind, in a call that not all members make.
  CollectiveTransfers(const Communicator& comm, Traffic traffic, int tag)
      : comm_(comm), context_(comm.context(traffic)), tag_(tag) {}

  [[nodiscard]] int send(const Buffer& data, int to);
  [[nodiscard]] int send(const void* data, std::size_t bytes, int to) {
    return send(contiguous(data, bytes), to);
  }
  [[nodiscard]] int receive(const Buffer& data, int from);
  [[nodiscard]] int receive(void* data, std::size_t bytes, int from) {
    return receive(contiguous(data, bytes), from);
  }
  /// Sends and receives at the same time, so that a ring of members does not wait for each other.
  [[nodiscard]] int exchange(const Buffer& out, int to, const Buffer& in, int from);
  [[nodiscard]] int exchange(const void* out, std::size_t out_bytes, int to, void* in, std::size_t in_bytes,
                             int from) {
    return exchange(contiguous(out, out_bytes), to, contiguous(in, in_bytes), from);
  }
  /// Gathers `bytes` bytes of each member at every member, in the order of ranks. `mine` may be its own place
  /// in `all`.
  [[nodiscard]] int allgather(const void* mine, std::size_t bytes, void* all);
  [[nodiscard]] int broadcast(const Buffer& data, int root);
  [[nodiscard]] int broadcast(void* data, std::size_t bytes, int root) {
    return broadcast(contiguous(data, bytes), root);
  }

 private:
  [[nodiscard]] static Buffer contiguous(const void* data, std::size_t bytes) {
    return {.data = static_cast<std::byte*>(const_cast<void*>(data)), .bytes = bytes};
  }
  [[nodiscard]] MessagePeer peer(int rank) const {
    return {.rank = comm_.world_rank(rank), .tag = tag_, .context = context_};
  }

  const Communicator& comm_;
  const std::uint32_t context_;
  const int tag_;
};

}  // namespace librma::mpi
