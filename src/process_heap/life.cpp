#include "process_heap/life.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "process_heap/arenas.hpp"
#include "process_heap/fork.hpp"
#include "process_heap/next.hpp"
#include "process_heap/populated.hpp"
#include "process_heap/range.hpp"
#include "process_heap/rule.hpp"

namespace librma::process_heap {
namespace {

enum class Life : unsigned char {
  fresh,     ///< nothing is decided
  waiting,   ///< until librma is loaded
  deciding,  ///< a thread does so; others' blocks are the C library's meanwhile
  over       ///< there is a process heap, or there will be none
};
constinit std::atomic<Life> life = Life::fresh;
constinit const char* reason = nullptr;  // written before `life` is `over`

/// Returns why the process heap could not begin, or null.
const char* begin() noexcept {
  if (const char* const refusal = range.reserve(); refusal != nullptr) return refusal;
  populated.watch(range.heap().base, range.heap().bytes);
  copy_at_fork();
  if (!take_from_range()) return "jemalloc takes no memory from it";
  // Release: a thread that sees it has jemalloc ready. Pairs with the acquire in begin_for().
  least_private.store(kLeastPrivate, std::memory_order_release);
  return nullptr;
}

/// Decides in the state `from`, unless another thread does so.
void decide(Life from, bool wanted) noexcept {
  if (!life.compare_exchange_strong(from, Life::deciding, std::memory_order_acquire)) return;
  const int error_number = errno;
  const Objection objection = object_to_process_heap(wanted);
  reason = objection.reason != nullptr ? objection.reason : begin();
  errno = error_number;
  const bool waits = objection.reason != nullptr && !objection.for_good;
  // Release: pairs with the acquire of those who read `reason`.
  life.store(waits ? Life::waiting : Life::over, std::memory_order_release);
}

}  // namespace

constinit std::atomic<std::size_t> least_private = 0;

bool begin_for(std::size_t bytes) noexcept {
  // The dynamic loader allocates before the C library knows the environment.
  const Life now = life.load(std::memory_order_relaxed);
  if (now == Life::fresh && environ != nullptr) decide(Life::fresh, is_demanded());
  if (now == Life::deciding) note_call_of_malloc();
  return bytes < least_private.load(std::memory_order_acquire);
}

void limit_blocks(std::size_t bytes) noexcept {
  // Relaxed: which allocator a block comes from concerns no other memory.
  least_private.store(std::min(bytes, least_private.load(std::memory_order_relaxed)),
                      std::memory_order_relaxed);
}

const char* begin_for_librma() noexcept {
  decide(Life::fresh, true);
  decide(Life::waiting, true);
  if (life.load(std::memory_order_acquire) != Life::over) return "another thread makes it at this moment";
  return reason;
}

}  // namespace librma::process_heap
