#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "util/system/background_thread.hpp"

namespace librma::mpi {

/// Executes tasks one after the other, in the order in which they come, in a thread of its own. The thread
/// starts with the first task. While the system refuses the thread, tasks are executed by those who add them,
/// because other ranks may wait for this one's part of a collective task.
class Worker {
 public:
  class Task {
   public:
    Task() = default;
    virtual ~Task() = default;
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    virtual void run() = 0;
  };

  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Waits for all tasks.
  ~Worker();

  /// Adds a task. If no thread can start, or the list has no memory, the call executes the task, behind those
  /// before it.
  void add(const std::shared_ptr<Task>& task);
  /// Waits until all tasks have been executed.
  void drain();

 private:
  void run();
  [[nodiscard]] bool add_to_list(std::shared_ptr<Task> task);

  std::mutex lock_;  // guards the rest
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;
  std::size_t unfinished_ = 0;
  bool ends_ = false;
  BackgroundThread thread_;
};

}  // namespace librma::mpi
