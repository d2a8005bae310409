#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "collectives/members/blocks.hpp"
#include "collectives/members/buffers.hpp"
#include "collectives/shared_memory/announced_buffers.hpp"
#include "collectives/shared_memory/rounds.hpp"
#include "rma/collectives.h"
#include "util/try.hpp"

namespace librma {

/// The part of one member in the collectives of a team on one host. Broadcasts, gathers, scatters, reductions
/// to a root and scans of little data take a one-way round (Rounds): a member that gives data goes on at
/// once, so a root of several broadcasts runs ahead of the others. Other data of up to one piece takes one
/// round in which all meet. Longer data takes one round per piece, in which a member fills its next outbox
/// while others still read the last one. For large data the members announce their buffers to each other
/// (AnnouncedBuffers). They copy or combine what is mapped where it lies. Other data go by the members'
/// scratch memory in pieces, which one member fills while others empty the one before, or by system calls,
/// which copy once. A last round gives each member its buffers back. If the others copy from or to the root's
/// buffer only, a one-way round does all of this.
///
/// All members take the same path. It depends on the arguments that agree, and on the announcements.
///
/// One thread at a time uses it. A round that fails ends its call, and all later calls, with
/// RMA_ERR_PEER_LOST.
class SharedExchange {
 public:
  /// `block`, `buffers` and `roster` outlive this and do not move. Throws std::bad_alloc; no call needs
  /// memory.
  SharedExchange(TeamBlock& block, int member, const WaitPolicy& policy, const Buffers& buffers,
                 const Roster& roster);

  [[nodiscard]] int member() const { return rounds_.member(); }
  [[nodiscard]] int members() const { return rounds_.members(); }

  [[nodiscard]] Status barrier() { return rounds_.meet(); }
  /// Executes an allreduce that takes one round, as run() does. Returns whether it is done. If not, the
  /// caller calls run(), which has the answer for more data, and for a team that has lost a member.
  [[nodiscard]] bool allreduce_at_once(std::byte* dst, const std::byte* src, std::size_t elements,
                                       const rma_reducer_t& reducer) {
    // Neither factor is so large that the product overflows.
    if (elements > at_once_bytes_ || reducer.element_bytes > at_once_bytes_) return false;
    const std::size_t bytes = elements * reducer.element_bytes;
    return bytes != 0 && bytes <= at_once_bytes_ && allreduce_whole(dst, src, elements, reducer).ok();
  }
  /// Executes a collective operation, whose arguments were checked. If `done` is false afterwards, the
  /// members did nothing, all alike: they cannot get at each other's buffers, or the operation has no form
  /// here.
  ///
  /// Elements are combined in the order of team ranks: (((e0 op e1) op e2) ...) if the operation commutes,
  /// else (e0 op (e1 op (e2 ...))). A scan that goes as a chain has the first order in any case.
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

  // Long blocks of two members (exchange_pairs.cpp).
  /// Returns whether both members of the team copy the blocks of this operation at the same time: there are
  /// two members, each has a processor, and the blocks are long.
  [[nodiscard]] bool copies_together(const rma_collective_t& collective) const;
  /// Executes an operation for which copies_together() is true. If `done` is false afterwards, a member
  /// cannot get at the other's buffers.
  [[nodiscard]] Status run_together(const rma_collective_t& collective, bool& done);
  /// A block that one of the two gives to the other one.
  struct PairBlock {
    int giver = 0;
    std::size_t src_at = 0;  ///< where it begins in the giver's source
    std::size_t dst_at = 0;  ///< where it begins in the other one's destination
    std::size_t bytes = 0;
  };
  /// Copies a block: the member that gets it reads the first half, and the one that gives it writes the rest.
  [[nodiscard]] Status copy_together(const AnnouncedBuffers::Mine& mine, const PairBlock& block, bool& done);
  /// Copies the block of each of the two to the other one.
  [[nodiscard]] Status exchange_blocks(const AnnouncedBuffers::Mine& mine, bool& done);

