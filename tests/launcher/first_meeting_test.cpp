#include "rmarun/hosts/first_meeting.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "rmarun/hosts/meeting_words.hpp"
#include "util/waiting/wait_board.hpp"

namespace {

using rmarun::FirstMeeting;
using rmarun::in_first_meeting;
using rmarun::meeting_words;
using rmarun::meets_of;
using rmarun::RemoteRanks;
using std::chrono::milliseconds;

/// Ranks 0 to 2, which have started.
class FirstMeetingTest : public testing::Test {
 protected:
  FirstMeetingTest() {
    for (int rank = 0; rank < 3; ++rank) ranks_.take(rank, "start 7 a");
  }
  /// The words of rank 0's keeper come after some milliseconds.
  void says(bool meets, int after) {
    now_ += milliseconds(after);
    meeting_.take(0, meeting_words(meets), now_);
  }

  RemoteRanks ranks_{{"a", "a", "b"}};
  FirstMeeting meeting_{3};
  FirstMeeting::Clock::time_point now_ = FirstMeeting::Clock::time_point() + std::chrono::hours(1);
};

TEST_F(FirstMeetingTest, IsAWaitForARankThatHasEnded) {
  says(true, 0);
  says(true, 1000);
  EXPECT_FALSE(meeting_.verdict(ranks_));  // all run
  ranks_.take(2, "exit 0 0 0");
  EXPECT_FALSE(meeting_.verdict(ranks_));
  says(true, 1000);
  EXPECT_FALSE(meeting_.verdict(ranks_));
  says(true, 1000);
  const auto verdict = meeting_.verdict(ranks_);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->exit_code, 1);
  EXPECT_EQ(verdict->why,
            "rank 2 exited with code 0 without joining the job that rank 0 has joined; ending the job");
}

TEST_F(FirstMeetingTest, NeedsWordsThatComeApart) {
  says(true, 0);
  ranks_.take(2, "exit 0 0 0");
  EXPECT_FALSE(meeting_.verdict(ranks_));  // what was said before the end does not count
  says(true, 0);
  for (int i = 0; i < 4; ++i) {
    says(true, 100);
    EXPECT_FALSE(meeting_.verdict(ranks_));
  }
  says(true, 100);
  EXPECT_TRUE(meeting_.verdict(ranks_));
}

TEST_F(FirstMeetingTest, EndsWhenAllHaveJoined) {
  says(true, 0);
  ranks_.take(2, "exit 0 0 0");
  EXPECT_FALSE(meeting_.verdict(ranks_));
  says(true, 1000);
  says(false, 1000);
  EXPECT_FALSE(meeting_.verdict(ranks_));
  says(true, 1000);
  EXPECT_FALSE(meeting_.verdict(ranks_));
}

TEST_F(FirstMeetingTest, IsOfRanksThatRun) {
  says(true, 0);
  ranks_.take(2, "exit 0 0 0");
  EXPECT_FALSE(meeting_.verdict(ranks_));
  says(true, 1000);
  says(true, 1000);
  ranks_.take(0, "signal 15 0 1 1");
  EXPECT_FALSE(meeting_.verdict(ranks_));
}

TEST_F(FirstMeetingTest, TakesNoOtherWords) {
  ranks_.take(2, "exit 0 0 0");
  for (const char* const words : {"meets", "meets 2", "meets 1 ", "meet 1", ""}) {
    EXPECT_FALSE(meets_of(words)) << words;
    for (const int rank : {0, -1, 3}) {
      meeting_.take(rank, words, now_ += std::chrono::seconds(1));
      EXPECT_FALSE(meeting_.verdict(ranks_));
    }
  }
  meeting_.take(3, "meets 1", now_);
  meeting_.take(-1, "meets 1", now_);
  EXPECT_FALSE(meeting_.verdict(ranks_));
}

TEST(FirstMeetings, AreFoundInTheRecordsOfWaits) {
  rmarun::WaitRecords records;
  EXPECT_FALSE(in_first_meeting(records));
  librma::WaitRecord& record = records[2].emplace();
  record.thread = 7;
  record.meeting = std::uint64_t{1} << 32U | 1U;
  librma::copy_text("MPI_Init", record.call);
  librma::copy_text("all ranks", record.about);
  EXPECT_TRUE(in_first_meeting(records));
  record.meeting = std::uint64_t{2} << 32U | 1U;
  EXPECT_FALSE(in_first_meeting(records));
  record.meeting = std::uint64_t{1} << 32U | 1U;
  librma::copy_text("MPI_COMM_WORLD", record.about);
  EXPECT_FALSE(in_first_meeting(records));
  librma::copy_text("all ranks", record.about);
  record.thread = 0;
  EXPECT_FALSE(in_first_meeting(records));
}

}  // namespace
