#include "util/wait.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): timespec for the system call
#include <unistd.h>

#include <climits>

#include "util/statistics.hpp"

namespace rma {
namespace {

constexpr timespec kUntilNextLook = {.tv_sec = 0, .tv_nsec = 10'000'000};

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

}  // namespace

void Doorbell::sleep(std::uint32_t seen, Ringer ringer) {
  count(Counter::sleep);
  futex(rings, FUTEX_WAIT, seen, ringer == Ringer::sometimes ? &kUntilNextLook : nullptr);
}

void Doorbell::wake() {
  rings.fetch_add(1, std::memory_order_release);
  futex(rings, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace rma