  // The reductions.
  [[nodiscard]] Status reduce(const rma_collective_t& collective, bool& done);
  /// A reduction of two members: the root combines while the other one fills its scratch.
  [[nodiscard]] Status reduce_two(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status allreduce(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status reduce_scatter(const rma_collective_t& collective, bool& done);
  [[nodiscard]] Status scan(const rma_collective_t& collective, bool exclusive, bool& done);
  [[nodiscard]] Status allreduce_piece(std::byte* dst, const std::byte* src, std::size_t elements,
                                       const rma_reducer_t& reducer);
  /// The same in one round: every member combines all elements.
  [[nodiscard]] Status allreduce_whole(std::byte* dst, const std::byte* src, std::size_t elements,
                                       const rma_reducer_t& reducer);
  [[nodiscard]] Status allreduce_direct(const rma_collective_t& collective);
  [[nodiscard]] Status reduce_scatter_staged(const rma_collective_t& collective, std::size_t longest,
                                             Part mine, bool& done);
  /// Scan of one piece in the scratch: this member's part of every member's result.
  void scan_piece(std::size_t begin, std::size_t elements, const rma_reducer_t& reducer);
  /// Scan in a one-way round that has begun. Each member but the last posts the result up to itself, so each
  /// waits for the member below it, and not for all. The members work one after the other, so this pays where
  /// they share processors, or are two.
  [[nodiscard]] Status scan_chain(const rma_collective_t& collective, bool exclusive);
  [[nodiscard]] Status scan_direct(const rma_collective_t& collective, bool exclusive);

  /// Waits until the members 0 to end - 1, but not this one, have posted in the one-way round.
  [[nodiscard]] Status await_below(int end);

  /// Returns whether the members announce their buffers for `bytes` bytes.
  [[nodiscard]] bool direct(std::size_t bytes) const { return bytes >= direct_bytes_ && members() > 1; }
  /// Calls `step(begin, bytes)` for each piece of at most `most` bytes, until one fails.
  template <typename Step>
  static Status for_pieces(std::size_t bytes, std::size_t most, const Step& step);

  /// The scratch of one call. It goes back to where it came from only after release(): no member uses it
  /// then.
  class Scratch {
   public:
    Scratch(const Buffers& buffers, bool wanted)
        : buffers_(buffers), wanted_(wanted), memory_(wanted ? buffers.take_scratch() : nullptr) {}
    ~Scratch() {
      if (released_ && memory_ != nullptr) buffers_.give_scratch(memory_);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] std::byte* memory() const { return memory_; }
    [[nodiscard]] bool lacking() const { return wanted_ && memory_ == nullptr; }
    void release() { released_ = true; }

   private:
    const Buffers& buffers_;
    const bool wanted_;
    std::byte* const memory_;
    bool released_ = false;
  };

  /// Moves `bytes` bytes in pieces of at most `most` through the scratch of the members for which `fills` is
  /// true. `fill(begin, piece, area)` writes a piece, and `drain(begin, piece, half)` reads it from that half
  /// of the others' scratch. If `whole()` is true after the announcement, there is one piece, which is in the
  /// announced buffers. `done` becomes false if a member has no memory.
  template <typename Fill, typename Drain, typename Whole>
  [[nodiscard]] Status staged(AnnouncedBuffers::Mine mine, bool fills, std::size_t bytes, std::size_t most,
                              const Fill& fill, const Drain& drain, const Whole& whole, bool& done);
  /// Does a reduction in pieces of at most `most` bytes in two rounds each: the members publish their
  /// elements, `work(begin, piece)` leaves results in the second half of this member's scratch, and
  /// `drain(begin, piece)` reads those of all.
  template <typename Work, typename Drain>
  [[nodiscard]] Status staged_reduction(const std::byte* src, std::size_t bytes, std::size_t most,
                                        Scratch& scratch, const Work& work, const Drain& drain);
  /// Announces the buffers of a reduction. `reduced` says whether all is mapped (direct), or all have
  /// scratch.
  enum class Way { direct, staged, pieces };
  [[nodiscard]] Status announce_reduction(AnnouncedBuffers::Mine mine, std::size_t first_piece,
                                          Scratch& scratch, Way& way);
  /// Returns where a piece of a member's source is: in its buffer if that is mapped here, else in its
  /// scratch.
  [[nodiscard]] const std::byte* piece_of(int from, std::size_t begin, std::size_t bytes, int half) const {
    const std::byte* const here = announced_.source_here(from, begin, bytes);
    return here != nullptr ? here : area(from, half);
  }
  /// Returns the bytes of each block in a piece that has a part of the blocks of all members.
  [[nodiscard]] std::size_t block_piece() const {
    constexpr std::size_t kLine = 64;
    return std::max<std::size_t>(kHalf / static_cast<std::size_t>(members()) & ~(kLine - 1), 1);
  }
  [[nodiscard]] std::byte* area(int member, int half) const {
    return announced_.scratch(member) + static_cast<std::size_t>(half) * kHalf;
  }

  /// Returns the part of `count` elements that `member` reduces for all members.
  [[nodiscard]] Part part_of(int member, std::size_t count, std::size_t element_bytes) const;
  /// Combines `elements` elements of the members 0 to last into `result`, which is no source.
  /// `source(member)` returns where those of a member are, which may be other().
  template <typename Source>
  static void combine(std::byte* result, std::size_t elements, int last, const rma_reducer_t& reducer,
                      const Source& source);
  /// Combines a part of the announced sources, which are all mapped, block by block. `store(begin, block)`
  /// gets each block of the result and its place in the vector, in bytes. If `place` is not null, the blocks
  /// are made at their places there.
  template <typename Store>
  [[nodiscard]] rma_status_t combine_announced(Part part, const rma_reducer_t& reducer, std::byte* place,
                                               const Store& store);
  /// Combines this member's part of a piece into the second half of its scratch.
  void combine_piece(std::size_t begin, std::size_t elements, const rma_reducer_t& reducer);
  /// Copies the parts of a piece's result from the members' scratch.
  void collect_parts(std::byte* to, std::size_t elements, const rma_reducer_t& reducer) const;
  /// The work memory of this member: two blocks of kBlock bytes.
  [[nodiscard]] std::byte* result_block() const { return work_.get(); }
  [[nodiscard]] std::byte* other_block() const { return work_.get() + kBlock; }

  /// Every member combines a piece of up to this size on its own, because that costs less than a second
  /// round.
  static constexpr std::size_t kWholeBytes = 1024;
  /// The largest element that is combined here.
  static constexpr std::size_t kBlock = std::size_t{32} << 10U;
  static constexpr std::size_t kHalf = Buffers::kScratchBytes / 2;
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  Rounds rounds_;
  const Buffers& buffers_;
  AnnouncedBuffers announced_;
  const std::size_t direct_bytes_;
  const std::size_t at_once_bytes_;  ///< an allreduce of up to this size takes one round
  const bool crowded_;               ///< TeamShape::crowded
  const std::size_t staged_piece_;   ///< a piece in the scratch
  const bool one_round_;  ///< rounds are so expensive that each member combines all of a piece by itself
  std::unique_ptr<std::byte, Free> work_;
};

template <typename Step>
Status SharedExchange::for_pieces(std::size_t bytes, std::size_t most, const Step& step) {
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    RMA_TRY(step(begin, std::min(most, bytes - begin)));
  }
  return {};
}

template <typename Fill, typename Drain, typename Whole>
Status SharedExchange::staged(AnnouncedBuffers::Mine mine, bool fills, std::size_t bytes, std::size_t most,
                              const Fill& fill, const Drain& drain, const Whole& whole, bool& done) {
  Scratch scratch(buffers_, fills);
  if (scratch.memory() != nullptr) fill(0, std::min(most, bytes), scratch.memory());
  mine.scratch = scratch.memory();
  mine.lacks_scratch = scratch.lacking();
  RMA_TRY(announced_.announce(mine));
  const bool at_once = whole();
  if (!at_once && !announced_.scratch_there()) {
    scratch.release();
    done = false;
    return {};
  }
  // A half is filled again two pieces later. Before that all members have met twice, as with outboxes
  // (Rounds).
  int half = 0;
  const std::size_t step = at_once ? std::max<std::size_t>(bytes, 1) : most;
  for (std::size_t begin = 0; begin < bytes; begin += step) {
    const std::size_t piece = std::min(step, bytes - begin);
    if (begin != 0) {
      if (scratch.memory() != nullptr) fill(begin, piece, area(member(), half));
      RMA_TRY(rounds_.meet());
    }
    drain(begin, piece, half);
    half = 1 - half;
  }
  Status finished = announced_.finish(RMA_SUCCESS);
  if (finished.ok()) scratch.release();
  return finished;
}

}  // namespace librma
