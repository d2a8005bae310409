#pragma once

#include <pthread.h>

#include <cstddef>

#include "util/status.hpp"

namespace librma {

/// A thread of the library. It blocks all signals, which are for the program's threads. Its stack is small:
/// on a system that gives out huge pages unasked, the first touch of a stack of the usual size costs each
/// process 2 MiB.
class BackgroundThread {
 public:
  static constexpr std::size_t kStackBytes = std::size_t{512} << 10U;

  BackgroundThread() = default;
  /// Destroys the object. The thread must have been joined.
  ~BackgroundThread() = default;
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Starts the thread, which calls `run(context)`. Debuggers show it as `name`, which has at most 15
  /// characters. Returns 0, or an error number.
  [[nodiscard]] int start(const char* name, void (*run)(void*), void* context);
  /// Returns the failure of start(), with what the user can do.
  [[nodiscard]] static Status refused(const char* what, int error);
  /// Waits until `run` has returned, if the thread was started.
  void join();
  [[nodiscard]] bool running() const { return running_; }

 private:
  static void* main(void* thread);

  pthread_t thread_ = {};
  void (*run_)(void*) = nullptr;
  void* context_ = nullptr;
  bool running_ = false;
};

}  // namespace librma
