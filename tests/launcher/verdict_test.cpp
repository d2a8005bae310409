#include "rmarun/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <csignal>
#include <set>
#include <vector>

namespace {

using rmarun::Ended;
using rmarun::FailureFinder;
using rmarun::Rank;
using rmarun::Reports;
using rmarun::Stage;
using rmarun::Verdict;
using testing::HasSubstr;

constexpr int exited(int code) { return code << 8; }  // as waitpid(2) tells it
constexpr int killed(int signal) { return signal; }
constexpr int kPid = 1000;  // of rank 0

/// A job of four ranks that have joined. The test says what happens, in which order it is seen.
class VerdictTest : public testing::Test {
 protected:
  VerdictTest() {
    for (int rank = 0; rank < 4; ++rank) {
      ranks_.push_back({.pid = kPid + rank, .running = true});
      reports_.note_stage(rank, Stage::kJoined);
    }
  }

  void ends(std::vector<Ended> ended) {
    for (const Ended& each : ended) ranks_[each.rank].running = false;
    finder_.note(ended);
  }
  void leaves(int rank) { reports_.note_stage(rank, Stage::kLeft); }
  void is_lost(int rank) { reports_.note_stage(rank, Stage::kLost); }
  void aborts(int rank, int code) {
    reports_.note_abort({rank, code}, [this] { ++answers_; });
  }
  /// The rank's end is decided, and waitpid(2) does not report it yet.
  void is_ending(int rank) { ending_.insert(kPid + rank); }

  bool failed() { return finder_.has_failed(reports_); }
  int code() {
    const auto verdict = finder_.cause(reports_, false);
    return verdict ? verdict->exit_code : -1;
  }
  std::string why(bool overdue = false) {
    const auto verdict = finder_.cause(reports_, overdue);
    return verdict ? verdict->why : "open";
  }

