#include "atomics/notify.hpp"

#include <atomic>

#include "core/network/word_operations.hpp"
#include "core/one_sided/operation.hpp"
#include "util/copy_word.hpp"
#include "util/copying/part_copy.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {

void notify(const Job& job, std::byte* flag_here, std::uint64_t value, int rank) {
  count(Counter::notify);
  // Pairs with the load in read_word.
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(flag_here))
      .store(value, std::memory_order_release);
  job.doorbell(rank).wake();
}

Status put_notify(Job& job, RemoteAccess& remote_access, void* dst, const void* src, std::size_t bytes,
                  std::uint64_t* flag, std::uint64_t value, int rank) {
  if (std::byte* const here = job.direct(dst, bytes, rank); here != nullptr || bytes == 0) {
    if (!copy_word<std::uint64_t>(here, src, bytes) && bytes != 0) copy_for_reader(here, src, bytes);
  } else {
    RMA_TRY(check_reachable(job, remote_access, flag, sizeof *flag, rank));
    Operation operation(job, remote_access, rank);
    RMA_TRY(operation.put(dst, src, bytes));
    // Transfers that are still under way when end() returns are on the queue pair that the flag
    // uses after them.
    if (Status status = operation.end({}); !status.ok()) return status;
  }
  return notify(job, remote_access, flag, value, rank);
}

Status notify(Job& job, RemoteAccess& remote_access, std::uint64_t* flag, std::uint64_t value, int rank) {
  if (std::byte* const here = job.direct(flag, sizeof *flag, rank); here != nullptr) {
    notify(job, here, value, rank);
    return {};
  }
  if (job.mapped(rank)) {
    return {RMA_ERR_ADDRESS,
            text("the flag at {} is not in the heap of rank {}", static_cast<void*>(flag), rank)};
  }
  count(Counter::notify);
  return remote_access.network()->words().put_flag(flag, value, rank);
}

std::uint64_t read_word(const std::uint64_t* flag) {
  // Pairs with the release in notify, in copy_bytes and in apply_atomic, as load_word() does. The cast is
  // needed because std::atomic_ref of C++20 takes no const.
  return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t*>(flag)).load(std::memory_order_acquire);
}

std::uint64_t wait_until_word(const Job& job, const std::uint64_t* flag, rma_compare_t compare,
                              std::uint64_t value) {
  std::uint64_t seen = 0;
  const auto met = [&] {
    seen = read_word(flag);
    return compare_words(seen, compare, value);
  };
  wait_for_words(job, met);
  return seen;
}

}  // namespace librma
