#pragma once

#include <cstddef>
#include <vector>

#include "collectives/buffers.hpp"
#include "collectives/reduce.hpp"
#include "collectives/rounds.hpp"

namespace rma {

/// The collectives, as one member takes part in them. Data up to a piece long travels in one round, longer
/// data in as many as it has pieces; a member fills its next outbox while others still read the last one.
/// From TeamShape::direct_bytes on, members first tell each other where their buffers are, and where all of
/// these are shared they use them in place, with a last round after which each owns its buffer again.
///
/// Used by one thread at a time; arguments as in collectives.hpp. A round that fails ends its call, and those
/// that follow, with RMA_ERR_PEER_LOST.
class Exchange {
 public:
  /// `block`, `buffers` and `roster` stay where they are.
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

  /// One round: announced_ then holds all members' buffers.
  [[nodiscard]] Status announce(const void* src, std::size_t src_bytes, void* dst, std::size_t dst_bytes);
  [[nodiscard]] bool direct(std::size_t bytes) const;
  [[nodiscard]] bool all_sources_shared() const;
  [[nodiscard]] bool all_destinations_shared() const;
  /// The part of `bytes` bytes of elements that `member` reduces for all: whole cache lines.
  [[nodiscard]] Part part_of(int member, std::size_t bytes) const;
  /// Reduces `part` of all members' data: `source(member)` is where that member's begins, `dst` where the
  /// result's does. A source may be `dst`.
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
