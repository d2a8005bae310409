#include "messages/rings/sharing_trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace librma {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 10U;

/// A stream whose messages take so long if they are copied together, and so long if they are copied alone.
class Stream {
 public:
  Stream(std::int64_t together, std::int64_t alone) : together_(together), alone_(alone) {}

  /// Returns how many of the next messages are copied together.
  int shared_of(int messages, std::size_t bytes = kBytes) {
    int shared = 0;
    for (int message = 0; message < messages; ++message) {
      const bool shares = trials_.shares(bytes, now_);
      shared += shares ? 1 : 0;
      now_ += shares ? together_ : alone_;
    }
    return shared;
  }
  void pause(std::int64_t nanoseconds) { now_ += nanoseconds; }
  void become(std::int64_t together, std::int64_t alone) {
    together_ = together;
    alone_ = alone;
  }

 private:
  SharingTrials trials_;
  std::int64_t now_ = 1'000'000'000;
  std::int64_t together_;
  std::int64_t alone_;
};

constexpr int kFirst = SharingTrials::kFirst;
constexpr int kTrial = SharingTrials::kTrial;
constexpr int kTrials = 4 * kTrial;
constexpr int kKept = SharingTrials::kLeastKept;
constexpr int kMostKept = SharingTrials::kMostKept;

TEST(SharingTrialsTest, TheFasterWayServesBetweenTheTrials) {
  Stream better_alone(4200, 3100);
  EXPECT_EQ(better_alone.shared_of(kFirst), kFirst);
  EXPECT_EQ(better_alone.shared_of(kTrials + kKept), 2 * kTrial);
  Stream better_together(5900, 9600);
  EXPECT_EQ(better_together.shared_of(kFirst + kTrials + kKept), kFirst + 2 * kTrial + kKept);
}

TEST(SharingTrialsTest, AStreamThatChangesIsTriedAgain) {
  Stream stream(4200, 3100);
  static_cast<void>(stream.shared_of(kFirst + kTrials + 1));
  stream.become(3100, 4200);
  static_cast<void>(stream.shared_of(kKept + kTrials));
  EXPECT_EQ(stream.shared_of(kKept / 2), kKept / 2);
}

TEST(SharingTrialsTest, AWayThatWinsAgainServesForLonger) {
  Stream stream(4200, 3100);
  static_cast<void>(stream.shared_of(kFirst - 1));
  for (int kept = kKept; kept < 4 * kMostKept; kept *= 2) {
    EXPECT_EQ(stream.shared_of(kTrials), 2 * kTrial) << "before " << kept;
    EXPECT_EQ(stream.shared_of(std::min(kept, kMostKept)), 0);
  }
  stream.become(3100, 4200);
  static_cast<void>(stream.shared_of(kTrials + 1));
  EXPECT_EQ(stream.shared_of(kKept - 1), kKept - 1);
  EXPECT_EQ(stream.shared_of(kTrials), 2 * kTrial) << "the other way has won only once";
}

TEST(SharingTrialsTest, OneSlowTrialDecidesNothing) {
  for (const int slow : {0, 1, 2, 3}) {
    Stream stream(3100, 4200);
    static_cast<void>(stream.shared_of(kFirst + slow * kTrial));
    stream.become(30'000, 40'000);
    static_cast<void>(stream.shared_of(kTrial));
    stream.become(3100, 4200);
    static_cast<void>(stream.shared_of((3 - slow) * kTrial + 1));
    EXPECT_EQ(stream.shared_of(kKept / 2), kKept / 2) << "trial " << slow;
  }
}

TEST(SharingTrialsTest, MessagesAfterPausesAreCopiedTogetherAndDecideNothing) {
  Stream stream(4200, 3100);
  for (int message = 0; message < 10 * (kFirst + kTrials); ++message) {
    EXPECT_EQ(stream.shared_of(1), 1);
    stream.pause(1'000'000);
  }
  // One pause within a stream, as when the rank loses its processor.
  Stream interrupted(3100, 4200);
  static_cast<void>(interrupted.shared_of(kFirst + kTrial / 2));
  interrupted.pause(10'000'000);
  static_cast<void>(interrupted.shared_of(kTrials + 1));
  EXPECT_EQ(interrupted.shared_of(kKept / 2), kKept / 2);
}

TEST(SharingTrialsTest, SlowCopiesAreNoPauses) {
  Stream new_pages(99'000, 15'000);
  static_cast<void>(new_pages.shared_of(kFirst + kTrials + 1));
  EXPECT_EQ(new_pages.shared_of(kKept / 2), 0);
}

TEST(SharingTrialsTest, EachClassOfSizesDecidesForItself) {
  Stream stream(4200, 3100);
  static_cast<void>(stream.shared_of(kFirst + kTrials + 1));
  EXPECT_EQ(stream.shared_of(kFirst, 2 * kBytes), kFirst);
  EXPECT_EQ(stream.shared_of(kKept / 2, 2 * kBytes - 1), 0) << "a size of the first class";
}

TEST(SharingTrialsTest, LongMessagesAreAlwaysCopiedTogether) {
  Stream stream(400'000, 300'000);
  EXPECT_EQ(stream.shared_of(1000, SharingTrials::kLeast << SharingTrials::kClasses), 1000);
}

TEST(SharingTrialsTest, TheLeastSizeHasAClass) {
  Stream stream(4200, 3100);
  static_cast<void>(stream.shared_of(kFirst + kTrials + 1, SharingTrials::kLeast));
  EXPECT_EQ(stream.shared_of(kKept / 2, SharingTrials::kLeast), 0);
}

}  // namespace
}  // namespace librma
