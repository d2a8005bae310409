#include "atomics/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/statistics.hpp"

namespace rma {
namespace {

// Without FUTEX_PRIVATE_FLAG: the word lies in memory that processes share.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, std::uint32_t sleepers) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr, sleepers);
}

}  // namespace

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::uint32_t sleepers) {
  count(Counter::sleep);
  futex(word, FUTEX_WAIT_BITSET, expected, sleepers);
}

void futex_wake(std::atomic<std::uint32_t>& word, int most, std::uint32_t sleepers) {
  futex(word, FUTEX_WAKE_BITSET, static_cast<std::uint32_t>(most), sleepers);
}

}  // namespace rma
