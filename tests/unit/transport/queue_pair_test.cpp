#include "transport/verbs/queue_pair.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace librma::transport {
namespace {

TEST(Credits, AreTakenWholeOrNotAtAll) {
  Credits credits(10);
  EXPECT_TRUE(credits.take(4));
  EXPECT_FALSE(credits.take(7));
  EXPECT_TRUE(credits.take(6)) << "what was refused took nothing";
  EXPECT_FALSE(credits.take(1));
  credits.give(2);
  EXPECT_FALSE(credits.take(3));
  EXPECT_TRUE(credits.take(2));
}

TEST(Credits, OfSeveralThreadsAreNeverMoreThanThereAre) {
  constexpr std::uint32_t kMost = 5;
  Credits credits(kMost);
  std::atomic<std::uint32_t> held = 0;
  std::atomic<std::uint32_t> too_many = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t wanted = 1; wanted <= 4; ++wanted) {
    threads.emplace_back([&, wanted] {
      for (int i = 0; i < 2000; ++i) {
        if (!credits.take(wanted)) continue;
        if (held.fetch_add(wanted) + wanted > kMost) ++too_many;
        held -= wanted;
        credits.give(wanted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(too_many, 0U);
  EXPECT_TRUE(credits.take(kMost)) << "all came back";
  EXPECT_FALSE(credits.take(1)) << "and no more";
}

TEST(RequestId, ComesBackAsItWasAndLeavesTheReceivesBit) {
  for (const std::uint32_t queue : {0U, 1U, 4711U, 0x7fff'ffffU}) {
    for (const std::uint32_t number : {0U, 1U, 0xffff'ffffU}) {
      const std::uint64_t id = RequestId{.queue = queue, .number = number}.encode();
      EXPECT_EQ(RequestId::decode(id).queue, queue);
      EXPECT_EQ(RequestId::decode(id).number, number);
      EXPECT_EQ(id >> 63U, 0U);
    }
  }
}

}  // namespace
}  // namespace librma::transport
