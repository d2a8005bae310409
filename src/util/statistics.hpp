#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace librma {

/// The counters, which always count. statistics.cpp has their names and help texts in the same order.
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
  collective_hierarchical,
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
  put_host_assisted,
  get_host_assisted,
  put_copied,
  get_copied,
  atomic_helper,
  accumulate_helper,
  message,
  message_ring,
  message_coalesced,
  ring,
  messages_refused,
  active_ring,
  helper_request,
  helper_served,
  helper_refused,
  send_eager,
  send_rendezvous,
  receive_unexpected,
  receive_mapped,
  receive_cma,
  receive_shared,
  receive_rdma,
  receive_register,
  receive_cache,
  receive_pipeline,
  receive_caching_pipeline,
  receive_fragments,
  receive_refused,
  wake_message,
  context_numbers,
  allgather_rdma,
  allgather_zero_copy,
  allgather_ring,
  allgather_refused,
  alias_refused,
  count_  // the number of counters
};
inline constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::count_);

/// Returns a number that no other running thread has. It is read from a register. A thread_local variable of
/// a library that may be loaded late would take a call, which costs as much as a whole 8-byte put.
inline std::uintptr_t this_thread() noexcept {
#if defined(__x86_64__)
  std::uintptr_t self = 0;
  // The first word of a thread's descriptor is its own address (System V ABI, thread-local storage).
  __asm__("mov %%fs:0, %0" : "=r"(self));
  return self;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
#endif
}

/// Returns whether a thread has this number: the running one. The processor compares with the descriptor's
/// word in memory, so that no register is needed for it.
inline bool is_this_thread(std::uintptr_t thread) noexcept {
#if defined(__x86_64__)
  bool is_it = false;
  __asm__("cmp %%fs:0, %1" : "=@cce"(is_it) : "r"(thread));
  return is_it;
#else
  return thread == this_thread();
#endif
}

/// The counts of the thread that has claimed them. Only the owner writes the values. Other threads read them
/// meanwhile, so they are atomics; they are relaxed, because a count orders nothing. When the owner ends, the
/// counts stay, and the next owner adds to them.
struct alignas(64) ThreadCounts {
  std::atomic<std::uintptr_t> owner = 0;  ///< this_thread(), or 0
  std::array<std::atomic<std::uint64_t>, kCounters> values = {};

  /// Adds to a count. Only the owner may call it.
  void add(Counter counter, std::uint64_t amount) noexcept {
    auto& value = values[static_cast<std::size_t>(counter)];
    value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

/// The places in which threads count. A thread uses the place that the hash of its number gives, if it
/// can claim it.
inline constexpr std::size_t kCountingPlaces = 64;
// Hidden here too: the compiler would reach what may lie in another library through a table.
[[gnu::visibility("hidden")]] extern constinit std::array<ThreadCounts, kCountingPlaces> thread_counts;
/// The place of the thread that was the first to count, which is the one that most programs have. It needs no
/// hash.
[[gnu::visibility("hidden")]] extern constinit ThreadCounts first_thread_counts;

inline ThreadCounts& counts_of(std::uintptr_t thread) noexcept {
  // Fibonacci hashing, because thread descriptors lie at the ends of stacks, whose sizes are round numbers.
  constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
  static_assert(kCountingPlaces == std::size_t{1} << 6U);
  return thread_counts[thread * kGoldenRatio >> 58U];
}

/// Counts for a thread that does not own the first place: in its own one, which it claims when it counts
/// first. If another running thread owns that, adds to counts that all such threads share.
[[gnu::noinline]] void count_elsewhere(Counter counter, std::uint64_t amount) noexcept;

/// Adds `amount` to a counter. This is a load and a store in a cache line that no other thread writes, except
/// for the few threads that share counts.
inline void count(Counter counter, std::uint64_t amount = 1) noexcept {
  // Relaxed: only this thread stores its own number there.
  if (!is_this_thread(first_thread_counts.owner.load(std::memory_order_relaxed))) [[unlikely]]
    return count_elsewhere(counter, amount);
  first_thread_counts.add(counter, amount);
}

/// A part of a counter that its owner has in its own memory anyway, so that nobody need count it one by one.
/// It belongs to the totals as long as the object exists, and is added to the counter then.
class SeparateCount {
 public:
  /// `total` returns how many there are so far. Any thread may call it until the destructor has returned.
  SeparateCount(Counter counter, std::function<std::uint64_t()> total);
  ~SeparateCount();
  SeparateCount(const SeparateCount&) = delete;
  SeparateCount& operator=(const SeparateCount&) = delete;

 private:
  friend std::uint64_t total_count(Counter counter) noexcept;
  const Counter counter_;
  const std::function<std::uint64_t()> total_;
  SeparateCount* next_ = nullptr;
};

/// Counts bytes that were posted to `rail`.
inline void count_rail_bytes(std::size_t rail, std::uint64_t bytes) noexcept {
  count(static_cast<Counter>(static_cast<std::size_t>(Counter::rdma_bytes_rail0) + rail), bytes);
}

/// Returns the totals over all threads, including those that have ended, by counter. They never decrease.
[[nodiscard]] std::array<std::uint64_t, kCounters> total_counts() noexcept;
/// Returns the total of one counter.
[[nodiscard]] std::uint64_t total_count(Counter counter) noexcept;

/// Returns the name of a counter, such as "put_direct", and its help text of one line.
[[nodiscard]] std::string_view counter_name(Counter counter);
[[nodiscard]] std::string_view counter_help(Counter counter);

/// Returns the totals since `before`, as lines "name value" under a heading, or as one JSON object. Both end
/// in a newline.
[[nodiscard]] std::string counts_table(int rank, const std::array<std::uint64_t, kCounters>& before);
[[nodiscard]] std::string counts_json(int rank, const std::array<std::uint64_t, kCounters>& before);

}  // namespace librma
