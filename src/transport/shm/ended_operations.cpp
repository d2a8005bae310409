#include "transport/shm/ended_operations.hpp"

#include <utility>

namespace librma::transport {

void EndedOperations::promise(PostFlags flags) {
  if (flags.unsignaled) return;
  const std::lock_guard guard(lock_);
  ended_.promise(1);
}

void EndedOperations::withdraw(PostFlags flags) {
  if (flags.unsignaled) return;
  const std::lock_guard guard(lock_);
  ended_.withdraw(1);
}

void EndedOperations::add(const Completion& completion, PostFlags flags) {
  if (completion.status == RMA_SUCCESS && flags.unsignaled) return;
  const std::lock_guard guard(lock_);
  if (flags.unsignaled) ended_.promise(1);  // it has failed, so that nothing is there to be undone
  ended_.add(completion);
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
  const std::size_t count = ended_.take(completions);
  count_.store(ended_.size(), std::memory_order_relaxed);
  return count;
}

}  // namespace librma::transport
