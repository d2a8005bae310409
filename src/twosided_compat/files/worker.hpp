#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "util/system/background_thread.hpp"

namespace librma::mpi {

/// Executes tasks one after the other, in the order in which they come, in a thread of its own. The thread
/// starts with the first task.
class Worker {
 public:
  using Task = std::function<void()>;

  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Waits for all tasks.
  ~Worker();

  /// Adds a task. Returns MPI_SUCCESS, or an error class if no thread could start; then the task is not
  /// executed.
  [[nodiscard]] int add(Task task);
  /// Waits until all tasks have been executed.
  void drain();

 private:
  void run();

  std::mutex lock_;  // guards the rest
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::size_t unfinished_ = 0;
  bool ends_ = false;
  BackgroundThread thread_;
};

}  // namespace librma::mpi
