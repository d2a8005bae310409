#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "util/wait.hpp"

namespace rma {

/// The call that makes a team, called the same by all members: the split of this number, from 1, of the team
/// of this id; both 0 for a team made from a list, which has no parent.
struct TeamOrigin {
  std::uint64_t parent = 0;
  std::uint64_t split = 0;
};

/// What the members of a team that is being made find each other by: its origin and its list of ranks. Two
/// with the same key would have to agree in 128 bits of hash.
///
/// Splits have keys of their own, since a team's id is its own and its members split it in one order. Teams
/// made from one list have the same key, so a process makes one of them at a time (Turns).
struct TeamKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  [[nodiscard]] static TeamKey of(std::span<const int> ranks, const TeamOrigin& origin = {});
  auto operator<=>(const TeamKey&) const = default;  // NOLINT(modernize-use-nullptr): it sees a 0 there
};

/// Where a process posts the teams whose first member it is, for the other members to find. Lies in shared
/// memory; all zero is empty.
///
/// A posting stands in a slot from post() until all others have called take() for it, and no call returns
/// before it is withdrawn. So a member that comes back with the same list never finds the previous posting,
/// and postings with the same key never stand side by side.
///
/// Members may end on the way. Only the owner withdraws a posting, so all whom it outlives agree on what
/// became of it: the owner marks what it has posted before it withdraws it too early, and who has taken it
/// by then looks at that. Who comes later finds nothing, and that a member has ended.
class TeamBoard {
 public:
  /// Asked now and then by those who sleep, whether somebody has ended who is waited for.
  using Lost = std::function<bool()>;

  /// Posts `block` under `key` and returns once `takers` others have taken it, or `lost()`: then others may
  /// have taken it. Called by the owner's threads; waits for a free slot when kSlots of them are in this
  /// call.
  void post(const TeamKey& key, std::uint64_t block, std::uint32_t takers, const WaitPolicy& policy,
            const Lost& lost);

  /// Waits for the posting under `key`, and until it is withdrawn: its block.
  /// @param member_lost  some member has ended: there will be no posting, or the owner withdraws it
  /// @param owner_lost   the owner has ended, and will withdraw nothing
  /// @return nothing where the wait ended by one of these
  [[nodiscard]] std::optional<std::uint64_t> take(const TeamKey& key, const WaitPolicy& policy,
                                                  const Lost& member_lost, const Lost& owner_lost);

  /// Where this process waits for what others do to blocks that it owns, and they for it.
  [[nodiscard]] Doorbell& bell() { return bell_; }

 private:
  static constexpr std::size_t kSlots = 64;

  /// Written by the owner, except that others count themselves in `posting`.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> claimed = 0;  ///< by a thread of the owner
    /// The number of the posting, odd while there is something to take and never the same again, and in the
    /// lower kTakenBits how many have taken it. In one word, so that nobody takes what was withdrawn.
    std::atomic<std::uint64_t> posting = 0;
    std::atomic<std::uint64_t> high = 0;
    std::atomic<std::uint64_t> low = 0;
    std::atomic<std::uint64_t> block = 0;
  };

  static constexpr unsigned kTakenBits = 24;
  [[nodiscard]] static std::uint64_t number(std::uint64_t posting) { return posting >> kTakenBits; }

  /// Takes what `slot` has under `key`: the posting's number and block; number 0 where it has no such.
  struct Taken {
    std::uint64_t number = 0;
    std::uint64_t block = 0;
  };
  [[nodiscard]] static Taken take_from(Slot& slot, const TeamKey& key);

  Doorbell bell_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace rma
