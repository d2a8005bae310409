// The threads that execute nonblocking file operations.

#include "twosided_compat/files/worker.hpp"

#include <fmt/format.h>

#include <utility>

#include "twosided_compat/objects/system_errors.hpp"

namespace librma::mpi {

Worker::~Worker() {
  {
    const std::lock_guard guard(lock_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

int Worker::add(Task task) {
  const std::lock_guard guard(lock_);
  if (!thread_.running()) {
    const int error = thread_.start(
        "rma-file", [](void* self) { static_cast<Worker*>(self)->run(); }, this);
    if (error != 0) return system_failure(error, "the thread for nonblocking file operations");
  }
  tasks_.push_back(std::move(task));
  ++unfinished_;
  changed_.notify_all();
  return 0;
}

void Worker::drain() {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [this] { return unfinished_ == 0; });
}

void Worker::run() {
  std::unique_lock guard(lock_);
  while (true) {
    changed_.wait(guard, [this] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    {
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      guard.unlock();
      task();
    }
    guard.lock();
    if (--unfinished_ == 0) changed_.notify_all();
  }
}

}  // namespace librma::mpi
