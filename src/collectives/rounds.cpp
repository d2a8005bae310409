#include "collectives/rounds.hpp"

#include <new>

namespace rma {

TeamBlock& TeamBlock::make(std::byte* memory, const TeamShape& shape) {
  auto* const block = new (memory) TeamBlock(shape);
  for (std::uint32_t i = 0; i < shape.members; ++i) {
    new (&block->member(static_cast<int>(i)).lines) std::array<Line, 2>();
  }
  return *block;
}

void Rounds::meet() {
  if (members_ == 1) {
    ++met_;
  } else if (block_.flat) {
    meet_flat();
  } else {
    meet_counting();
  }
}

void Rounds::meet_flat() {
  const std::uint64_t round = ++met_;
  const auto flag = [&](int member) -> std::atomic<std::uint64_t>& {
    return block_.member(member).lines[round % 2].round;
  };
  // Releases the outbox to the acquire loads below, of the others. The exchange, and the loads up to the
  // bell, are in the one order of all sequentially consistent operations, as is a sleeper's increment of
  // `sleepers` (wait_until), which is followed by a look at the flags. Hence of all that arrive, the last
  // sees everyone's flag, and every sleeper whose look came too early to see that last one.
  flag(member_).exchange(round, std::memory_order_seq_cst);
  if (block_.bell.sleepers.load(std::memory_order_seq_cst) != 0) {
    int arrived = 0;
    while (arrived < members_ && flag(arrived).load(std::memory_order_seq_cst) == round) ++arrived;
    if (arrived == members_) block_.bell.ring_ordered();
  }
  int next = 0;  // all before it have arrived
  wait_until(block_.bell, policy_, [&] {
    while (next < members_ && flag(next).load(std::memory_order_acquire) == round) ++next;
    return next == members_;
  });
}

void Rounds::meet_counting() {
  const std::uint64_t round = ++met_;
  const std::uint64_t all = round * static_cast<std::uint64_t>(members_);
  // Releases this member's outbox to who comes last, who acquires them all, and passes them on by the store.
  if (block_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
    block_.released.store(round, std::memory_order_release);  // pairs with the load below
    block_.bell.ring();
    return;
  }
  wait_until(block_.bell, policy_, [&] { return block_.released.load(std::memory_order_acquire) == round; });
}

}  // namespace rma
