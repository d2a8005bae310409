#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace librma::coarrays {

/// A thread that executes tasks one after the other, in the order in which they come. It begins with the
/// first task.
class Worker {
 public:
  /// Any thread may call this. Does not wait for the task.
  void push(std::function<void()> task) {
    const std::lock_guard guard(lock_);
    tasks_.push_back(std::move(task));
    if (!thread_.joinable()) thread_ = std::thread([this] { execute(); });
    came_.notify_one();
  }
  /// Executes what has come, and ends the thread.
  void finish() {
    std::unique_lock guard(lock_);
    ending_ = true;
    came_.notify_one();
    guard.unlock();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void execute() {
    std::unique_lock guard(lock_);
    for (;;) {
      came_.wait(guard, [this] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      guard.unlock();
      task();
      guard.lock();
    }
  }

  std::mutex lock_;  // guards the rest
  std::condition_variable came_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace librma::coarrays
