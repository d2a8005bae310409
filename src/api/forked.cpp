#include "api/forked.hpp"

#include <pthread.h>

#include <atomic>

#include "api/runtime/runtime.hpp"

namespace librma {
namespace {

constinit std::atomic<bool> in_job = false;
constinit std::atomic<bool> forked = false;
/// The parent's runtime. The child must not use or end any part of it.
constinit std::atomic<const Runtime*> parents_runtime = nullptr;

// Takes the runtime away from the child. fork() calls it in the child's only thread.
void leave_runtime() {
  if (!in_job.load(std::memory_order_acquire)) return;
  forked.store(true, std::memory_order_relaxed);
  publish_short_ways(nullptr);
  parents_runtime.store(current_runtime.exchange(nullptr, std::memory_order_acq_rel),
                        std::memory_order_relaxed);
}

}  // namespace

// The caller holds rma_init's lock.
Status notice_forks() {
  static bool registered = false;
  if (!registered) {
    if (const int error = ::pthread_atfork(nullptr, nullptr, leave_runtime); error != 0) {
      return system_failure(RMA_ERR_NO_MEMORY, "pthread_atfork", error);
    }
    registered = true;
  }
  in_job.store(true, std::memory_order_release);
  return {};
}

void forget_forks() noexcept { in_job.store(false, std::memory_order_release); }

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

}  // namespace librma
