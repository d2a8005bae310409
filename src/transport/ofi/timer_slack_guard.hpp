#pragma once

#include <sys/prctl.h>

namespace librma::transport {

/// Lets the calling thread's sleeps last up to 10 ms longer while this object exists. Debian's libfabric is
/// linked with two libraries of Omni-Path, which measure the processor's clock when they are loaded, for
/// 0.1 s each. They sleep for 125 us at a time, and to wake up 700 times takes 15 ms of processor time. A few
/// longer sleeps measure as well.
class TimerSlackGuard {
 public:
  TimerSlackGuard() { ::prctl(PR_SET_TIMERSLACK, kNanoseconds); }
  ~TimerSlackGuard() {
    // The system takes 0 for the slack with which the thread began.
    if (before_ > 0) ::prctl(PR_SET_TIMERSLACK, before_);
  }
  TimerSlackGuard(const TimerSlackGuard&) = delete;
  TimerSlackGuard& operator=(const TimerSlackGuard&) = delete;

 private:
  static constexpr unsigned long kNanoseconds = 10'000'000;
  const int before_ = ::prctl(PR_GET_TIMERSLACK);
};

}  // namespace librma::transport