  std::vector<Rank> ranks_;
  Reports reports_{4, rmarun::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
  std::set<pid_t> ending_;
  FailureFinder finder_{ranks_, [this](pid_t pid) { return ending_.count(pid) != 0; }};
  int answers_ = 0;
};

TEST_F(VerdictTest, SurvivesRanksThatASignalEnds) {
  finder_.survive();
  ends({{1, killed(SIGKILL)}});
  EXPECT_FALSE(failed());
  EXPECT_THAT(finder_.take_survived(),
              testing::ElementsAre(HasSubstr("rank 1 (pid 1001) was killed by signal 9")));
  EXPECT_TRUE(finder_.take_survived().empty());
  ends({{2, exited(3)}});
  is_lost(2);
  EXPECT_TRUE(failed()) << "an exit code is a failure";
  EXPECT_EQ(code(), 3);
}

TEST_F(VerdictTest, DoesNotSurviveTheLastRank) {
  finder_.survive();
  for (const std::size_t rank : {0U, 1U, 2U, 3U}) ends({{rank, killed(SIGKILL)}});
  EXPECT_TRUE(failed());
}

TEST_F(VerdictTest, WaitsForTheRankWhoseEndASurvivorsAbortFollowed) {
  is_ending(2);
  aborts(0, 58);
  EXPECT_TRUE(failed());
  EXPECT_FALSE(failed()) << "it is true once";
  EXPECT_EQ(code(), -1) << "rank 2 may be the cause";
  ends({{0, exited(58)}});
  EXPECT_EQ(code(), -1);
  ends({{2, killed(SIGKILL)}});
  EXPECT_EQ(code(), 128 + SIGKILL);
  EXPECT_THAT(why(), HasSubstr("rank 2 (pid 1002) was killed by signal 9 (Killed); ending the job"));
}

TEST_F(VerdictTest, PutsAKilledRankBeforeAnAbortThatIsSeenFirst) {
  aborts(3, 58);
  aborts(1, 58);
  ends({{0, killed(SIGSEGV)}});
  EXPECT_TRUE(failed());
  EXPECT_EQ(code(), 128 + SIGSEGV);
}

TEST_F(VerdictTest, PutsAnExitBeforeTheAbortOfASurvivor) {
  is_ending(1);
  aborts(3, 58);
  EXPECT_TRUE(failed());
  ends({{1, exited(3)}, {3, exited(58)}});
  EXPECT_EQ(code(), 3);
}

TEST_F(VerdictTest, TakesAnAbortThatNobodyCaused) {
  aborts(1, 9);
  aborts(2, 58);
  EXPECT_TRUE(failed());
  EXPECT_THAT(why(), HasSubstr("rank 1 aborted the job with exit code 9"));
  // Ranks that end later are consequences, however they end.
  ends({{0, killed(SIGSEGV)}, {1, exited(9)}, {2, exited(58)}, {3, killed(SIGKILL)}});
  EXPECT_EQ(code(), 9);
}

TEST_F(VerdictTest, CountsAnAbortersOwnEndAsItsAbort) {
  aborts(1, 9);
  is_ending(1);
  EXPECT_TRUE(failed());
  EXPECT_EQ(code(), 9) << "nothing has to be waited for";
}

TEST_F(VerdictTest, EndsWithoutFailureAfterAnAbortWithCode0) {
  aborts(1, 0);
  aborts(2, 0);
  EXPECT_TRUE(failed());
  ends({{1, exited(0)}, {2, exited(0)}});
  is_lost(2);
  EXPECT_EQ(code(), 0);
  EXPECT_EQ(why(), "");
}

TEST_F(VerdictTest, AnswersAbortsOnRequestOnly) {
  aborts(1, 9);
  EXPECT_TRUE(failed());
  EXPECT_EQ(answers_, 0);
  reports_.answer_aborts();
  reports_.answer_aborts();
  EXPECT_EQ(answers_, 1);
}

TEST_F(VerdictTest, TakesWhatIsKnownWhenTheCauseDoesNotEnd) {
  is_ending(2);
  aborts(0, 58);
  EXPECT_TRUE(failed());
  EXPECT_EQ(why(), "open");
  EXPECT_THAT(why(true), HasSubstr("rank 0 aborted"));
}

TEST_F(VerdictTest, PutsAKilledRankBeforeSurvivorsThatExit) {
  // The survivors miss a process whose memory is gone before its connection ends: theirs ended first.
  is_lost(0);
  is_lost(3);
  ends({{0, exited(1)}, {3, killed(SIGABRT)}});
  is_ending(1);
  EXPECT_TRUE(failed());
  is_lost(1);
  ends({{1, killed(SIGBUS)}});
  EXPECT_EQ(code(), 128 + SIGBUS);
}

TEST_F(VerdictTest, OrdersEqualEndsByTheirConnections) {
  ends({{0, exited(1)}, {1, exited(2)}, {2, exited(3)}});
  is_lost(2);
  EXPECT_FALSE(failed() && code() != -1) << "the others may still be found to have left";
  is_lost(0);
  is_lost(1);
  failed();
  EXPECT_EQ(code(), 3);
}

TEST_F(VerdictTest, WaitsForTheGoodbyeOfARankThatExits) {
  ends({{1, exited(7)}});
  EXPECT_FALSE(failed()) << "it may have left";
  EXPECT_TRUE(finder_.undecided());
  EXPECT_TRUE(finder_.look_again());
  leaves(1);
  EXPECT_FALSE(failed());
  EXPECT_FALSE(finder_.undecided());
  ends({{0, exited(5)}});
  leaves(0);
  EXPECT_FALSE(failed());
  EXPECT_EQ(finder_.after_leaving().exit_code, 7);
  EXPECT_THAT(finder_.after_leaving().why,
              HasSubstr("rank 1 (pid 1001) exited with code 7 after it had left"));
  EXPECT_THAT(finder_.after_leaving().why, HasSubstr("another rank failed likewise"));
}

TEST_F(VerdictTest, EndsTheJobWhenARankExitsWithoutAGoodbye) {
  ends({{1, exited(7)}});
  EXPECT_FALSE(failed());
  is_lost(1);
  EXPECT_TRUE(failed());
  EXPECT_EQ(code(), 7);
  EXPECT_EQ(finder_.after_leaving().exit_code, 0);
}

TEST_F(VerdictTest, EndsTheJobAtOnceWhenARankIsKilled) {
  ends({{1, killed(SIGKILL)}});
  EXPECT_TRUE(failed()) << "a process that it forked may hold its connection for ever";
  EXPECT_EQ(code(), 128 + SIGKILL);
}

TEST_F(VerdictTest, LetsOthersGoOnWhenARankIsKilledAfterItHasLeft) {
  leaves(1);
  ends({{1, killed(SIGSEGV)}});
  EXPECT_FALSE(failed());
  EXPECT_EQ(finder_.after_leaving().exit_code, 128 + SIGSEGV);
}

TEST_F(VerdictTest, TakesAFailureBeforeOneAfterLeaving) {
  leaves(1);
  ends({{1, exited(7)}});
  EXPECT_FALSE(failed());
  ends({{2, killed(SIGKILL)}});
  EXPECT_TRUE(failed());
  EXPECT_EQ(code(), 128 + SIGKILL);
}

TEST_F(VerdictTest, EndsTheJobWhenARankFailsThatNeverJoined) {
  reports_.note_stage(1, Stage::kNone);
  ends({{1, exited(2)}});
  EXPECT_TRUE(failed());
  EXPECT_EQ(code(), 2);
}

TEST_F(VerdictTest, NamesARankThatVanishedBeforeASurvivorsAbort) {
  ends({{3, exited(0)}});
  is_lost(3);
  aborts(0, 58);
  EXPECT_TRUE(failed());
  EXPECT_THAT(why(), HasSubstr("rank 3 (pid 1003) exited with code 0 without leaving"));
}

TEST_F(VerdictTest, TakesARanksCodeWhenNobodyIsLeftToBeDisturbed) {
  ends({{0, exited(0)}, {1, exited(0)}, {2, exited(0)}, {3, exited(4)}});
  leaves(0);
  leaves(1);
  leaves(2);
  EXPECT_TRUE(failed());
  EXPECT_EQ(code(), 4);
}

}  // namespace
