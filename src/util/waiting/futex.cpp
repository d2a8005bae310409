#include "util/waiting/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): timespec for the system call
#include <unistd.h>

#include <cerrno>

#include "util/statistics.hpp"

namespace librma {
namespace {

// The call is made without FUTEX_PRIVATE_FLAG, because the word lies in memory that processes share.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* until,
           std::uint32_t sleepers) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, until, nullptr,
                 sleepers);
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint32_t sleepers) {
  count(Counter::sleep);
  futex(word, FUTEX_WAIT_BITSET, expected, nullptr, sleepers);
}

bool futex_nap(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t nanoseconds,
               std::uint32_t sleepers) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  count(Counter::sleep);
  timespec until = {};
  clock_gettime(CLOCK_MONOTONIC, &until);
  const std::int64_t end = until.tv_nsec + nanoseconds;
  until.tv_sec += end / kSecond;
  until.tv_nsec = end % kSecond;
  return futex(word, FUTEX_WAIT_BITSET, expected, &until, sleepers) != 0 && errno == ETIMEDOUT;
}

void futex_wake(std::atomic<std::uint32_t>& word, int most, std::uint32_t sleepers) {
  futex(word, FUTEX_WAKE_BITSET, static_cast<std::uint32_t>(most), nullptr, sleepers);
}

}  // namespace librma
