#pragma once

#include <cstddef>
#include <vector>

#include "collectives/buffers.hpp"
#include "collectives/reduce.hpp"
#include "collectives/rounds.hpp"

namespace rma {

/// The part of one member in the collectives of a team on one host. Data of up to one piece takes one round.
/// Longer data takes one round per piece; a member fills its next outbox while others still read the last
/// one. From TeamShape::direct_bytes on, the members first announce their buffers to each other. If all of
/// these are shared, the members use them in place, and a last round gives each member its buffer back.
///
/// One thread at a time uses it. The arguments are those of collectives.hpp. A round that fails ends its
/// call, and all later calls, with RMA_ERR_PEER_LOST.
class Exchange {
 public:
  /// `block`, `buffers` and `roster` outlive this and do not move.
  Exchange(TeamBlock& block, int member, const WaitPolicy& policy, const Buffers& buffers,
           const Roster& roster);

  [[nodiscard]] int member() const { return rounds_.member(); }
  [[nodiscard]] int members() const { return rounds_.members(); }

  [[nodiscard]] Status barrier() { return rounds_.meet(); }
  [[nodiscard]] Status broadcast(void* buffer, std::size_t bytes, int root);
  [[nodiscard]] Status reduce(void* dst, const void* src, std::size_t count, const Reduction& reduction,
                              int root);
  [[nodiscard]] Status allreduce(void* dst, const void* src, std::size_t count, const Reduction& reduction);
  [[nodiscard]] Status allgather(void* dst, const void* src, std::size_t bytes);

 private:
  /// The buffers of a call that a member announces to the others. Each is null if it is not in shared memory.
  struct AnnouncedBuffers {
    const void* src = nullptr;
    void* dst = nullptr;
  };
  /// A part of a whole, in bytes.
  struct Part {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  /// Executes one round. Afterwards announced_ holds all members' buffers.
  [[nodiscard]] Status announce(const void* src, std::size_t src_bytes, void* dst, std::size_t dst_bytes);
  [[nodiscard]] bool direct(std::size_t bytes) const;
  [[nodiscard]] bool all_sources_shared() const;
  [[nodiscard]] bool all_destinations_shared() const;
  /// Returns the part of `bytes` bytes of elements that `member` reduces for all members. It consists of
  /// whole cache lines.
  [[nodiscard]] Part part_of(int member, std::size_t bytes) const;
  /// Reduces `part` of all members' data. `source(member)` returns the start of that member's data, and `dst`
  /// is the start of the result. A source may be `dst`.
  template <typename Source>
  void combine(std::byte* dst, const Source& source, Part part, const Reduction& reduction) const;

  [[nodiscard]] Status reduce_direct(std::byte* root_dst, std::size_t bytes, const Reduction& reduction);
  [[nodiscard]] Status allreduce_direct(std::byte* dst, std::size_t bytes, const Reduction& reduction);
  [[nodiscard]] Status allreduce_piece(std::byte* dst, const std::byte* src, std::size_t bytes,
                                       const Reduction& reduction);

  Rounds rounds_;
  const Buffers& buffers_;
  const std::size_t direct_bytes_;
  std::vector<AnnouncedBuffers> announced_;  ///< by member
};

}  // namespace rma
