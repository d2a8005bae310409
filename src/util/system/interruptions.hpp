#pragma once

#include <pthread.h>

#include <cerrno>
#include <csignal>

namespace librma {

/// Makes a system call, and makes it again as long as a signal's handler interrupts it. `call` returns -1 and
/// sets errno on failure, as the C library's functions do. Not for close(): the descriptor is closed even if
/// a signal interrupts the call, and another thread may have got its number since.
template <typename Call>
[[nodiscard]] auto uninterrupted(const Call& call) {
  while (true) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Holds back this thread's signals while it exists. A handler runs afterwards, or in another thread of the
/// program. Threads that are made meanwhile inherit the mask, so they never run a handler of the program.
/// Destroyed by the thread that made it. Does not change errno.
class SignalsHeldBack {
 public:
  SignalsHeldBack() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeldBack() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t before_;
};

}  // namespace librma
