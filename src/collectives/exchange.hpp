#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "collectives/announced_buffers.hpp"
#include "collectives/blocks.hpp"
#include "collectives/buffers.hpp"
#include "collectives/rounds.hpp"
#include "rma/collectives.h"

namespace rma {

/// The part of one member in the collectives of a team on one host. Data of up to one piece takes one round. Longer
/// data takes one round per piece, in which a member fills its next outbox while others still read the last one.
/// Large data stay where they are: the members announce their buffers to each other (AnnouncedBuffers), copy or
/// combine directly, and a last round gives each member its buffers back.
///
/// All members take the same path. It depends on the arguments that agree, and on the announcements.
///
/// One thread at a time uses it. A round that fails ends its call, and all later calls, with RMA_ERR_PEER_LOST.
class Exchange {
 public:
  /// `block`, `buffers` and `roster` outlive this and do not move. Throws std::bad_alloc; no call needs memory.
  Exchange(TeamBlock& block, int member, const WaitPolicy& policy, const Buffers& buffers,
           const Roster& roster);

  [[nodiscard]] int member() const { return rounds_.member(); }
  [[nodiscard]] int members() const { return rounds_.members(); }

  [[nodiscard]] Status barrier() { return rounds_.meet(); }
  /// Executes a collective operation, whose arguments were checked. If `done` is false afterwards, the members did
  /// nothing, all alike: they cannot get at each other's buffers, or the operation has no form here.
  ///
  /// Elements are combined in the order of team ranks: (((e0 op e1) op e2) ...) if the operation commutes, else
  /// (e0 op (e1 op (e2 ...))).
  [[nodiscard]] Status run(const rma_collective_t& collective, bool& done);

 private:
  /// A part of a vector, in elements.
  struct Part {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  // The operations that move data. Each returns whether it was done in `done`, if that can be false.
  [[nodiscard]] Status broadcast(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status gather(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status scatter(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status allgather(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status alltoall(const rma_collective_t& collective, bool& done);
  /// Gather and allgather of blocks of different sizes. `gets`: this member gets the blocks.
  [[nodiscard]] Status gather_uneven(const rma_collective_t& collective, bool gets, bool& done);
  [[nodiscard]] Status scatter_uneven(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status alltoall_uneven(const rma_collective_t& collective, bool& done);

  // The reductions.
  [[nodiscard]] Status reduce(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status allreduce(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status reduce_scatter(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status scan(const rma_collective_t& collective, bool exclusive, bool& done);
  [[nodiscard]] Status allreduce_piece(std::byte* dst, const std::byte* src, std::size_t elements,
                                       const rma_reducer_t& reducer);
  [[nodiscard]] Status allreduce_direct(const rma_collective_t& collective);
  [[nodiscard]] Status scan_direct(const rma_collective_t& collective, bool exclusive);

  /// Returns whether the members announce their buffers for `bytes` bytes.
  [[nodiscard]] bool direct(std::size_t bytes) const { return bytes >= direct_bytes_ && members() > 1; }
  /// Returns whether the pieces of `bytes` bytes are so many that messages do it better.
  [[nodiscard]] static bool too_long(std::size_t bytes) {
    return bytes > kMostPieces * TeamBlock::kPieceBytes;
  }
  /// Calls `step(begin, bytes)` for each piece of at most `most` bytes, until one fails.
  template <typename Step>
  static Status for_pieces(std::size_t bytes, std::size_t most, const Step& step);

  /// Returns the part of `count` elements that `member` reduces for all members.
  [[nodiscard]] Part part_of(int member, std::size_t count, std::size_t element_bytes) const;
  /// Combines `elements` elements of the members 0 to last into `result`, which is no source. `source(member)`
  /// returns where those of a member are, which may be other().
  template <typename Source>
  static void combine(std::byte* result, std::size_t elements, int last, const rma_reducer_t& reducer,
                      const Source& source);
  /// Combines a part of the announced sources, block by block. `store(begin, block)` gets each block of the result
  /// and its place in the vector, in bytes. If `place` is not null, the blocks are made at their places there.
  template <typename Store>
  [[nodiscard]] rma_status_t combine_announced(Part part, const rma_reducer_t& reducer, std::byte* place,
                                               const Store& store);
  /// The work memory of this member: two blocks of kBlock bytes.
  [[nodiscard]] std::byte* result_block() const { return work_.get(); }
  [[nodiscard]] std::byte* other_block() const { return work_.get() + kBlock; }

  /// The size of the blocks in which large vectors are combined. System calls that read so much are worth their price.
  static constexpr std::size_t kBlock = std::size_t{32} << 10U;
  static constexpr std::size_t kMostPieces = 16;
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  Rounds rounds_;
  AnnouncedBuffers announced_;
  const std::size_t direct_bytes_;
  const bool one_round_;  ///< rounds are so expensive that each member combines all of a piece by itself
  std::unique_ptr<std::byte, Free> work_;
};

template <typename Step>
Status Exchange::for_pieces(std::size_t bytes, std::size_t most, const Step& step) {
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    if (Status status = step(begin, std::min(most, bytes - begin)); !status.ok()) return status;
  }
  return {};
}

}  // namespace rma
