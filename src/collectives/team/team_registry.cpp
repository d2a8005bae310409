#include "collectives/team/team_registry.hpp"

namespace librma {
namespace {

/// Mixes `value` into the running hash by the finaliser of SplitMix64. Every bit of `value` affects every bit
/// of the result.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t mixed = (hash ^ value) + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31U);
}

}  // namespace

TeamKey TeamKey::of(const RankView& ranks, const TeamOrigin& origin) {
  TeamKey key = {.high = 1, .low = 2};
  const auto add = [&](std::uint64_t value) {
    key.high = mix(key.high, value);
    key.low = mix(key.low, value);
  };
  add(origin.parent);
  add(origin.split);
  add(static_cast<std::uint64_t>(ranks.size()));
  for (const int rank : ranks) add(static_cast<std::uint64_t>(rank));
  return key;
}

void TeamRegistry::post(const TeamKey& key, std::uint64_t block, std::uint32_t takers,
                        const WaitPolicy& policy, const Lost& lost, const Describe& describe) {
  const auto described = [&describe](WaitNote& note) { describe(note); };
  Slot* mine = nullptr;
  wait_until(
      doorbell_, policy,
      [&] {
        for (Slot& slot : slots_) {
          // Acquire pairs with the release below, of the thread that had the slot before.
          if (slot.claimed.exchange(1, std::memory_order_acquire) == 0) {
            mine = &slot;
            return true;
          }
        }
        return false;
      },
      Waker::always, described);
  // Release: a thread that sees one of these stores (take_from) also sees that the previous posting is
  // withdrawn.
  mine->high.store(key.high, std::memory_order_release);
  mine->low.store(key.low, std::memory_order_release);
  mine->block.store(block, std::memory_order_release);
  const std::uint64_t number = TeamRegistry::number(mine->posting.load(std::memory_order_relaxed)) + 1;
  const std::uint64_t posting = number << kTakenBits;
  mine->posting.store(posting, std::memory_order_release);  // pairs with the first load in take_from
  doorbell_.wake();
  const auto all_taken = [&] {
    // Acquire pairs with the increment in take_from.
    return mine->posting.load(std::memory_order_acquire) == posting + takers;
  };
  static_cast<void>(wait_unless(doorbell_, policy, all_taken, lost, Waker::mortal, described));
  // The release pairs with the last load in take(). A taker's increment comes before this step, or fails.
  mine->posting.exchange((number + 1) << kTakenBits, std::memory_order_acq_rel);
  mine->claimed.store(0, std::memory_order_release);
  doorbell_.wake();
}

TeamRegistry::Taken TeamRegistry::take_from(Slot& slot, const TeamKey& key) {
  std::uint64_t posting = slot.posting.load(std::memory_order_acquire);
  if (number(posting) % 2 == 0) return {};
  // If one of these loads reads a value of a later posting, the thread sees `posting` advanced (acquire), and
  // the exchange below fails.
  if (slot.high.load(std::memory_order_acquire) != key.high) return {};
  if (slot.low.load(std::memory_order_acquire) != key.low) return {};
  const Taken taken = {.number = number(posting), .block = slot.block.load(std::memory_order_acquire)};
  // The exchange also fails when other members take the posting at the same time; then it is tried again.
  while (!slot.posting.compare_exchange_weak(posting, posting + 1, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
    if (number(posting) != taken.number) return {};
  }
  return taken;
}

std::optional<std::uint64_t> TeamRegistry::take(const TeamKey& key, const WaitPolicy& policy,
                                                const Lost& member_lost, const Lost& owner_lost,
                                                const Describe& describe) {
  const auto described = [&describe](WaitNote& note) { describe(note); };
  Slot* from = nullptr;
  Taken taken;
  const auto found = [&] {
    for (Slot& slot : slots_) {
      taken = take_from(slot, key);
      if (taken.number == 0) continue;
      from = &slot;
      return true;
    }
    return false;
  };
  if (!wait_unless(doorbell_, policy, found, member_lost, Waker::mortal, described)) return std::nullopt;
  doorbell_.wake();
  const auto withdrawn = [&] {
    return number(from->posting.load(std::memory_order_acquire)) != taken.number;
  };
  if (!wait_unless(doorbell_, policy, withdrawn, owner_lost, Waker::mortal, described)) return std::nullopt;
  return taken.block;
}

}  // namespace librma
