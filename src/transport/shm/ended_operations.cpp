#include "transport/shm/ended_operations.hpp"

#include <algorithm>
#include <utility>

namespace rma::transport {

void EndedOperations::add(const Completion& completion, PostFlags flags) {
  if (completion.status == RMA_SUCCESS && flags.unsignaled) return;
  const std::lock_guard guard(lock_);
  ended_.push_back(completion);
  tell();
}

void EndedOperations::tell() {
  count_.store(ended_.size(), std::memory_order_relaxed);
  // Another thread may sleep and must wake to take the completion in. As in ShmPeer::post(), this fence pairs
  // with the fence in ShmMessageEndpoint::arm().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint32_t sleeps = head_.sleeps.load(std::memory_order_relaxed);
  if (std::exchange(signaled_, sleeps) != sleeps) wakeup_.signal_own();
}

std::size_t EndedOperations::take(std::span<Completion> completions) {
  if (empty()) return 0;
  const std::lock_guard guard(lock_);
  const std::size_t count = std::min(completions.size(), ended_.size());
  std::copy_n(ended_.begin(), count, completions.begin());
  ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
  count_.store(ended_.size(), std::memory_order_relaxed);
  return count;
}

}  // namespace rma::transport
