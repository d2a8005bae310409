// A job whose processes, here threads, find each other by functions of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kRanks = 3;

/// The data that the threads share: room for each one's data, and a barrier.
struct Meeting {
  explicit Meeting(int count) : parts(static_cast<std::size_t>(count)), point(count) {}
  std::vector<std::vector<std::byte>> parts;
  std::barrier<> point;
};

struct Member {
  Meeting* meeting;
  std::size_t rank;
};

int allgather(void* context, const void* mine, void* all, std::size_t bytes) {
  const Member& member = *static_cast<Member*>(context);
  const auto* const from = static_cast<const std::byte*>(mine);
  member.meeting->parts[member.rank].assign(from, from + bytes);
  member.meeting->point.arrive_and_wait();
  auto* to = static_cast<std::byte*>(all);
  for (const auto& part : member.meeting->parts) to = std::copy(part.begin(), part.end(), to);
  member.meeting->point.arrive_and_wait();
  return 0;
}

int barrier(void* context) {
  static_cast<Member*>(context)->meeting->point.arrive_and_wait();
  return 0;
}

int fail(void* /*context*/, const void* /*mine*/, void* /*all*/, std::size_t /*bytes*/) { return 17; }

std::vector<std::byte> card_of(int rank) {
  // The cards have different sizes; one has none.
  return std::vector<std::byte>(static_cast<std::size_t>(rank) * 100, static_cast<std::byte>(rank));
}

TEST(GivenBootstrap, CarriesEveryCardToEveryone) {
  Meeting meeting(kRanks);
  std::vector<std::string> jobs(kRanks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&meeting, &jobs, rank] {
      Member member = {&meeting, static_cast<std::size_t>(rank)};
      const rma_bootstrap_t given = {rank, kRanks, allgather, barrier, nullptr, &member};
      auto opened = librma::open_bootstrap(0, &given);
      ASSERT_TRUE(opened.ok()) << opened.status().text();
      auto& bootstrap = *opened.value();
      EXPECT_EQ(bootstrap.rank(), rank);
      EXPECT_EQ(bootstrap.size(), kRanks);
      EXPECT_THAT(bootstrap.local_ranks(), ElementsAre(0, 1, 2));
      jobs[static_cast<std::size_t>(rank)] = bootstrap.job_id();
      EXPECT_EQ(bootstrap.card_of(0).status().code(), RMA_ERR_LAUNCH) << "before the fence";
      EXPECT_TRUE(bootstrap.publish(card_of(rank)).ok());
      EXPECT_TRUE(bootstrap.fence().ok());
      for (int other = 0; other < kRanks; ++other) {
        const auto card = bootstrap.card_of(other);
        EXPECT_TRUE(card.ok());
        EXPECT_EQ(card.value(), card_of(other));
      }
      EXPECT_TRUE(bootstrap.fence().ok());
      EXPECT_EQ(bootstrap.card_of(kRanks).status().code(), RMA_ERR_RANK);
      EXPECT_EQ(bootstrap.card_of(-1).status().code(), RMA_ERR_RANK);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(jobs[0].empty());
  EXPECT_EQ(jobs[0], jobs[1]);
  EXPECT_EQ(jobs[0], jobs[2]);
}

TEST(GivenBootstrap, SaysWhichCallFailed) {
  const rma_bootstrap_t given = {0, 1, fail, barrier, nullptr, nullptr};
  const auto opened = librma::open_bootstrap(0, &given);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().code(), RMA_ERR_LAUNCH);
  EXPECT_THAT(std::string(opened.status().text()), HasSubstr("allgather"));
  EXPECT_THAT(std::string(opened.status().text()), HasSubstr("17"));
}

}  // namespace
