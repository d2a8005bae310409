#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "util/waiting/wait.hpp"

namespace librma {

/// The decisions that a team's first member makes for all members, because they must agree.
struct TeamShape {
  std::uint32_t members = 1;
  bool flat = false;               ///< members meet by one flag each, not by a counter
  bool crowded = false;            ///< members share processors, so rounds are expensive
  std::uint64_t id = 0;            ///< Team::id()
  std::uint64_t direct_bytes = 0;  ///< collectives from this size on use shared buffers in place
  std::uint32_t schedules = 0;     ///< the context of the team's schedules; 0 if there is none
};

/// The memory that the members of a team share. One MemberBlock for each member follows. rounds.hpp says
/// which member writes where.
struct alignas(64) TeamBlock : TeamShape {
  /// The maximum payload of a round that travels in the cache line of its flag.
  static constexpr std::size_t kInlineBytes = 56;
  /// The maximum payload of a round. Longer data travels in pieces.
  static constexpr std::size_t kPieceBytes = 8192;

  /// The payload comes first, because operators combine elements where they lie: there they are aligned to 64
  /// bytes, as rma_reducer_t says.
  struct alignas(64) Line {
    std::array<std::byte, kInlineBytes> payload = {};
    std::atomic<std::uint64_t> round = 0;
  };
  static_assert(sizeof(Line) == 64);

  /// The maximum payload of a one-way round that does not fit a line.
  static constexpr std::size_t kSlotBytes = 512;
  /// The posts of one-way rounds that a member may have in lines, and in slots, before its readers have read
  /// the first of them. Where ranks share processors, the first member of a scan executes so many scans in
  /// one time slice.
  static constexpr std::uint64_t kOneWayLines = 64;
  static constexpr std::uint64_t kOneWaySlots = 4;

  /// The outboxes of one member. There are two of `lines` and `pieces`, for odd and for even rounds. The
  /// other two are for one-way rounds.
  struct MemberBlock {
    std::array<Line, 2> lines;
    std::array<Line, kOneWayLines> one_way_lines;
    alignas(64) std::atomic<std::uint64_t> read;  ///< the last one-way round that this member has read
    Doorbell doorbell;  ///< those that wait for this member in a one-way round sleep here
    alignas(64) std::array<std::array<std::byte, kSlotBytes>, kOneWaySlots> slots;
    alignas(64) std::array<std::array<std::byte, kPieceBytes>, 2> pieces;
  };

  alignas(64) std::atomic<std::uint64_t> arrived = 0;  ///< counts all rounds together; unused in flat teams
  /// The last round in which all members have arrived; 0 in flat teams. Once the team is closed, this holds
  /// kClosed, the parity of the round that failed, and the missing member, and does not change any more.
  alignas(64) std::atomic<std::uint64_t> released = 0;
  alignas(64) std::atomic<std::uint32_t> joined = 0;  ///< members that have made their team, or could not
  std::atomic<std::uint32_t> failed = 0;              ///< members that could not make their team
  alignas(64) std::atomic<std::uint32_t> left = 0;    ///< members that do not access the block any more
  Doorbell doorbell;                                  ///< all members sleep here, but for one-way rounds

  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63U;
  static constexpr unsigned kParityBit = 32;

  /// Closes the team if `released` is still `before`. `round` has failed because `member` is missing. Wakes
  /// no sleeper.
  void close(int member, std::uint64_t round, std::uint64_t before) {
    // Acquire and release pair with those of other calls and of the member that stores a round.
    released.compare_exchange_strong(before,
                                     kClosed | round % 2 << kParityBit | static_cast<std::uint32_t>(member),
                                     std::memory_order_acq_rel);
  }
  /// Returns whether the team is closed: no round completes any more.
  [[nodiscard]] bool closed() const { return (released.load(std::memory_order_acquire) & kClosed) != 0; }
  /// Returns whether `round` was the one that failed. The caller knows that it was this round or the next.
  [[nodiscard]] bool closed_in(std::uint64_t round) const {
    return released.load(std::memory_order_acquire) >> kParityBit == (kClosed >> kParityBit | round % 2);
  }
  /// Returns the member that a closed team lacks. Another process wrote it, so the caller checks it.
  [[nodiscard]] std::uint32_t lacking() const {
    return static_cast<std::uint32_t>(released.load(std::memory_order_acquire));
  }

  [[nodiscard]] static constexpr std::size_t bytes_for(std::uint32_t members) {
    return sizeof(TeamBlock) + members * sizeof(MemberBlock);
  }
  /// Makes a block in `memory`, which has bytes_for(shape.members) bytes, is aligned to 64, and may hold
  /// anything.
  static TeamBlock& make(std::byte* memory, const TeamShape& shape);

  [[nodiscard]] MemberBlock& member(int index) { return reinterpret_cast<MemberBlock*>(this + 1)[index]; }

 private:
  explicit TeamBlock(const TeamShape& shape) : TeamShape(shape) {}
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "these are shared between processes");

}  // namespace librma
