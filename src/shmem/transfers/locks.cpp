// Distributed locks, as queues: J. Mellor-Crummey and M. Scott, Algorithms for scalable synchronization on
// shared-memory multiprocessors, ACM TOCS 9(1), 1991, section 2.4.
//
// Any symmetric long that is zero on all PEs is a free lock. Its two halves are words of their own. The first
// word counts on PE 0 only: it names the PE at the queue's end. The second word is a PE's place in the queue:
// the PE behind it, and whether this PE still waits. A waiting PE looks at its own word only.

#include "shmem/transfers/locks.hpp"

#include "rma/rma.h"
#include "shmem/transfers/atomics.hpp"
#include "shmem/transfers/waits.hpp"

namespace librma::shmem {
namespace {

static_assert(sizeof(long) == 2 * sizeof(std::uint32_t));

constexpr int kHome = 0;
/// The mark of a PE that waits. The other bits of a place hold the number of the PE behind, counted from 1.
constexpr std::uint32_t kWaits = 1U << 31U;

struct Words {
  std::uint32_t* tail;
  std::uint32_t* place;
};

Words words_of(long* lock) {
  auto* const words = reinterpret_cast<std::uint32_t*>(lock);
  return {.tail = words, .place = words + 1};
}

std::uint32_t own_number() { return static_cast<std::uint32_t>(job.me) + 1; }
int pe_of(std::uint32_t number) { return static_cast<int>(number - 1); }

std::uint32_t change(Call call, rma_atomic_op_t op, std::uint32_t* word, std::uint32_t operand, int pe) {
  return update<std::uint32_t>(call, op, word, operand, 0, pe);
}

/// Waits until `met(place)` is true of this PE's own place.
template <typename Met>
std::uint32_t wait_at(Call call, const std::uint32_t* place, const Met& met) {
  std::uint32_t seen = 0;
  auto condition = [&] {
    seen = load(place);
    return met(seen);
  };
  if (condition()) return seen;
  const auto called = [](void* context) { return (*static_cast<decltype(condition)*>(context))() ? 1 : 0; };
  require(rma_wait_for(called, &condition), call);
  return seen;
}

/// See find_pe_in_front().
thread_local int pe_in_front = -1;

}  // namespace

int find_pe_in_front() { return pe_in_front; }

void set_lock(Call call, long* lock) {
  require_initialized(call);
  const auto [tail, place] = words_of(lock);
  change(call, RMA_SET, place, kWaits, job.me);
  const std::uint32_t before = change(call, RMA_SWAP, tail, own_number(), kHome);
  if (before == 0) return;
  if (before == own_number())
    die(call, fmt::format("this PE holds the lock at {} already", static_cast<void*>(lock)));
  // Tells the PE in front who is behind it. That PE takes the mark away when it unlocks.
  change(call, RMA_OR, place, own_number(), pe_of(before));
  pe_in_front = pe_of(before);
  wait_at(call, place, [](std::uint32_t seen) { return (seen & kWaits) == 0; });
  pe_in_front = -1;
}

int test_lock(Call call, long* lock) {
  require_initialized(call);
  const auto [tail, place] = words_of(lock);
  const auto end = change(call, RMA_FETCH, tail, 0, kHome);
  // The place may be in use if this PE holds the lock.
  if (end != 0) return 1;
  change(call, RMA_SET, place, kWaits, job.me);
  if (update<std::uint32_t>(call, RMA_COMPARE_SWAP, tail, own_number(), 0, kHome) == 0) return 0;
  // Another PE was faster. This one is not in the queue, so nobody else looks at its place.
  change(call, RMA_SET, place, 0, job.me);
  return 1;
}

void clear_lock(Call call, long* lock) {
  require_initialized(call);
  const auto [tail, place] = words_of(lock);
  // The next holder sees what this PE has written.
  require(rma_fence_all(), call);
  std::uint32_t next = load(place) & ~kWaits;
  if (next == 0) {
    const auto end = update<std::uint32_t>(call, RMA_COMPARE_SWAP, tail, 0, own_number(), kHome);
    if (end == own_number()) {
      // Nobody is behind. An unlocked lock is zero.
      change(call, RMA_SET, place, 0, job.me);
      return;
    }
    if (end == 0) die(call, fmt::format("this PE does not hold the lock at {}", static_cast<void*>(lock)));
    // A PE has entered the queue and will soon say that it is behind this one.
    next = wait_at(call, place, [](std::uint32_t seen) { return (seen & ~kWaits) != 0; }) & ~kWaits;
  }
  change(call, RMA_SET, place, 0, job.me);
  change(call, RMA_AND, place, ~kWaits, pe_of(next));
}

}  // namespace librma::shmem
