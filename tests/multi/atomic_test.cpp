// Atomic operations: each of them against a model, and all ranks on one word.

#include <algorithm>
#include <numeric>

#include "harness.hpp"
#include "rma/direct.h"

namespace multi {
namespace {

constexpr std::array kOperations = {RMA_FETCH_ADD, RMA_SWAP, RMA_COMPARE_SWAP, RMA_AND,
                                    RMA_OR,        RMA_XOR,  RMA_SET,          RMA_FETCH};

rma_status_t atomic(rma_atomic_op_t op, std::uint64_t* word, std::uint64_t operand, std::uint64_t compare,
                    std::uint64_t* old, int rank) {
  return rma_atomic64(op, word, operand, compare, old, rank);
}
rma_status_t atomic(rma_atomic_op_t op, std::uint32_t* word, std::uint32_t operand, std::uint32_t compare,
                    std::uint32_t* old, int rank) {
  return rma_atomic32(op, word, operand, compare, old, rank);
}

template <typename Word>
Word model(rma_atomic_op_t op, Word value, Word operand, Word compare) {
  switch (op) {
    case RMA_FETCH_ADD:
      return static_cast<Word>(value + operand);
    case RMA_SWAP:
    case RMA_SET:
      return operand;
    case RMA_COMPARE_SWAP:
      return value == compare ? operand : value;
    case RMA_AND:
      return value & operand;
    case RMA_OR:
      return value | operand;
    case RMA_XOR:
      return value ^ operand;
    case RMA_FETCH:
      break;
  }
  return value;
}

template <typename Word>
void all_operations(Remote remote) {
  constexpr std::size_t kWords = 16;
  Slices slices(remote, kWords * sizeof(Word));
  Random random({41, sizeof(Word), static_cast<std::uint64_t>(me())});
  for (int i = 0; i < rounds(600); ++i) {
    const int target = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
    const std::size_t index = random.below(kWords);
    std::byte* const place = slices.model(target).data() + index * sizeof(Word);
    Word value = 0;
    std::memcpy(&value, place, sizeof value);
    const rma_atomic_op_t op = random.pick(kOperations);
    const auto operand = static_cast<Word>(random.word());
    const Word compare = random.chance(60) ? value : static_cast<Word>(random.word());
    Word old = 0;
    const bool wanted = random.chance(80);
    auto* const word = reinterpret_cast<Word*>(slices.at(target)) + index;
    EXPECT_TRUE(ok(atomic(op, word, operand, compare, wanted ? &old : nullptr, target)));
    if (wanted && op != RMA_SET) EXPECT_EQ(old, value) << "operation " << op;
    value = model(op, value, operand, compare);
    std::memcpy(place, &value, sizeof value);
  }
  slices.check();
}

TEST(Atomic, AllOperationsOn8Bytes) {
  for (const Remote remote : kRemotes) all_operations<std::uint64_t>(remote);
}

TEST(Atomic, AllOperationsOn4Bytes) {
  for (const Remote remote : kRemotes) all_operations<std::uint32_t>(remote);
}

/// Zeroed words of rank 0.
template <typename Word>
struct Shared {
  explicit Shared(Remote remote, std::size_t words = 1) : memory(remote, words * sizeof(Word)) {
    std::fill(memory.mine().begin(), memory.mine().end(), std::byte{0});
    barrier();
  }
  [[nodiscard]] Word* word(std::size_t index = 0) const {
    return reinterpret_cast<Word*>(memory.at(0)) + index;
  }
  [[nodiscard]] Word value(std::size_t index = 0) const {
    Word result = 0;
    EXPECT_TRUE(ok(atomic(RMA_FETCH, word(index), 0, 0, &result, 0)));
    return result;
  }
  Memory memory;
};

/// All ranks draw tickets from one counter. Each of 0 .. total - 1 is drawn once, and the tickets of
/// one rank increase.
template <typename Word>
void tickets(Remote remote, std::size_t each) {
  const Shared<Word> counter(remote);
  std::vector<Word> drawn(each);
  for (Word& ticket : drawn)
    EXPECT_TRUE(ok(atomic(RMA_FETCH_ADD, counter.word(), Word{1}, Word{0}, &ticket, 0)));
  EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
  const std::size_t total = each * static_cast<std::size_t>(ranks());
  std::vector<Word> all(total);
  EXPECT_TRUE(ok(rma_allgather(rma_team_world(), all.data(), drawn.data(), each * sizeof(Word))));
  std::sort(all.begin(), all.end());
  std::vector<Word> expected(total);
  std::iota(expected.begin(), expected.end(), Word{0});
  EXPECT_EQ(all, expected);
  EXPECT_EQ(counter.value(), total);
}

TEST(Atomic, AllRanksOnOneCounter) {
  tickets<std::uint64_t>(Remote::window, rounds<std::size_t>(2000));
  tickets<std::uint32_t>(Remote::window, rounds<std::size_t>(2000));
}

TEST(Atomic, AllRanksOnOneCounterInRegisteredMemory) {
  tickets<std::uint64_t>(Remote::registered, rounds<std::size_t>(100));
  tickets<std::uint32_t>(Remote::registered, rounds<std::size_t>(100));
}

TEST(Atomic, InlinedAndCalledOnOneCounter) {
  const Shared<std::uint64_t> counter(Remote::window);
  const std::uint64_t each = rounds<std::uint64_t>(2000);
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < each; ++i) {
    std::uint64_t old = 0;
    if (i % 2 == 0) {
      EXPECT_TRUE(ok(rma_fetch_add8(counter.word(), 1, &old, 0)));
    } else {
      EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, counter.word(), 1, 0, &old, 0)));
    }
    if (i > 0) EXPECT_GT(old, last);
    last = old;
  }
  EXPECT_TRUE(ok(rma_fetch_add8(counter.word(), 1, nullptr, 0))) << "nobody has to take the old value";
  barrier();
  EXPECT_EQ(counter.value(), (each + 1) * static_cast<std::uint64_t>(ranks()));
  barrier();
}

