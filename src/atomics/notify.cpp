#include "atomics/notify.hpp"

#include <atomic>

#include "util/statistics.hpp"

namespace rma {

void notify(const Job& job, std::byte* flag_here, std::uint64_t value, int rank) {
  count(Counter::notify);
  // Pairs with the load in read_word.
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(flag_here))
      .store(value, std::memory_order_release);
  job.doorbell(rank).ring();
}

std::uint64_t read_word(const std::uint64_t* flag) {
  // Pairs with the release in notify, in copy_bytes and in apply_atomic. The cast: C++20 has no reference to
  // an atomic that is only read.
  return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(flag)).load(std::memory_order_acquire);
}

std::uint64_t wait_until_word(const Job& job, const std::uint64_t* flag, rma_compare_t compare,
                              std::uint64_t value) {
  std::uint64_t seen = 0;
  const auto met = [&] {
    seen = read_word(flag);
    return compare_words(seen, compare, value);
  };
  wait_until(job.doorbell(job.rank()), job.wait_policy(), met, Ringer::sometimes);
  return seen;
}

}  // namespace rma
