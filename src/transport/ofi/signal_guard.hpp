#pragma once

#include <csignal>
#include <cstddef>
#include <vector>

namespace librma::transport {

/// Gives the program's signal handlers back to it. Libraries of Omni-Path, with which Debian's libfabric is
/// linked, replace those of fatal signals when they are loaded.
class SignalGuard {
 public:
  SignalGuard() {
    for (int number = 1; number < kEnd; ++number) {
      static_cast<void>(sigaction(number, nullptr, &before_[static_cast<std::size_t>(number)]));
    }
  }
  ~SignalGuard() {
    for (int number = 1; number < kEnd; ++number) {
      if (number == SIGKILL || number == SIGSTOP) continue;
      static_cast<void>(sigaction(number, &before_[static_cast<std::size_t>(number)], nullptr));
    }
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr int kEnd = 32;  ///< the real-time signals begin here
  std::vector<struct sigaction> before_ = std::vector<struct sigaction>(kEnd);
};

}  // namespace librma::transport
