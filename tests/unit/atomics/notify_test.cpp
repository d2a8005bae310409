#include "atomics/notify.hpp"

#include <limits>
#include <thread>

#include "job_of_one.hpp"

namespace librma {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(CompareWords, EveryComparisonIsUnsigned) {
  struct Case {
    rma_compare_t compare;
    bool less;  // the result for 1 compared with the largest word
    bool equal;
    bool greater;
  };
  for (const Case& c :
       {Case{RMA_EQ, false, true, false}, Case{RMA_NE, true, false, true}, Case{RMA_LT, true, false, false},
        Case{RMA_LE, true, true, false}, Case{RMA_GT, false, false, true}, Case{RMA_GE, false, true, true}}) {
    EXPECT_TRUE(valid_compare(c.compare));
    EXPECT_EQ(compare_words<std::uint64_t>(1, c.compare, kLargest), c.less) << c.compare;
    EXPECT_EQ(compare_words<std::uint64_t>(kLargest, c.compare, kLargest), c.equal) << c.compare;
    EXPECT_EQ(compare_words<std::uint64_t>(kLargest, c.compare, 1), c.greater) << c.compare;
  }
  EXPECT_FALSE(valid_compare(static_cast<rma_compare_t>(-1)));
  EXPECT_FALSE(valid_compare(static_cast<rma_compare_t>(RMA_GE + 1)));
}

class Notify : public JobOfOne {};

TEST_F(Notify, WakesWhoeverSleeps) {
  auto* const flag = heap<std::uint64_t>(1);
  EXPECT_EQ(wakeups_during([&] { notify(*job, reinterpret_cast<std::byte*>(flag), 42, 0); }), 1U);
  EXPECT_EQ(read_word(flag), 42U);
}

TEST_F(Notify, AWaiterSeesTheDataWithTheFlag) {
  constexpr std::uint64_t kRounds = 2000;
  auto* const there = heap<std::uint64_t>(1);
  auto* const back = heap<std::uint64_t>(1);
  std::array<std::uint64_t, 16> data = {};
  std::thread reader([&] {
    for (std::uint64_t i = 1; i <= kRounds; ++i) {
      EXPECT_EQ(wait_until_word(*job, there, RMA_GE, i), i);
      for (const std::uint64_t word : data) ASSERT_EQ(word, i);
      notify(*job, reinterpret_cast<std::byte*>(back), i, 0);
    }
  });
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    data.fill(i);
    notify(*job, reinterpret_cast<std::byte*>(there), i, 0);
    EXPECT_EQ(wait_until_word(*job, back, RMA_EQ, i), i);
  }
  reader.join();
}

}  // namespace
}  // namespace librma
