#include "collectives/board.hpp"

namespace rma {
namespace {

/// The finaliser of SplitMix64 over the running hash: every bit of `value` reaches every bit of the result.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t mixed = (hash ^ value) + 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31U);
}

}  // namespace

TeamKey TeamKey::of(std::span<const int> ranks, const TeamOrigin& origin) {
  TeamKey key = {.high = 1, .low = 2};
  const auto add = [&](std::uint64_t value) {
    key.high = mix(key.high, value);
    key.low = mix(key.low, value);
  };
  add(origin.parent);
  add(origin.split);
  add(ranks.size());
  for (const int rank : ranks) add(static_cast<std::uint64_t>(rank));
  return key;
}

void TeamBoard::post(const TeamKey& key, std::uint64_t block, std::uint32_t takers,
                     const WaitPolicy& policy) {
  Slot* mine = nullptr;
  wait_until(bell_, policy, [&] {
    for (Slot& slot : slots_) {
      // Acquire pairs with the release below, of the thread that had the slot before.
      if (slot.claimed.exchange(1, std::memory_order_acquire) == 0) {
        mine = &slot;
        return true;
      }
    }
    return false;
  });
  // Release: who sees one of these (posting_in) also sees that the posting before is withdrawn.
  mine->high.store(key.high, std::memory_order_release);
  mine->low.store(key.low, std::memory_order_release);
  mine->block.store(block, std::memory_order_relaxed);
  mine->taken.store(0, std::memory_order_relaxed);
  mine->posting.fetch_add(1, std::memory_order_release);  // pairs with the first load in posting_in
  bell_.ring();
  // Acquire pairs with the increment in take().
  wait_until(bell_, policy, [&] { return mine->taken.load(std::memory_order_acquire) == takers; });
  mine->posting.fetch_add(1, std::memory_order_release);  // pairs with the last load in take()
  mine->claimed.store(0, std::memory_order_release);
  bell_.ring();
}

std::uint64_t TeamBoard::posting_in(const Slot& slot, const TeamKey& key) {
  const std::uint64_t posting = slot.posting.load(std::memory_order_acquire);
  if (posting % 2 == 0) return 0;
  // A key of a later posting is noticed: whoever acquires it sees `posting` advanced.
  if (slot.high.load(std::memory_order_acquire) != key.high) return 0;
  if (slot.low.load(std::memory_order_acquire) != key.low) return 0;
  return slot.posting.load(std::memory_order_relaxed) == posting ? posting : 0;
}

std::uint64_t TeamBoard::take(const TeamKey& key, const WaitPolicy& policy) {
  Slot* found = nullptr;
  std::uint64_t posting = 0;
  wait_until(bell_, policy, [&] {
    for (Slot& slot : slots_) {
      posting = posting_in(slot, key);
      if (posting == 0) continue;
      found = &slot;
      return true;
    }
    return false;
  });
  // It stays as it is until we have taken it.
  const std::uint64_t block = found->block.load(std::memory_order_relaxed);
  found->taken.fetch_add(1, std::memory_order_release);
  bell_.ring();
  wait_until(bell_, policy, [&] { return found->posting.load(std::memory_order_acquire) != posting; });
  return block;
}

}  // namespace rma
