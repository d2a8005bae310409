#include "atomics/atomic.hpp"

#include <thread>

#include "job_of_one.hpp"

namespace librma {
namespace {

template <typename Word>
struct Case {
  rma_atomic_op_t op;
  Word operand;
  Word compare;
  Word before;
  Word after;
};

template <typename Word>
constexpr std::array<Case<Word>, 10> kCases = {{
    {RMA_FETCH_ADD, 5, 0, 7, 12},
    {RMA_FETCH_ADD, 2, 0, static_cast<Word>(-1), 1},
    {RMA_SWAP, 5, 0, 7, 5},
    {RMA_COMPARE_SWAP, 5, 7, 7, 5},
    {RMA_COMPARE_SWAP, 5, 6, 7, 7},
    {RMA_AND, 0b1100, 0, 0b1010, 0b1000},
    {RMA_OR, 0b1100, 0, 0b1010, 0b1110},
    {RMA_XOR, 0b1100, 0, 0b1010, 0b0110},
    {RMA_SET, 5, 0, 7, 5},
    {RMA_FETCH, 5, 0, 7, 7},
}};

class Atomic : public JobOfOne {
 protected:
  template <typename Word>
  void check(Word* word) {
    for (const Case<Word>& c : kCases<Word>) {
      SCOPED_TRACE(testing::Message() << "operation " << c.op << " on " << sizeof(Word) << " bytes");
      word[0] = c.before;
      word[1] = 99;
      Word old = 0;
      const std::uint32_t wakeups = wakeups_during([&] {
        const Status status = atomic_update(*accumulator, c.op, word, c.operand, c.compare, &old, 0);
        EXPECT_TRUE(status.ok()) << status.text();
      });
      EXPECT_EQ(old, c.before);
      EXPECT_EQ(word[0], c.after);
      EXPECT_EQ(word[1], 99U);
      EXPECT_EQ(wakeups, c.op == RMA_FETCH ? 0U : 1U);
      EXPECT_EQ(atomic_result(c.op, c.before, c.operand, c.compare), c.after);

      word[0] = c.before;
      ASSERT_TRUE(
          atomic_update(*accumulator, c.op, word, c.operand, c.compare, static_cast<Word*>(nullptr), 0).ok());
      EXPECT_EQ(word[0], c.after);
    }
  }
};

TEST_F(Atomic, EveryOperationInTheHeap) {
  check(heap<std::uint64_t>(2));
  check(heap<std::uint32_t>(2));
}

TEST_F(Atomic, EveryOperationInRegisteredMemory) {
  std::array<std::uint64_t, 2> words64 = {};
  std::array<std::uint32_t, 2> words32 = {};
  expose(words64.data(), sizeof words64);
  expose(words32.data(), sizeof words32);
  check(words64.data());
  check(words32.data());
}

TEST_F(Atomic, RefusesOtherMemory) {
  std::uint64_t word = 1;
  EXPECT_EQ(atomic_update<std::uint64_t>(*accumulator, RMA_SWAP, &word, 2, 0, nullptr, 0).code(),
            RMA_ERR_ADDRESS);
  EXPECT_EQ(word, 1U);
}

TEST_F(Atomic, LosesNothingAmongThreads) {
  auto* const sum = heap<std::uint64_t>(1);
  auto* const chain = heap<std::uint32_t>(1);
  constexpr std::uint32_t kRounds = 5000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < kRounds; ++i) {
        ASSERT_TRUE(atomic_update<std::uint64_t>(*accumulator, RMA_FETCH_ADD, sum, 3, 0, nullptr, 0).ok());
        std::uint32_t seen = 0;
        ASSERT_TRUE(atomic_update<std::uint32_t>(*accumulator, RMA_FETCH, chain, 0, 0, &seen, 0).ok());
        for (std::uint32_t tried = seen + 1; tried != seen;) {
          tried = seen;
          ASSERT_TRUE(
              atomic_update<std::uint32_t>(*accumulator, RMA_COMPARE_SWAP, chain, tried + 1, tried, &seen, 0)
                  .ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*sum, 3U * 4U * kRounds);
  EXPECT_EQ(*chain, 4U * kRounds);
}

TEST(AtomicOps, Valid) {
  EXPECT_TRUE(valid_atomic(RMA_FETCH_ADD));
  EXPECT_TRUE(valid_atomic(RMA_FETCH));
  EXPECT_FALSE(valid_atomic(static_cast<rma_atomic_op_t>(-1)));
  EXPECT_FALSE(valid_atomic(static_cast<rma_atomic_op_t>(RMA_FETCH + 1)));
}

}  // namespace
}  // namespace librma
