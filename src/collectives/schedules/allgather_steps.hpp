#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

namespace librma {

/// One step of an allgather, as one member executes it: it sends `count` consecutive blocks to `to`, and
/// receives as many from `from`. Block numbers go on at 0 after the last one.
struct AllgatherStep {
  int to = 0;
  int from = 0;
  std::size_t out_first = 0;  ///< the first block that it sends
  std::size_t in_first = 0;   ///< the first block that it receives
  std::size_t count = 0;
};

/// The steps of one member of an allgather. All members execute the same number of steps. If a step of member
/// a has member b as `to`, the same step of b has a as `from`.
///
/// | way | steps | step k |
/// |---|---|---|
/// | doubling | log2(members), a whole number | partners at distance 2^k exchange the 2^k blocks that each
/// has |
/// | bruck | log2(members), rounded up | the member 2^k above sends the blocks that follow one's own |
/// | ring | members - 1 | each block goes to the next member |
///
/// (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005, section
/// 4.1.)
class AllgatherSteps {
 public:
  enum class Way { doubling, bruck, ring };

  AllgatherSteps(int member, int members, bool ring)
      : me_(static_cast<std::size_t>(member)),
        all_(static_cast<std::size_t>(members)),
        way_(ring                        ? Way::ring
             : std::has_single_bit(all_) ? Way::doubling
                                         : Way::bruck) {}

  [[nodiscard]] Way way() const { return way_; }
  [[nodiscard]] std::size_t number() const {
    return way_ == Way::ring ? all_ - 1 : static_cast<std::size_t>(std::bit_width(all_ - 1));
  }

  [[nodiscard]] AllgatherStep step(std::size_t k) const {
    if (way_ == Way::ring) {
      return {.to = member((me_ + 1) % all_),
              .from = member((me_ + all_ - 1) % all_),
              .out_first = (me_ + all_ - k) % all_,
              .in_first = (me_ + 2 * all_ - k - 1) % all_,
              .count = 1};
    }
    const std::size_t distance = std::size_t{1} << k;
    if (way_ == Way::doubling) {
      const std::size_t partner = me_ ^ distance;
      return {.to = member(partner),
              .from = member(partner),
              .out_first = me_ & ~(distance - 1),
              .in_first = partner & ~(distance - 1),
              .count = distance};
    }
    return {.to = member((me_ + all_ - distance) % all_),
            .from = member((me_ + distance) % all_),
            .out_first = me_,
            .in_first = (me_ + distance) % all_,
            .count = std::min(distance, all_ - distance)};
  }

  /// Returns the first of the steps that move more than `most` bytes in blocks of `bytes` bytes; number() if
  /// no step does. A ring copies no step, so its first one counts as longer.
  [[nodiscard]] std::size_t first_longer(std::size_t most, std::size_t bytes) const {
    if (way_ == Way::ring) return 0;
    std::size_t k = 0;
    while (k < number() && step(k).count * bytes <= most) ++k;
    return k;
  }

  /// Returns the place, counted in blocks, of `block` in a collective buffer that has the blocks of the first
  /// `steps` steps. The blocks that a member sends in such a step follow each other there, and so do those
  /// that it receives. There are at most kLongestSteps times as many places as the longest of these steps
  /// moves blocks: before the last step a member has twice as many as the step before it moved, and the last
  /// step of Bruck's algorithm, which may be shorter, adds its own.
  [[nodiscard]] std::size_t place(std::size_t block, std::size_t steps) const {
    return way_ == Way::doubling ? block & ((std::size_t{1} << steps) - 1) : (block + all_ - me_) % all_;
  }
  static constexpr std::size_t kLongestSteps = 3;
  /// Returns the place, in the collective buffer of `to`, of the blocks that this member sends in step `k`.
  [[nodiscard]] std::size_t landing(std::size_t k, std::size_t steps) const {
    return way_ == Way::doubling ? place(step(k).out_first, steps) : std::size_t{1} << k;
  }

 private:
  [[nodiscard]] static int member(std::size_t number) { return static_cast<int>(number); }

  std::size_t me_;
  std::size_t all_;
  Way way_;
};

/// Consecutive blocks of a result: one range of bytes or two, because they may go on at its beginning.
class BlockRanges {
 public:
  struct Range {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  /// `count` of `all` blocks, from number `first` on. Block i begins at `offset(i)`, and the last one ends at
  /// `offset(all)`.
  template <typename Offset>
  BlockRanges(std::size_t first, std::size_t count, std::size_t all, const Offset& offset) {
    const std::size_t before_end = std::min(count, all - first);
    ranges_ = {Range{offset(first), offset(first + before_end) - offset(first)},
               Range{0, offset(count - before_end)}};
    used_ = before_end < count ? 2 : 1;
  }
  /// Makes the ranges of blocks that have `bytes` bytes each.
  BlockRanges(std::size_t first, std::size_t count, std::size_t all, std::size_t bytes)
      : BlockRanges(first, count, all, [bytes](std::size_t block) { return block * bytes; }) {}

  [[nodiscard]] std::span<const Range> all() const { return std::span(ranges_).first(used_); }

 private:
  std::array<Range, 2> ranges_;
  std::size_t used_;
};

}  // namespace librma
