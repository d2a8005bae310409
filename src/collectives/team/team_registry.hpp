#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "util/rank_map.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

/// Names the call that makes a team, alike on all members: split number `split`, counted from 1, of the team
/// with id `parent`. Both are 0 for a team made from a list, which has no parent.
struct TeamOrigin {
  std::uint64_t parent = 0;
  std::uint64_t split = 0;
};

/// The key by which the members of a new team find each other: a hash of 128 bits of its origin and its list
/// of ranks.
///
/// Every split has a key of its own, because a team's id is unique and its members split it in one order.
/// Teams made from the same list have the same key, so a process makes only one of them at a time (Turns).
struct TeamKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  [[nodiscard]] static TeamKey of(const RankView& ranks, const TeamOrigin& origin = {});
  auto operator<=>(const TeamKey&) const = default;  // NOLINT(modernize-use-nullptr): it sees a 0 there
};

/// The registry in which a process posts the teams whose first member it is, so that the other members find
/// them. It lies in shared memory, and all zero is empty.
///
/// A posting stands in a slot from post() until all other members have called take() for it. Neither call
/// returns before the posting is withdrawn. So a member that comes back with the same list never finds the
/// previous posting, and postings with the same key never stand side by side.
///
/// A member may end in between. Only the owner withdraws a posting, so all surviving members agree on its
/// fate. If the owner withdraws it before all have taken it, it first marks the block that it has posted.
/// Members that have taken the posting see the mark. Members that come later find no posting and find that a
/// member has ended.
class TeamRegistry {
 public:
  /// Returns whether a process has ended that the thread waits for. A sleeping thread calls this from time to
  /// time.
  using Lost = std::function<bool()>;
  /// Says what a call waits for (wait_unless).
  using Describe = std::function<void(WaitNote& note)>;

  /// Posts `block` under `key`. Returns when `takers` other members have taken it, or when `lost()` returns
  /// true; some may have taken it in that case too. The owner's threads call it. If kSlots of them are in
  /// this call, the next waits for a free slot.
  void post(
      const TeamKey& key, std::uint64_t block, std::uint32_t takers, const WaitPolicy& policy,
      const Lost& lost, const Describe& describe = [](WaitNote& /*note*/) {});

  /// Waits for the posting under `key`, takes it, and waits until it is withdrawn. Returns its block.
  /// @param member_lost  returns whether a member has ended; there will then be no posting, or the owner
  ///                     withdraws it
  /// @param owner_lost   returns whether the owner has ended, so that it withdraws nothing
  /// @return no value if one of these has ended the wait
  [[nodiscard]] std::optional<std::uint64_t> take(
      const TeamKey& key, const WaitPolicy& policy, const Lost& member_lost, const Lost& owner_lost,
      const Describe& describe = [](WaitNote& /*note*/) {});

  /// Returns the doorbell at which this process and the other members wait for changes to this process's
  /// blocks.
  [[nodiscard]] Doorbell& doorbell() { return doorbell_; }

 private:
  static constexpr std::size_t kSlots = 64;

  /// Only the owner writes to a slot, except that takers count themselves in `posting`.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> claimed = 0;  ///< 1 while a thread of the owner has the slot
    /// The upper bits are the posting's number, which is odd while there is something to take and is never
    /// used again. The lower kTakenBits count the members that have taken it. Both share one word, so that no
    /// member takes a posting that was withdrawn.
    std::atomic<std::uint64_t> posting = 0;
    std::atomic<std::uint64_t> high = 0;
    std::atomic<std::uint64_t> low = 0;
    std::atomic<std::uint64_t> block = 0;
  };

  static constexpr unsigned kTakenBits = 24;
  [[nodiscard]] static std::uint64_t number(std::uint64_t posting) { return posting >> kTakenBits; }

  /// The result of take_from(): the posting's number and block, or number 0 if the slot has no posting under
  /// the key.
  struct Taken {
    std::uint64_t number = 0;
    std::uint64_t block = 0;
  };
  [[nodiscard]] static Taken take_from(Slot& slot, const TeamKey& key);

  Doorbell doorbell_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace librma
