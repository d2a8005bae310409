#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace rma {

/// What is counted, always. Names and help stand in statistics.cpp in the same order.
enum class Counter : std::uint8_t {
  put_direct,
  put_bytes,
  get_direct,
  get_bytes,
  put_cma,
  get_cma,
  strided,
  vector,
  accumulate,
  accumulate_lock_waits,
  atomic,
  notify,
  fence,
  barrier,
  collective,
  sleep,
  allocate,
  registration_hits,
  registration_misses,
  registration_evictions,
  registration_invalidations,
  put_rdma,
  get_rdma,
  atomic_rdma,
  rdma_inline,
  rdma_bounced,
  rdma_bytes_rail0,
  rdma_bytes_rail1,
  rdma_bytes_rail2,
  rdma_bytes_rail3,
  connect,
  hello,
  datagrams_dropped,
  registration,
  registration_refused,
  directory_read,
  drain,
  rail_failover,
  peer_lost,
  put_assisted,
  get_assisted,
  put_copied,
  get_copied,
  atomic_helper,
  accumulate_helper,
  message,
  message_ring,
  ring,
  messages_refused,
  helper_request,
  helper_served,
  helper_refused,
  count_  // how many there are
};
inline constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::count_);

/// One thread's counts. Only that thread writes; others read while it runs, hence atomics, relaxed: a count
/// orders nothing. When the thread ends, they are added to those of all that have ended, and freed.
struct ThreadCounts {
  std::array<std::atomic<std::uint64_t>, kCounters> values = {};
  ThreadCounts* next = nullptr;  ///< these two: of the list of running threads, under its lock
  ThreadCounts* previous = nullptr;
};

/// This thread's counts once it has counted something, else null. The thread that set it owns what it points
/// to. In the static part of a thread's memory, which costs those 8 bytes of it: in a shared library the
/// default is a call for each access, as long as a whole 8-byte put.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadCounts* this_threads_counts;

/// count() of a thread without counts of its own: gives it some. Where there is no memory for them, what it
/// counts is added to counts that all such threads share.
[[gnu::cold, gnu::noinline]] void count_first(Counter counter, std::uint64_t amount) noexcept;

/// Adds `amount` to a counter: a load and a store of a line that no other thread writes.
inline void count(Counter counter, std::uint64_t amount = 1) noexcept {
  if (this_threads_counts == nullptr) [[unlikely]]
    return count_first(counter, amount);
  auto& value = this_threads_counts->values[static_cast<std::size_t>(counter)];
  value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

/// Totals over all threads, also those that have ended, by counter. They never shrink.
[[nodiscard]] std::array<std::uint64_t, kCounters> total_counts();

/// "put_direct" and the like, and one line of help.
[[nodiscard]] std::string_view counter_name(Counter counter);
[[nodiscard]] std::string_view counter_help(Counter counter);

/// Totals since `before` as lines "name value" under a heading, or as one JSON object, both ending in a
/// newline.
[[nodiscard]] std::string counts_table(int rank, const std::array<std::uint64_t, kCounters>& before);
[[nodiscard]] std::string counts_json(int rank, const std::array<std::uint64_t, kCounters>& before);

}  // namespace rma
