#pragma once

#include <pthread.h>

#include <cstddef>

namespace rma {

/// A thread of the library's own beside the program's. It takes no signals: they are for the program's
/// threads. Its stack is small: where the system gives out huge pages unasked, the first touch of one of the
/// usual size costs each process 2 MiB.
class BackgroundThread {
 public:
  static constexpr std::size_t kStackBytes = std::size_t{512} << 10U;

  BackgroundThread() = default;
  /// It is joined by then.
  ~BackgroundThread() = default;
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Calls `run(context)` in the new thread, which debuggers show as `name`, of at most 15 characters.
  /// Returns 0, or an error number.
  [[nodiscard]] int start(const char* name, void (*run)(void*), void* context);
  /// Waits until `run` has returned, if it was ever called.
  void join();
  [[nodiscard]] bool running() const { return running_; }

 private:
  static void* main(void* thread);

  pthread_t thread_ = {};
  void (*run_)(void*) = nullptr;
  void* context_ = nullptr;
  bool running_ = false;
};

}  // namespace rma