TEST(Atomic, IncrementsByCompareAndSwap) {
  for (const Remote remote : kRemotes) {
    const Shared<std::uint64_t> counter(remote);
    const auto each = rounds<std::uint64_t>(remote == Remote::window ? 300 : 20);
    for (std::uint64_t i = 0; i < each; ++i) {
      std::uint64_t seen = counter.value();
      while (true) {
        std::uint64_t old = seen;
        const rma_status_t status = rma_atomic64(RMA_COMPARE_SWAP, counter.word(), seen + 1, seen, &old, 0);
        EXPECT_TRUE(ok(status));
        if (status != RMA_SUCCESS || old == seen) break;
        seen = old;
      }
    }
    barrier();
    EXPECT_EQ(counter.value(), each * static_cast<std::uint64_t>(ranks()));
    barrier();
  }
}

TEST(Atomic, EachRankItsOwnBit) {
  const Shared<std::uint64_t> word(Remote::window, 3);
  const std::uint64_t bit = std::uint64_t{1} << me();
  const std::uint64_t all = (std::uint64_t{1} << ranks()) - 1;
  if (me() == 0) EXPECT_TRUE(ok(rma_atomic64(RMA_SET, word.word(1), ~std::uint64_t{0}, 0, nullptr, 0)));
  barrier();
  const int odd = rounds(500) | 1;  // odd, so that the bits of the third word are set at the end
  for (int i = 0; i < odd; ++i) {
    EXPECT_TRUE(ok(rma_atomic64(RMA_OR, word.word(0), bit, 0, nullptr, 0)));
    EXPECT_TRUE(ok(rma_atomic64(RMA_AND, word.word(1), ~bit, 0, nullptr, 0)));
    EXPECT_TRUE(ok(rma_atomic64(RMA_XOR, word.word(2), bit, 0, nullptr, 0)));
  }
  barrier();
  EXPECT_EQ(word.value(0), all);
  EXPECT_EQ(word.value(1), ~all);
  EXPECT_EQ(word.value(2), all);
  barrier();
}

TEST(Atomic, SwapsPassEveryValueOnOnce) {
  // Each value put in comes out once, or is the one left at the end.
  const Shared<std::uint64_t> word(Remote::window);
  const auto each = rounds<std::uint64_t>(1000);
  std::uint64_t put_in = 0;
  std::uint64_t came_out = 0;
  for (std::uint64_t i = 0; i < each; ++i) {
    const std::uint64_t value = static_cast<std::uint64_t>(me()) * each + i + 1;
    std::uint64_t old = 0;
    EXPECT_TRUE(ok(rma_atomic64(RMA_SWAP, word.word(), value, 0, &old, 0)));
    put_in += value;
    came_out += old;
  }
  barrier();
  const auto in = gather(put_in);
  const auto out = gather(came_out);
  EXPECT_EQ(std::accumulate(in.begin(), in.end(), std::uint64_t{0}),
            std::accumulate(out.begin(), out.end(), std::uint64_t{0}) + word.value());
  barrier();
}

}  // namespace
}  // namespace multi
