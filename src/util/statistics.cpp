#include "util/statistics.hpp"

#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "util/thread_end.hpp"

namespace librma {
namespace {

struct CounterInfo {
  std::string_view name;
  std::string_view help;
};
constexpr std::array<CounterInfo, kCounters> kInfo = {{
    {"put_direct", "contiguous puts by copying to mapped memory"},
    {"put_bytes", "bytes written by puts"},
    {"get_direct", "contiguous gets by copying from mapped memory"},
    {"get_bytes", "bytes read by gets"},
    {"put_cma", "puts by process_vm_writev"},
    {"get_cma", "gets by process_vm_readv"},
    {"strided", "strided transfers, and sends and receives of strided messages"},
    {"vector", "vector transfers, and sends and receives of vector messages"},
    {"accumulate", "accumulates of any layout"},
    {"accumulate_lock_waits", "times that an accumulate waited for another"},
    {"atomic", "atomic operations"},
    {"notify", "notifications sent"},
    {"fence", "fences"},
    {"barrier", "barriers"},
    {"collective", "collectives other than barriers"},
    {"collective_hierarchical", "collectives, and barriers, within each host first and then between hosts"},
    {"sleep", "times that a waiting thread went to sleep"},
    {"allocate", "allocations"},
    {"registration_hits", "local buffers found in the registration cache"},
    {"registration_misses", "local buffers that had to be registered"},
    {"registration_evictions", "registrations that the cache gave up to make room"},
    {"registration_invalidations", "registrations that were dropped because their memory was unmapped"},
    {"put_rdma", "contiguous puts, or parts of others, by RDMA write"},
    {"get_rdma", "contiguous gets, or parts of others, by RDMA read"},
    {"atomic_rdma", "atomic operations that a network device executed"},
    {"rdma_inline", "RDMA writes whose data travelled in the request itself"},
    {"rdma_bounced", "RDMA operations through a registered buffer of the library"},
    {"rdma_bytes_rail0", "bytes moved over rail 0"},
    {"rdma_bytes_rail1", "bytes moved over rail 1"},
    {"rdma_bytes_rail2", "bytes moved over rail 2"},
    {"rdma_bytes_rail3", "bytes moved over rail 3"},
    {"connect", "connections made, counted per rail"},
    {"hello", "handshake datagrams (hello) sent to peers, including repeated ones"},
    {"datagrams_dropped", "datagrams that were not valid handshakes of this job"},
    {"registration", "registrations of memory with a network device"},
    {"registration_refused", "registrations that a network device refused"},
    {"directory_read", "readings of another rank's region directory"},
    {"drain",
     "times that an operation waited for earlier small puts or accumulates, because it takes another path"},
    {"rail_failover", "pieces of transfers that another rail took over"},
    {"peer_lost", "ranks that have ended or cannot be reached"},
    {"put_host_assisted", "noncontiguous puts by gathers into scatters that the target's helper posted"},
    {"get_host_assisted", "noncontiguous gets by gathers that the target's helper posted"},
    {"put_copied", "puts that the target's helper copied"},
    {"get_copied", "gets that the target's helper copied"},
    {"atomic_helper", "atomics that another rank's helper executed"},
    {"accumulate_helper", "accumulates that another rank's helper executed"},
    {"message", "messages sent to other ranks"},
    {"message_ring", "messages among these that were written into a ring which the receiver polls"},
    {"message_coalesced", "messages among these that had waited, and went together with others"},
    {"ring", "rings that were offered to ranks that send many messages"},
    {"messages_refused", "messages that no honest rank sends; their sender was given up"},
    {"active_ring", "active messages that went by rings to ranks of this host"},
    {"helper_request", "requests to other ranks' helper threads"},
    {"helper_served", "requests of other ranks that this rank's helper thread served"},
    {"helper_refused", "requests of other ranks that were answered with an error"},
    {"send_eager", "two-sided messages that were sent at once"},
    {"send_rendezvous", "two-sided messages that were announced, and fetched by their receiver"},
    {"receive_unexpected", "two-sided messages that came before their receive was posted"},
    {"receive_mapped", "two-sided messages that were copied from the sender's mapped heap"},
    {"receive_cma", "two-sided messages that were read by process_vm_readv"},
    {"receive_shared", "two-sided messages that sender and receiver copied together"},
    {"receive_rdma", "two-sided messages that were read from another host by RDMA"},
    {"receive_register", "two-sided messages that the sender wrote by RDMA; both registered whole buffers"},
    {"receive_cache", "two-sided messages that the sender wrote by RDMA; the registrations were kept"},
    {"receive_pipeline", "two-sided messages that the sender wrote by RDMA, piece by piece"},
    {"receive_caching_pipeline", "the same with registrations that were kept"},
    {"receive_fragments", "two-sided messages that were asked for in fragments"},
    {"receive_refused", "two-sided messages that went in fragments because memory could not be registered"},
    {"wake_message", "messages that only woke a rank of this host, which slept for events of its devices"},
    {"context_numbers", "numbers that were drawn for communicators and had not been used before"},
    {"allgather_rdma", "allgathers in which the members wrote into each other's memory"},
    {"allgather_zero_copy", "allgathers among these with writes from one member's result into another's"},
    {"allgather_ring", "allgathers among these that went around a ring"},
    {"allgather_refused", "steps of these by messages, because the result could not be registered"},
    {"alias_refused", "requests of rma_alias_at_init that rma_init could not carry out"},
}};

/// The counts of threads whose place another running thread owns. Several threads add at a time.
constinit std::array<std::atomic<std::uint64_t>, kCounters> shared_counts = {};

void leave_place(void* place) {
  // Release: the thread that claims the place next sees the counts and adds to them.
  static_cast<ThreadCounts*>(place)->owner.store(0, std::memory_order_release);
}

/// Makes the calling thread the owner of a place until it ends. Returns false if that is not possible.
bool claim(ThreadCounts& place) noexcept {
  static const ThreadEnd end(leave_place);
  std::uintptr_t nobody = 0;
  // Acquire pairs with the release in leave_place().
  if (!place.owner.compare_exchange_strong(nobody, this_thread(), std::memory_order_acquire)) return false;
  if (end.leave(&place)) return true;
  leave_place(&place);
  return false;
}

}  // namespace

constinit std::array<ThreadCounts, kCountingPlaces> thread_counts = {};
constinit ThreadCounts first_thread_counts;

namespace {
constinit std::mutex separate_lock;  // guards the list
constinit SeparateCount* first_separate = nullptr;
}  // namespace

void count_elsewhere(Counter counter, std::uint64_t amount) noexcept {
  const auto owns = [](const ThreadCounts& place) {
    return is_this_thread(place.owner.load(std::memory_order_relaxed));
  };
  ThreadCounts& own = counts_of(this_thread());
  if (owns(own)) return own.add(counter, amount);
  if (claim(first_thread_counts)) return first_thread_counts.add(counter, amount);
  if (claim(own)) return own.add(counter, amount);
  shared_counts[static_cast<std::size_t>(counter)].fetch_add(amount, std::memory_order_relaxed);
}

SeparateCount::SeparateCount(Counter counter, std::function<std::uint64_t()> total)
    : counter_(counter), total_(std::move(total)) {
  const std::lock_guard guard(separate_lock);
  next_ = std::exchange(first_separate, this);
}

SeparateCount::~SeparateCount() {
  const std::lock_guard guard(separate_lock);
  SeparateCount** place = &first_separate;
  while (*place != this) place = &(*place)->next_;
  *place = next_;
  count(counter_, total_());
}

std::uint64_t total_count(Counter counter) noexcept {
  const auto index = static_cast<std::size_t>(counter);
  const std::lock_guard guard(separate_lock);  // so that a part that ends meanwhile is in the total once
  std::uint64_t total = shared_counts[index].load(std::memory_order_relaxed);
  for (const SeparateCount* each = first_separate; each != nullptr; each = each->next_) {
    if (each->counter_ == counter) total += each->total_();
  }
  total += first_thread_counts.values[index].load(std::memory_order_relaxed);
  for (const ThreadCounts& each : thread_counts) total += each.values[index].load(std::memory_order_relaxed);
  return total;
}

std::array<std::uint64_t, kCounters> total_counts() noexcept {
  std::array<std::uint64_t, kCounters> totals = {};
  for (std::size_t i = 0; i < kCounters; ++i) totals[i] = total_count(static_cast<Counter>(i));
  return totals;
}

std::string_view counter_name(Counter counter) { return kInfo[static_cast<std::size_t>(counter)].name; }
std::string_view counter_help(Counter counter) { return kInfo[static_cast<std::size_t>(counter)].help; }

std::string counts_table(int rank, const std::array<std::uint64_t, kCounters>& before) {
  const auto now = total_counts();
  std::string text = fmt::format("rma statistics of rank {}\n", rank);
  for (std::size_t i = 0; i < kCounters; ++i) {
    if (now[i] != before[i]) text += fmt::format("  {:<24} {:>16}\n", kInfo[i].name, now[i] - before[i]);
  }
  return text;
}

std::string counts_json(int rank, const std::array<std::uint64_t, kCounters>& before) {
  const auto now = total_counts();
  nlohmann::ordered_json object = {{"rank", rank}};
  for (std::size_t i = 0; i < kCounters; ++i) object[std::string(kInfo[i].name)] = now[i] - before[i];
  return object.dump() + "\n";
}

}  // namespace librma
