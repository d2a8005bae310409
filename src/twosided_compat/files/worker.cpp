// The threads that execute nonblocking file operations.

#include "twosided_compat/files/worker.hpp"

#include <new>
#include <utility>

namespace librma::mpi {

Worker::~Worker() {
  {
    const std::lock_guard guard(lock_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Worker::add_to_list(std::shared_ptr<Task> task) {
  const std::lock_guard guard(lock_);
  if (!thread_.running() &&
      thread_.start(
          "rma-file", [](void* self) { static_cast<Worker*>(self)->run(); }, this) != 0) {
    return false;
  }
  try {
    tasks_.push_back(std::move(task));
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++unfinished_;
  changed_.notify_all();
  return true;
}

void Worker::add(const std::shared_ptr<Task>& task) {
  if (add_to_list(task)) return;
  drain();
  task->run();
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
      const std::shared_ptr<Task> task = std::move(tasks_.front());
      tasks_.pop_front();
      guard.unlock();
      task->run();
    }
    guard.lock();
    if (--unfinished_ == 0) changed_.notify_all();
  }
}

}  // namespace librma::mpi
