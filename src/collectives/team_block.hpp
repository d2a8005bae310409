#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "util/wait.hpp"

namespace rma {

/// What a team's maker decides for all of its members, because they must agree.
struct TeamShape {
  std::uint32_t members = 1;
  bool flat = false;               ///< members meet by one flag each, not by a counter
  std::uint64_t id = 0;            ///< Team::id()
  std::uint64_t direct_bytes = 0;  ///< collectives from this size on use shared buffers in place
};

/// What the members of a team share, followed by one MemberBlock each. Who writes what is said in rounds.hpp.
struct alignas(64) TeamBlock : TeamShape {
  /// Payload of a round that travels in the line of its flag.
  static constexpr std::size_t kInlineBytes = 56;
  /// Payload of a round at most. Longer data travels in pieces.
  static constexpr std::size_t kPieceBytes = 8192;

  struct alignas(64) Line {
    std::atomic<std::uint64_t> round = 0;
    std::array<std::byte, kInlineBytes> payload = {};
  };
  static_assert(sizeof(Line) == 64);

  /// One member's. Everything is there twice, for odd and even rounds.
  struct MemberBlock {
    std::array<Line, 2> lines;
    alignas(64) std::array<std::array<std::byte, kPieceBytes>, 2> pieces;
  };

  alignas(64) std::atomic<std::uint64_t> arrived = 0;  ///< of all rounds together; in teams that are not flat
  /// The last round that all arrived in, in teams that are not flat; else 0. Once the team is closed, for
  /// good: kClosed, the parity of the round that failed, and the member that it lacked.
  alignas(64) std::atomic<std::uint64_t> released = 0;
  alignas(64) std::atomic<std::uint32_t> joined = 0;  ///< members that have made their team, or could not
  std::atomic<std::uint32_t> failed = 0;              ///< of these, those that could not
  alignas(64) std::atomic<std::uint32_t> left = 0;    ///< members that will not look at the block any more
  Doorbell bell;                                      ///< where all members sleep

  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63U;
  static constexpr unsigned kParityBit = 32;

  /// Closes the team, because `round` fails for lack of `member`, where `released` is `before` still. Rings
  /// nobody.
  void close(int member, std::uint64_t round, std::uint64_t before) {
    // Acquire and release pair with those of other calls and of who stores a round.
    released.compare_exchange_strong(before,
                                     kClosed | round % 2 << kParityBit | static_cast<std::uint32_t>(member),
                                     std::memory_order_acq_rel);
  }
  /// No round will be complete any more.
  [[nodiscard]] bool closed() const { return (released.load(std::memory_order_acquire) & kClosed) != 0; }
  /// Whether it was `round` that failed, for a member to which it is either that one or the next.
  [[nodiscard]] bool closed_in(std::uint64_t round) const {
    return released.load(std::memory_order_acquire) >> kParityBit == (kClosed >> kParityBit | round % 2);
  }
  /// The member that a closed team lacks; as little to be believed as all that others write.
  [[nodiscard]] std::uint32_t lacking() const {
    return static_cast<std::uint32_t>(released.load(std::memory_order_acquire));
  }

  [[nodiscard]] static constexpr std::size_t bytes_for(std::uint32_t members) {
    return sizeof(TeamBlock) + members * sizeof(MemberBlock);
  }
  /// A block in `memory`, of bytes_for(shape.members) bytes, aligned to 64, of any contents.
  static TeamBlock& make(std::byte* memory, const TeamShape& shape);

  [[nodiscard]] MemberBlock& member(int index) { return reinterpret_cast<MemberBlock*>(this + 1)[index]; }

 private:
  explicit TeamBlock(const TeamShape& shape) : TeamShape(shape) {}
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "these are shared between processes");

}  // namespace rma
