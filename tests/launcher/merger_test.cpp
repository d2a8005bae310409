#include "rmarun/merger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>

namespace {

using rmarun::Merger;
using std::chrono::milliseconds;

constexpr Merger::Pace kPace{milliseconds(50), milliseconds(2000)};

/// Streams that are merged, and a clock that the test sets forward.
class MergerTest : public testing::Test {
 protected:
  /// One stream of each of `ranks`.
  void start(int ranks, bool labels = false, Merger::Pace pace = kPace) {
    merger_.emplace(pace, ranks == 1);
    for (int rank = 0; rank < ranks; ++rank)
      merger_->add(rank, labels ? "[" + std::to_string(rank) + "] " : "", out_);
  }
  void feed(std::size_t stream, const std::string& piece) { merger_->feed(stream, piece, now_); }
  void finish(std::size_t stream) { merger_->finish(stream, now_); }
  void pass(milliseconds time) {
    now_ += time;
    merger_->look(now_);
  }
  /// Sets the clock to the time that the merger asks for.
  void pass_until_due() {
    const auto next = merger_->next_look();
    ASSERT_TRUE(next);
    ASSERT_GT(*next, now_);
    pass(std::chrono::duration_cast<milliseconds>(*next - now_));
  }
  /// Returns what has come out since the last call.
  std::string out() {
    std::string now;
    now.swap(out_);
    return now;
  }

  std::string out_;
  std::optional<Merger> merger_;
  Merger::Clock::time_point now_{};
};

TEST_F(MergerTest, PassesEverythingOfOneRankAtOnce) {
  start(1);
  merger_->add(0, "", out_);  // its stderr
  feed(0, "Enter n: ");
  EXPECT_EQ(out(), "Enter n: ");
  feed(1, std::string("\0\xff", 2));
  EXPECT_EQ(out(), std::string("\0\xff", 2));
  feed(0, "a\nb");
  EXPECT_EQ(out(), "a\nb");
  finish(0);
  finish(1);
  EXPECT_EQ(out(), "") << "no newline is added";
}

TEST_F(MergerTest, PassesAnUnfinishedLineAtOnceWhileOneRankWrites) {
  start(3);
  feed(1, "Enter");
  EXPECT_EQ(out(), "Enter");
  feed(1, " n: ");
  EXPECT_EQ(out(), " n: ");
  EXPECT_FALSE(merger_->next_look()) << "nobody waits";
}

TEST_F(MergerTest, HoldsAnUnfinishedLineForAWhileWhenSeveralWrite) {
  start(2);
  feed(0, "a\n");
  feed(1, "b\n50%");
  EXPECT_EQ(out(), "a\nb\n");
  pass_until_due();
  EXPECT_EQ(out(), "50%");
  feed(1, " 60%");
  EXPECT_EQ(out(), " 60%") << "its line is open";
}

TEST_F(MergerTest, LetsOthersWaitForTheEndOfAnOpenLine) {
  start(3);
  feed(0, "begin");
  feed(1, "one\ntw");
  feed(2, "x\n");
  EXPECT_EQ(out(), "begin");
  feed(0, " end\nnext");
  EXPECT_EQ(out(), " end\none\nx\n");
  feed(1, "o\n");
  EXPECT_EQ(out(), "two\n");
}

TEST_F(MergerTest, LetsOthersGoAheadWhenAnOpenLineStandsStill) {
  start(2);
  feed(0, "Enter n: ");
  feed(1, "log\n");
  EXPECT_EQ(out(), "Enter n: ");
  pass_until_due();
  EXPECT_EQ(out(), "log\n");
  EXPECT_EQ(now_ - Merger::Clock::time_point{}, kPace.patience);
  feed(1, "more\n");
  EXPECT_EQ(out(), "more\n");
}

TEST_F(MergerTest, OpensOneLineAtATime) {
  start(3);
  feed(0, "\n");
  feed(1, "first");
  pass(milliseconds(10));
  feed(2, "second");
  EXPECT_EQ(out(), "\n");
  pass(milliseconds(40));
  EXPECT_EQ(out(), "first");
  pass(milliseconds(100));
  EXPECT_EQ(out(), "") << "the second waits for the end of the first";
  finish(1);
  EXPECT_EQ(out(), "second");
}

TEST_F(MergerTest, EndsAnOpenLineWithItsStream) {
  start(2);
  feed(0, "0");
  feed(1, "1");
  EXPECT_EQ(out(), "0");
  finish(1);
  EXPECT_EQ(out(), "");
  finish(0);
  EXPECT_EQ(out(), "1") << "no newline is added";
}

TEST_F(MergerTest, LabelsLinesAndTheRestOfAnInterruptedLine) {
  start(2, true);
  feed(0, "a\n\nb");
  EXPECT_EQ(out(), "[0] a\n[0] \n[0] b");
  feed(0, "c");
  feed(1, "x\n");
  EXPECT_EQ(out(), "c");
  pass_until_due();
  EXPECT_EQ(out(), "[1] x\n");
  feed(0, "d\ne\n");
  EXPECT_EQ(out(), "[0] d\n[0] e\n");
}

TEST_F(MergerTest, BoundsWhatWaits) {
  start(2);
  feed(0, "open");
  const std::string line = std::string(Merger::kLongestWait / 4, 'x') + "\n";
  for (int i = 0; i < 3; ++i) feed(1, line);
  EXPECT_EQ(out(), "open");
  feed(1, line);
  EXPECT_EQ(out(), line + line + line + line);
  // A line that grows too long to be kept is opened, however many write.
  const std::string piece(Merger::kLongestWait / 4 + 1, 'y');
  for (int i = 0; i < 4; ++i) feed(1, piece);
  EXPECT_EQ(out(), piece + piece + piece + piece);
}

/// Random pieces at random times: each stream's bytes come out in their order, and nothing else does. While
/// nobody stands still for long, lines come out whole.
TEST_F(MergerTest, KeepsTheBytesOfEachStreamInOrder) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const bool patient : {true, false}) {
    constexpr int kRanks = 5;
    start(kRanks);
    std::array<std::string, kRanks> sent;
    std::string all;
    const auto below = [&](unsigned limit) { return static_cast<int>(random() % limit); };
    for (int step = 0; step < 3000; ++step) {
      const auto rank = static_cast<std::size_t>(below(kRanks));
      std::string piece(static_cast<std::size_t>(below(6)), static_cast<char>('a' + rank));
      for (char& c : piece) c = below(4) == 0 ? '\n' : c;
      sent[rank] += piece;
      feed(rank, piece);
      pass(milliseconds(below(patient ? 20 : 4000)));
      all += out();
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      feed(rank, "\n");
      sent[rank] += '\n';
      finish(rank);
    }
    all += out();
    std::size_t newlines = 0;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const auto letter = static_cast<char>('a' + rank);
      EXPECT_EQ(std::count(all.begin(), all.end(), letter),
                std::count(sent[rank].begin(), sent[rank].end(), letter));
      newlines += static_cast<std::size_t>(std::count(sent[rank].begin(), sent[rank].end(), '\n'));
    }
    EXPECT_EQ(static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n')), newlines);
    // Pieces of one line come at most 5 * 20 ms apart in the mean, and 2 s are the patience.
    std::size_t mixed = 0;
    for (std::size_t at = 1; at < all.size(); ++at)
      mixed += all[at] != '\n' && all[at - 1] != '\n' && all[at] != all[at - 1] ? 1U : 0U;
    if (patient) {
      EXPECT_EQ(mixed, 0U);
    } else {
      EXPECT_GT(mixed, 0U) << "the times are too short to test anything";
    }
  }
}

}  // namespace
