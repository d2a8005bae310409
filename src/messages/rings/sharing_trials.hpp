#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace librma {

/// Decides by measurement whether both processes copy the long messages of a sender (SharedCopy), or the
/// receiver alone. Copying together halves the copy, and costs messages and cache lines that change their
/// owner. Whether that pays depends on the processor and on the program: in a stream of 64 KiB copying
/// together took 4.2 us instead of 3.1 on one machine and 5.9 instead of 9.6 on another one.
///
/// Sizes of a power of two and up to the next one are a class. After its first kFirst messages, which may
/// find memory that was never touched, a class tries the two ways in turn, twice each for kTrial messages,
/// and takes the time from one message to the next, as a program sees it. The better trial of each way
/// counts, and the faster way serves the next kLeastKept messages, twice as many each time that it wins
/// again, up to kMostKept. So a trial that other work has disturbed does not decide for long. A longer
/// interval than kPause per byte is a pause, which no trial counts. Messages that come one by one are copied
/// together. One thread at a time uses this.
class SharingTrials {
 public:
  static constexpr std::uint32_t kFirst = 16;
  static constexpr std::uint32_t kTrial = 8;
  static constexpr std::uint32_t kLeastKept = 64;
  static constexpr std::uint32_t kMostKept = 4096;
  /// The limit in nanoseconds per byte. It must exceed the time of the slowest copies, so that they count. On
  /// a virtual machine, messages of 64 KiB from buffers that were not in the caches took 99 us (1.5 ns per
  /// byte) when both processes copied them, and 15 us when the receiver did.
  static constexpr double kPause = 4;
  /// The least size of the first class, and the number of classes. Longer messages are always copied
  /// together.
  static constexpr std::size_t kLeast = std::size_t{64} << 10U;
  static constexpr std::size_t kClasses = 4;

  /// Returns whether to copy a message of so many bytes, kLeast at least, together. `now` is the time.
  [[nodiscard]] bool shares(std::size_t bytes, std::int64_t now) {
    const auto size_class = static_cast<std::size_t>(std::bit_width(bytes) - std::bit_width(kLeast));
    return size_class >= kClasses || classes_[size_class].next(bytes, now);
  }

 private:
  class SizeClass {
   public:
    bool next(std::size_t bytes, std::int64_t now) {
      const auto interval = static_cast<double>(now - std::exchange(last_time_, now));
      const auto moved = static_cast<double>(std::exchange(last_bytes_, bytes));
      if (trial_ == kTrials) {
        if (--left_ == 0) begin_trials();
      } else if (interval <= kPause * moved) {
        elapsed_ += interval / moved;
        if (--left_ == 0) end_trial();
      }
      return trial_ == kTrials ? kept_ : together();
    }

   private:
    static constexpr std::uint32_t kTrials = 4;
    static constexpr std::array<double, 2> kNone = {std::numeric_limits<double>::max(),
                                                    std::numeric_limits<double>::max()};

    void begin_trials() {
      best_ = kNone;
      begin_trial(0);
    }
    void begin_trial(std::uint32_t trial) {
      trial_ = trial;
      left_ = kTrial;
      elapsed_ = 0;
    }
    void end_trial() {
      double& best = best_[together() ? 0 : 1];
      best = std::min(best, elapsed_);
      begin_trial(trial_ + 1);
      if (trial_ == kTrials) keep(best_[0] <= best_[1]);
    }
    void keep(bool together) {
      keep_for_ = together == kept_ ? std::min(2 * keep_for_, kMostKept) : kLeastKept;
      kept_ = together;
      left_ = keep_for_;
    }
    [[nodiscard]] bool together() const { return trial_ % 2 == 0; }

    std::int64_t last_time_ = 0;
    std::size_t last_bytes_ = 0;
    /// The least sum of a trial's intervals, each in ns per byte: of copying together, and of copying alone.
    std::array<double, 2> best_ = kNone;
    double elapsed_ = 0;             ///< the sum of the trial under way
    std::uint32_t left_ = kFirst;    ///< messages until the trial, or the time between trials, is over
    std::uint32_t trial_ = kTrials;  ///< kTrials: between trials
    bool kept_ = true;               ///< the way between trials: whether together
    std::uint32_t keep_for_ = kLeastKept / 2;  ///< messages; the first decision doubles or replaces it
  };

  std::array<SizeClass, kClasses> classes_;
};

}  // namespace librma
