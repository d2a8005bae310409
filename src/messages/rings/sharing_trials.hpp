#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace librma {

/// Decides by measurement whether both processes copy the long messages of a sender (SharedCopy), or the
/// receiver alone. Copying together halves the copy, and costs messages and cache lines that change their
/// owner. What is more depends on the processor and on the program: in a stream of 64 KiB copying together
/// took 4.2 us instead of 3.1 on one machine and 5.9 instead of 9.6 on another one.
///
/// Sizes of a power of two and up to the next one are a class. After its first kFirst messages, which may
/// find memory that was never touched, a class tries the two ways in turn, twice each for kTrial messages,
/// and takes the time from one message to the next, which is what a program sees. The better trial of each
/// way counts, and the faster way serves the next kKept messages. An interval of more than a nanosecond per
/// byte is a pause, which no trial counts. Messages that come one by one are copied together. One thread at
/// a time uses this.
class SharingTrials {
 public:
  static constexpr std::uint32_t kFirst = 16;
  static constexpr std::uint32_t kTrial = 8;
  static constexpr std::uint32_t kKept = 512;
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
      const std::int64_t interval = now - last_time_;
      const std::size_t moved = last_bytes_;
      last_time_ = now;
      last_bytes_ = bytes;
      if (trial_ == kTrials) {
        if (--left_ != 0) return kept_;
        trial_ = 0;
        best_ = kNone;
      } else if (interval <= static_cast<std::int64_t>(moved)) {
        elapsed_ += static_cast<double>(interval) / static_cast<double>(moved);
        if (--left_ != 0) return together();
        double& best = best_[together() ? 0 : 1];
        best = std::min(best, elapsed_);
        if (++trial_ == kTrials) {
          kept_ = best_[0] <= best_[1];
          left_ = kKept;
          return kept_;
        }
      } else {
        return together();
      }
      elapsed_ = 0;
      left_ = kTrial;
      return together();
    }

   private:
    static constexpr std::uint32_t kTrials = 4;
    /// The least sum of a trial's intervals, each in ns per byte: of copying together and of copying alone.
    static constexpr std::array<double, 2> kNone = {std::numeric_limits<double>::max(),
                                                    std::numeric_limits<double>::max()};

    [[nodiscard]] bool together() const { return trial_ % 2 == 0; }

    std::int64_t last_time_ = 0;
    std::size_t last_bytes_ = 0;
    std::array<double, 2> best_ = kNone;
    double elapsed_ = 0;           ///< the sum of the trial under way
    std::uint32_t left_ = kFirst;  ///< messages until the trial, or the time between trials, is over
    std::uint32_t trial_ = kTrials;
    bool kept_ = true;  ///< the way between the trials: whether together
  };

  std::array<SizeClass, kClasses> classes_;
};

}  // namespace librma
