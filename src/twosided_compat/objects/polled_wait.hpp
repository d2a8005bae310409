#pragma once

#include <cstdint>

#include "rma/waits.h"

namespace librma::mpi {

/// A wait that polls, because nobody wakes the thread. It is shown to the launcher once it has become long.
class PolledWait {
 public:
  /// `about` says what is awaited, behind the name of the call, and `rank` is the world rank that ends the
  /// wait, or -1.
  explicit PolledWait(const char* about, int rank = -1) : about_(about), rank_(rank) {}
  ~PolledWait() {
    if (shown_ != nullptr) rma_wait_hide(shown_);
  }
  PolledWait(const PolledWait&) = delete;
  PolledWait& operator=(const PolledWait&) = delete;

  /// Says that the thread has polled and found nothing.
  void again() {
    constexpr unsigned kLookEvery = 16;  // a poll yields the processor, perhaps for milliseconds
    if (++polls_ % kLookEvery == 0 && shown_ == nullptr) look();
  }

 private:
  /// Shows the wait if it is long by the clock.
  void look();

  const char* const about_;
  const int rank_;
  unsigned polls_ = 0;
  std::int64_t since_ = 0;  ///< of the first look, in nanoseconds of CLOCK_MONOTONIC
  rma_shown_wait_t* shown_ = nullptr;
};

/// A wait is shown when it has lasted for so many nanoseconds (rma/waits.h).
inline constexpr std::int64_t kLongWait = 100'000'000;
/// Returns the time of CLOCK_MONOTONIC in nanoseconds.
[[nodiscard]] std::int64_t monotonic_nanoseconds();

}  // namespace librma::mpi
