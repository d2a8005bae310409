#include "rmarun/hosts/remote_waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

namespace {

using rmarun::RankState;
using rmarun::RemoteRanks;
using rmarun::RemoteWaits;
using rmarun::WaitsAnswer;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Process = RankState::Process;
using Step = RemoteWaits::Step;

const RemoteWaits::Clock::time_point kNow = RemoteWaits::Clock::time_point() + std::chrono::hours(1);

librma::WaitRecord receive_from(int rank, std::int64_t since) {
  librma::WaitRecord record;
  record.since = since;
  record.thread = 7;
  record.run_count = 1;
  record.runs[0] = {.first = rank, .count = 1, .stride = 1};
  librma::copy_text("MPI_Recv", record.call);
  librma::copy_text("from \n [a] \x10 rank", record.about);
  return record;
}

std::string answer(std::uint32_t question, std::int64_t since, std::int64_t time = 9'000'000'000) {
  WaitsAnswer said{.question = question, .process = Process::sleeps, .time = time};
  said.records[2] = receive_from(1, since);
  return rmarun::words_of(said);
}

TEST(RemoteWaits, WordsComeBack) {
  WaitsAnswer said{.question = 3, .process = Process::stopped, .time = 5};
  EXPECT_EQ(rmarun::words_of(said).find('\n'), rmarun::words_of(said).size() - 1);
  said.records[0] = receive_from(4, 1);
  said.records[3] = receive_from(5, 2);
  said.records[1].emplace();  // of no wait
  const auto read = rmarun::waits_answer_of(rmarun::words_of(said));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->question, 3U);
  EXPECT_EQ(read->process, Process::stopped);
  EXPECT_EQ(read->time, 5);
  EXPECT_FALSE(read->records[1]);
  EXPECT_FALSE(read->records[2]);
  EXPECT_EQ(read->records[0]->runs[0].first, 4);
  EXPECT_EQ(read->records[3]->runs[0].first, 5);
}

TEST(RemoteWaits, OtherWordsAreNone) {
  for (const char* const words :
       {"", "waits", "waits 1 0 5", "wait 1 0 5\n", "waits x 0 5\n", "waits 1 9 5\n", "waits 1 -1 5\n",
        "waits 1 0 -5\n", "waits 1 4 5\n", "\nwaits 1 0 5\n"})
    EXPECT_FALSE(rmarun::waits_answer_of(words)) << words;
  std::string wrong_slot = answer(1, 1);
  wrong_slot[wrong_slot.find('\n') + 1] = '4';
  EXPECT_FALSE(rmarun::waits_answer_of(wrong_slot));
  std::string cut = answer(1, 1);
  cut.pop_back();
  ASSERT_TRUE(rmarun::waits_answer_of(cut));
  EXPECT_FALSE(rmarun::waits_answer_of(cut)->records[2]);
}

TEST(RemoteWaits, TakeAnyBytes) {
  std::mt19937 random(7);
  RemoteRanks ranks({"a", "b"});
  for (int rank = 0; rank < 2; ++rank) ranks.take(rank, "start 5 a");
  RemoteWaits waits(2);
  for (int round = 0; round < 2000; ++round) {
    const auto now = kNow + round * std::chrono::milliseconds(700);
    waits.begin(now);
    waits.step(ranks, now);
    std::string words = answer(static_cast<std::uint32_t>(round), 1);
    for (int changes = 0; changes < 4; ++changes)
      words[random() % words.size()] = static_cast<char>(random());
    waits.take(static_cast<int>(random() % 4) - 1, words.substr(0, random() % (words.size() + 1)));
    waits.step(ranks, now);
    EXPECT_THAT(rmarun::explain_hang(waits.states(ranks)), testing::Not(IsEmpty()));
  }
}

TEST(RemoteWaits, AreAskedForTwice) {
  RemoteRanks ranks({"a", "a", "b", "b"});
  for (int rank = 0; rank < 3; ++rank) ranks.take(rank, "start 5 a");
  ranks.take(2, "exit 0 0");
  RemoteWaits waits(4);
  EXPECT_EQ(waits.step(ranks, kNow), Step::wait);  // nobody has asked
  waits.begin(kNow);
  EXPECT_EQ(waits.step(ranks, kNow), Step::ask);
  EXPECT_EQ(waits.step(ranks, kNow), Step::wait);
  waits.take(0, answer(1, 3'000'000'000));
  EXPECT_EQ(waits.step(ranks, kNow), Step::wait);
  waits.take(1, answer(5, 1));
  EXPECT_EQ(waits.step(ranks, kNow), Step::ask);
  waits.take(1, answer(5, 1));  // once more for the first question
  waits.take(0, answer(2, 3'000'000'000));
  EXPECT_EQ(waits.step(ranks, kNow), Step::wait);
  waits.take(1, answer(6, 2));  // another wait than before
  EXPECT_EQ(waits.step(ranks, kNow), Step::report);
  EXPECT_FALSE(waits.under_way());
  const auto states = waits.states(ranks);
  ASSERT_THAT(states, SizeIs(4));
  ASSERT_THAT(states[0].waits, SizeIs(1));
  EXPECT_EQ(states[0].waits[0].about, "from ? [a] ? rank");
  EXPECT_EQ(states[0].waits[0].seconds, 6);
  EXPECT_THAT(states[0].waits[0].ranks, ElementsAre(1));
  EXPECT_THAT(states[1].waits, IsEmpty());
  EXPECT_EQ(states[2].process, Process::ended);
  EXPECT_EQ(states[3].process, Process::absent);
}

TEST(RemoteWaits, DoNotWaitForALostHost) {
  RemoteRanks ranks({"a", "b"});
  for (int rank = 0; rank < 2; ++rank) ranks.take(rank, "start 5 a");
  RemoteWaits waits(2);
  waits.begin(kNow);
  EXPECT_EQ(waits.step(ranks, kNow), Step::ask);
  for (const Step last : {Step::ask, Step::report}) {
    waits.take(0, answer(last == Step::ask ? 1 : 2, 1));
    EXPECT_EQ(waits.step(ranks, kNow), Step::wait);
    ASSERT_TRUE(waits.next_look());
    EXPECT_GT(*waits.next_look(), kNow);
    EXPECT_EQ(waits.step(ranks, *waits.next_look()), last);
  }
  EXPECT_EQ(waits.states(ranks)[1].process, Process::unknown);
  EXPECT_THAT(rmarun::explain_hang(waits.states(ranks)),
              testing::Contains("rank 1: its host does not answer"));
}

}  // namespace
