#pragma once

#include <chrono>

namespace librma::coarrays {

/// Says from time to time that a waiting image looks whether another one has died.
class Looks {
 public:
  /// Called often. Mostly only counts.
  bool due() {
    if (++calls_ % kCallsBetween != 0) return false;
    const Clock::time_point now = Clock::now();
    if (now - looked_ < kBetweenLooks) return false;
    looked_ = now;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kCallsBetween = 16;
  static constexpr std::chrono::milliseconds kBetweenLooks{100};
  unsigned calls_ = 0;
  Clock::time_point looked_ = Clock::now();
};

}  // namespace librma::coarrays
