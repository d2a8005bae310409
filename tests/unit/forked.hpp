#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <new>

/// A zeroed T in memory that this process shares with the processes that it forks.
template <typename T>
class SharedWithForked {
 public:
  SharedWithForked() {
    void* const memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    value_ = new (memory) T;
  }
  ~SharedWithForked() { munmap(value_, sizeof(T)); }
  SharedWithForked(const SharedWithForked&) = delete;
  SharedWithForked& operator=(const SharedWithForked&) = delete;
  T* operator->() const { return value_; }
  T& operator*() const { return *value_; }

 private:
  T* value_;
};

/// A process that is forked from this one. It runs `body`, whose result says whether it succeeded. It ends
/// when its parent ends, and after four minutes, which counts as a failure.
class Forked {
 public:
  explicit Forked(const std::function<bool()>& body) {
    std::fflush(nullptr);  // otherwise both processes would print the buffered output
    process_ = fork();
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(kSeconds);
    const bool good = body();
    std::fflush(nullptr);
    _exit(good && !testing::Test::HasFailure() ? 0 : 1);
  }
  ~Forked() { end(); }
  Forked(Forked&& other) noexcept : process_(std::exchange(other.process_, -1)) {}
  Forked& operator=(Forked&&) = delete;
  Forked(const Forked&) = delete;
  Forked& operator=(const Forked&) = delete;

  /// Waits for the end of the process. Returns whether it succeeded.
  [[nodiscard]] bool ended_well() {
    int status = 0;
    const bool known = process_ > 0 && waitpid(process_, &status, 0) == process_;
    process_ = -1;
    return known && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  /// Kills the process.
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  static constexpr unsigned kSeconds = 240;
  pid_t process_ = -1;
};

/// Waits until the condition is true. Returns false after a time in which it should have come true.
template <typename Condition>
[[nodiscard]] bool comes_true(const Condition& condition) {
  for (int i = 0; i < 20'000'000; ++i) {
    if (condition()) return true;
    sched_yield();
  }
  return false;
}
