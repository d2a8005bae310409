#include "util/tables/fifo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <random>

#include "../../multi/failing_new.hpp"
#include "../seed.hpp"

namespace librma {
namespace {

TEST(Fifo, ElementsLeaveInTheOrderInWhichTheyCame) {
  Fifo<int> fifo;
  std::deque<int> model;
  std::size_t room = 0;
  std::mt19937_64 random(test_seed());
  for (int step = 0; step < 100'000; ++step) {
    const auto choice = random() % 64;
    if (choice == 0) {
      // Also less than there is, and in the middle of a ring whose first element is not at place 0.
      const std::size_t wanted = random() % 300;
      ASSERT_TRUE(fifo.reserve(wanted));
      room = std::max(room, wanted);
    } else if (choice % 2 == 0 && model.size() < room) {
      fifo.push_back(step);
      model.push_back(step);
    } else if (!model.empty()) {
      ASSERT_EQ(fifo.front(), model.front());
      fifo.pop_front();
      model.pop_front();
    }
    ASSERT_EQ(fifo.size(), model.size());
    ASSERT_EQ(fifo.empty(), model.empty());
    if (model.empty()) continue;
    const std::size_t place = random() % model.size();
    ASSERT_EQ(fifo[place], model[place]) << "at place " << place;
  }
}

TEST(Fifo, ItHoldsWhatCannotBeCopied) {
  Fifo<std::unique_ptr<int>> fifo;
  ASSERT_TRUE(fifo.reserve(1));
  fifo.push_back(std::make_unique<int>(1));
  ASSERT_TRUE(fifo.reserve(2));
  fifo.push_back(std::make_unique<int>(2));
  EXPECT_EQ(*fifo.front(), 1);
  fifo.pop_front();
  EXPECT_EQ(*fifo.front(), 2);
}

TEST(Fifo, RoomForWhichThereIsNoMemoryIsRefused) {
  Fifo<int> fifo;
  ASSERT_TRUE(fifo.reserve(4));
  fifo.push_back(7);
  let_fail(0, true);
  const bool reserved = fifo.reserve(100);
  ASSERT_TRUE(end_failing());
  EXPECT_FALSE(reserved);
  ASSERT_EQ(fifo.size(), 1U);
  EXPECT_EQ(fifo.front(), 7);
}

}  // namespace
}  // namespace librma
