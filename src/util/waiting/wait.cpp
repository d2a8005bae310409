#include "util/waiting/wait.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "util/clock.hpp"
#include "util/waiting/futex.hpp"

namespace librma {
namespace {

long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

constinit YieldPatience patience;

}  // namespace

bool yield_processor() {
  const std::int64_t begin = monotonic_nanoseconds();
  if (!patience.yields(begin)) return false;
  sched_yield();
  const std::int64_t end = monotonic_nanoseconds();
  patience.yielded(begin, end);
  return patience.yields(end);
}

bool Doorbell::Sleeper::sleep(std::uint32_t seen, bool drives, bool asks) {
  static_assert(kMortalNap <= kLongWait);
  if (waker_ == Waker::always && !drives && !asks) {
    futex_wait(doorbell_.wakeups, seen);
    return false;
  }
  const std::int64_t now = monotonic_nanoseconds();
  if (first_ == 0) first_ = now;
  if (since_ == 0) since_ = now;
  const bool mortal = waker_ == Waker::mortal;
  const bool naps_long = mortal || waker_ == Waker::always;
  futex_nap(doorbell_.wakeups, seen, naps_long && !drives ? kMortalNap : nap_after(now - first_));
  if (!mortal) return false;
  // Measures time by the clock and not by the number of naps, because other threads may wake it all the time.
  const std::int64_t woken = monotonic_nanoseconds();
  if (woken - since_ < kMortalNap) return false;
  since_ = woken;
  return true;
}

void receive_barriers() { static_cast<void>(membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED)); }

void Doorbell::await_stores() {
  awaits_stores.store(1, std::memory_order_relaxed);
  static_cast<void>(membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED));
}

void Doorbell::wake_sleepers() {
  wakeups.fetch_add(1, std::memory_order_release);
  futex_wake(wakeups, INT_MAX);
}

}  // namespace librma
