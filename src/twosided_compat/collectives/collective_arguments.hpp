#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twosided_compat/collectives/short_list.hpp"
#include "twosided_compat/communicators/collective_transfers.hpp"
#include "twosided_compat/messages/transfer.hpp"
#include "twosided_compat/objects/views.hpp"
#include "twosided_compat/operators/operators.hpp"

// The arguments of collective calls, and their checks.

namespace librma::mpi {

[[nodiscard]] inline bool in_place(const void* address) { return address == MPI_IN_PLACE; }

/// Checks that `root` is a member.
[[nodiscard]] inline int check_root(const Communicator& comm, int root) {
  if (root < 0 || root >= comm.size())
    return failure(MPI_ERR_ROOT, "the root is no member of the communicator");
  return MPI_SUCCESS;
}

/// Checks that the buffers of a call are two: MPI_IN_PLACE is for programs that want one. MPI_ERR_BUFFER.
[[nodiscard]] inline int check_distinct(const void* out, const void* in, std::size_t bytes) {
  if (out == in && bytes != 0) [[unlikely]]
    return failure(MPI_ERR_BUFFER, "sendbuf and recvbuf are one buffer, which MPI_IN_PLACE is for");
  return MPI_SUCCESS;
}

/// Checks the same for two described buffers. It takes noncontiguous ones for distinct: elements of derived
/// types may lie between each other, from one address on.
[[nodiscard]] inline int check_distinct(const Buffer& out, const Buffer& in) {
  if (!out.is_contiguous() || !in.is_contiguous()) return MPI_SUCCESS;
  return check_distinct(out.data, in.data, out.bytes);
}

/// The blocks of the buffer of a call such as MPI_Gatherv: `counts` elements at a displacement, for each
/// member. Blocks of one size and distance take no memory for each member.
class Blocks {
 public:
  /// Member r has counts[r] elements at displacement displs[r].
  [[nodiscard]] static int find(void* address, Counts counts, Displacements displacements, MPI_Datatype type,
                                int members, Blocks& blocks);
  /// Member r has counts[r] elements of types[r] at displacement displs[r], in bytes.
  [[nodiscard]] static int find(void* address, Counts counts, Displacements displacements,
                                const MPI_Datatype types[], int members, Blocks& blocks);
  /// Each member has `count` elements, one behind the other.
  [[nodiscard]] static int find(void* address, MPI_Count count, MPI_Datatype type, Blocks& blocks);

  /// Each member has the same `count` elements.
  [[nodiscard]] static int find_same(const void* address, MPI_Count count, MPI_Datatype type, Blocks& blocks);

  /// Becomes the blocks that these members have in others, in this order.
  void choose(const Blocks& others, const std::vector<int>& members);

  [[nodiscard]] Buffer of(int member) const {
    if (!blocks_.empty()) return blocks_[static_cast<std::size_t>(member)];
    Buffer block = first_;
    block.data = displaced(first_.data, distance_ * member);
    return block;
  }
  [[nodiscard]] std::byte* data(int member) const { return of(member).data; }
  [[nodiscard]] std::size_t bytes(int member) const { return of(member).bytes; }
  /// Returns whether the blocks are known to be contiguous, to have one size, and to follow each other.
  [[nodiscard]] bool is_array() const {
    return blocks_.empty() && first_.is_contiguous() && distance_ == static_cast<MPI_Count>(first_.bytes);
  }

  /// Puts the blocks elsewhere, one behind the other, each of them contiguous.
  void move_to(std::byte* place);

 private:
  static std::byte* displaced(std::byte* address, MPI_Count distance) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                        static_cast<std::uintptr_t>(distance));
  }

  ShortList<Buffer> blocks_;  ///< empty: the blocks are those of the next two
  Buffer first_;
  MPI_Count distance_ = 0;
};

}  // namespace librma::mpi
