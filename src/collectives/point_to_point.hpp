#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/point_to_point_block.hpp"
#include "collectives/team_transport.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// Messages between members of a team that may be on different hosts. Each member has channels to and from
/// the members at distances of a power of two, around the ring of members. Everything goes by
/// TeamTransport::put into the receiver's PointToPointBlock.
///
/// A channel's messages are numbered from 1 and use its two slots in turn:
///  - The sender writes message s into slot s % 2 and then `arrived` of that slot, in the receiver's block.
///  - When the receiver is done with the message, it writes `taken` of that slot in the sender's block.
///  - The sender waits for `taken` of s before it sends s + 2. So it never overwrites a message that the
///    receiver still reads, and no word ever has two writes under way. The order in which a network completes
///    writes does not matter, as long as a flag follows its own data.
///
/// A failure makes the whole team unusable, because members would no longer agree on the next message. A
/// member that finds the failure writes `failure` at the other ends of its channels, and every member that
/// learns of it does the same.
///
/// One thread at a time uses it. The class knows no job: a member may also be a thread.
class PointToPoint {
 public:
  /// `memory` is this member's block. It and `transport` outlive the object. Failures that this member
  /// reports name `rank`.
  PointToPoint(std::byte* memory, int member, int members, int rank, TeamTransport& transport);

  [[nodiscard]] int member() const { return member_; }
  [[nodiscard]] int members() const { return members_; }
  /// Returns the number of distances: channels exist for every k below it.
  [[nodiscard]] int distances() const { return distances_; }

  /// Sends `bytes` bytes, up to PointToPointBlock::kPieceBytes, to the member 2^k away. Waits for a free
  /// slot.
  [[nodiscard]] Status send(int k, Direction direction, const void* data, std::size_t bytes);

  /// Waits for the next message by (k, direction), which comes from the member 2^k away on the other side.
  /// The message stays at `*data`, aligned to 64 bytes, until done().
  [[nodiscard]] Status receive(int k, Direction direction, const std::byte** data);
  [[nodiscard]] Status done(int k, Direction direction);

  /// Executes a barrier.
  [[nodiscard]] Status meet();

  /// Ends the use of the team. Every member calls it last, also a member for which the team has failed. After
  /// success no member writes into this member's block any more; after a failure one still might.
  [[nodiscard]] Status part();

 private:
  /// This member's place in one channel.
  struct Progress {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uintptr_t to = 0;  ///< block of the member that our messages go to; 0 until it is known
  };

  [[nodiscard]] static std::size_t index(int k, Direction direction) {
    return 2 * static_cast<std::size_t>(k) + static_cast<std::size_t>(direction);
  }
  [[nodiscard]] int partner(int k, Direction direction) const;
  /// Returns the address of the block of partner(k, direction).
  [[nodiscard]] Result<std::uintptr_t> block(int k, Direction direction);
  [[nodiscard]] const PointToPointBlock::Channel& channel(std::size_t index) const;
  [[nodiscard]] std::uint64_t failure_word() const;

  /// Waits for `condition` on words of this member's block that `member` writes. All waits of members for
  /// each other happen here.
  template <typename Condition>
  [[nodiscard]] Status wait(int member, const Condition& condition);
  /// Waits for `word` to be `value`.
  [[nodiscard]] Status wait(const std::uint64_t& word, std::uint64_t value, int member);
  /// Writes `data` to offset `to`, and then `value` to offset `flag`, of the block of partner(k, direction).
  [[nodiscard]] Status put(int k, Direction direction, std::size_t to, const void* data, std::size_t bytes,
                           std::size_t flag, std::uint64_t value);
  /// Makes the team unusable here and tells the partners.
  [[nodiscard]] Status fail(Status reason);
  /// Returns the first failure that fail() was called with, by this member or another; success if
  /// there is none.
  [[nodiscard]] Status failed();

  std::byte* const memory_;
  const int member_;
  const int members_;
  const int distances_;
  const int rank_;
  TeamTransport& transport_;
  std::uint64_t met_ = 0;  ///< barriers so far
  std::vector<Progress> progress_;
  bool broken_ = false;
};

}  // namespace rma
