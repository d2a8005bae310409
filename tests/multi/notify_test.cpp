// Put with notification, and waiting for it. A rank that sees the flag also sees the data.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "rma/direct.h"
#include "rma/notify.hpp"
#include "rma/words.hpp"

namespace multi {
namespace {

/// A zeroed word and a block of data at every rank.
class Mailbox {
 public:
  explicit Mailbox(std::size_t bytes, Remote data = Remote::window)
      : flags_(Remote::window, sizeof(std::uint64_t)), data_(data, bytes) {
    std::fill(flags_.mine().begin(), flags_.mine().end(), std::byte{0});
    std::fill(data_.mine().begin(), data_.mine().end(), std::byte{0});
    barrier();
  }
  [[nodiscard]] std::uint64_t* flag(int rank) const {
    return reinterpret_cast<std::uint64_t*>(flags_.at(rank));
  }
  [[nodiscard]] std::byte* data(int rank) const { return data_.at(rank); }
  [[nodiscard]] std::span<std::byte> mine() const { return data_.mine(); }

 private:
  Memory flags_;
  Memory data_;
};

/// Returns whether all bytes are the lowest byte of `value`.
bool holds(std::span<const std::byte> bytes, std::uint64_t value) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
}

/// Blocks go around the ring of ranks `count` times. Each rank checks a block before it passes the block on.
void ring(std::size_t bytes, std::uint64_t count, Remote kind) {
  const Mailbox box(bytes, kind);
  const int next = neighbour(1);
  std::vector<std::byte> block(bytes);
  for (std::uint64_t round = 1; round <= count; ++round) {
    if (me() != 0) {
      EXPECT_TRUE(ok(rma_wait_until(box.flag(me()), RMA_GE, round, nullptr)));
      EXPECT_TRUE(holds(box.mine(), round)) << "round " << round;
    }
    std::fill(block.begin(), block.end(), static_cast<std::byte>(round));
    EXPECT_TRUE(ok(rma_put_notify(box.data(next), block.data(), bytes, box.flag(next), round, next)));
    if (me() == 0) {
      std::uint64_t seen = 0;
      EXPECT_TRUE(ok(rma_wait_until(box.flag(0), RMA_EQ, round, &seen)));
      EXPECT_EQ(seen, round);
      EXPECT_TRUE(holds(box.mine(), round)) << "round " << round;
    }
  }
  barrier();
}

TEST(Notify, RingOfSmallBlocks) { ring(8, rounds(ranks() <= 4 ? 1000U : 100U), Remote::window); }
TEST(Notify, RingOfLargeBlocks) { ring(40'000, rounds(ranks() <= 4 ? 300U : 30U), Remote::window); }
TEST(Notify, RingThroughRegisteredMemory) {
  ring(5000, rounds(ranks() <= 4 ? 300U : 30U), Remote::registered);
}

TEST(Notify, PingPongOfNeighbours) {
  // The pairs are (0, 1), (2, 3) and so on. A rank without a partner communicates with itself.
  const Mailbox box(256);
  const int partner = (me() ^ 1) < ranks() ? me() ^ 1 : me();
  std::vector<std::byte> block(256);
  const std::uint64_t many = rounds(ranks() <= 4 ? 2000U : 200U);
  for (std::uint64_t round = 1; round <= many; ++round) {
    std::fill(block.begin(), block.end(), static_cast<std::byte>(round));
    if (me() <= partner) {
      EXPECT_TRUE(
          ok(rma_put_notify(box.data(partner), block.data(), 256, box.flag(partner), round, partner)));
    }
    EXPECT_TRUE(ok(rma_wait_until(box.flag(me()), RMA_EQ, round, nullptr)));
    EXPECT_TRUE(holds(box.mine(), round)) << "round " << round;
    if (me() > partner) {
      EXPECT_TRUE(
          ok(rma_put_notify(box.data(partner), block.data(), 256, box.flag(partner), round, partner)));
    }
  }
  barrier();
}

TEST(Notify, AfterAStridedPut) {
  constexpr std::size_t kRows = 50;
  constexpr std::size_t kWidth = 24;
  constexpr std::ptrdiff_t kStride = 40;
  const Mailbox box(kRows * kStride);
  const int next = neighbour(1);
  const std::array<std::size_t, 2> counts = {kWidth, kRows};
  const std::ptrdiff_t packed = kWidth;
  std::vector<std::byte> block(kRows * kWidth);
  for (std::uint64_t round = 1; round <= rounds(100U); ++round) {
    std::fill(block.begin(), block.end(), static_cast<std::byte>(round));
    EXPECT_TRUE(ok(rma_put_strided_notify(box.data(next), &kStride, block.data(), &packed, counts.data(), 1,
                                          box.flag(next), round, next)));
    EXPECT_TRUE(ok(rma_wait_until(box.flag(me()), RMA_GE, round, nullptr)));
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::span<const std::byte> whole = box.mine().subspan(row * kStride, kStride);
      EXPECT_TRUE(holds(whole.first(kWidth), round)) << "round " << round << " row " << row;
      EXPECT_TRUE(holds(whole.subspan(kWidth), 0)) << "between the rows";
    }
    barrier();
  }
}

TEST(Notify, WithoutData) {
  const Mailbox box(8);
  const int next = neighbour(1);
  EXPECT_TRUE(ok(rma_put_notify(nullptr, nullptr, 0, box.flag(next), 5, next)));
  EXPECT_TRUE(ok(rma_wait_until(box.flag(me()), RMA_EQ, 5, nullptr)));
  barrier();
}

TEST(Notify, EveryComparison) {
  struct Case {
    rma_compare_t compare;
    bool below, equal, above;  // the result for a word below, equal to, above the value
  };
  constexpr std::uint64_t kValue = std::uint64_t{1} << 63;  // compared unsigned, it is larger than kValue - 1
  for (const Case& c :
       {Case{RMA_EQ, false, true, false}, Case{RMA_NE, true, false, true}, Case{RMA_LT, true, false, false},
        Case{RMA_LE, true, true, false}, Case{RMA_GT, false, false, true}, Case{RMA_GE, false, true, true}}) {
    for (int offset = -1; offset <= 1; ++offset) {
      const std::uint64_t word = kValue + static_cast<std::uint64_t>(offset);
      const bool expected = offset < 0 ? c.below : (offset == 0 ? c.equal : c.above);
      int met = -1;
      EXPECT_TRUE(ok(rma_test_until(&word, c.compare, kValue, &met)));
      EXPECT_EQ(met, expected ? 1 : 0) << "comparison " << c.compare << " offset " << offset;
      if (!expected) continue;
      std::uint64_t seen = 0;
      EXPECT_TRUE(ok(rma_wait_until(&word, c.compare, kValue, &seen)));
      EXPECT_EQ(seen, word);
    }
  }
}

TEST(Notify, AtomicsWakeAWaiter) {
  const Mailbox box(8);
  const int next = neighbour(1);
  if (me() == 0) usleep(30'000);  // by now the others most likely sleep; nothing depends on it
  if (me() != 0) EXPECT_TRUE(ok(rma_wait_until(box.flag(me()), RMA_NE, 0, nullptr)));
  EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, box.flag(next), 3, 0, nullptr, next)));
  EXPECT_TRUE(ok(rma_wait_until(box.flag(me()), RMA_EQ, 3, nullptr)));
  barrier();
}

TEST(Notify, AStoreByThisProcessIsNoticed) {
  alignas(8) std::uint64_t word = 0;  // memory that the library does not know
  std::thread writer([&] {
    usleep(20'000);
    __atomic_store_n(&word, 7, __ATOMIC_RELEASE);
  });
  std::uint64_t seen = 0;
  EXPECT_TRUE(ok(rma_wait_until(&word, RMA_EQ, 7, &seen)));
  EXPECT_EQ(seen, 7U);
  writer.join();
}

TEST(Notify, WaitsForSeveralWordsOfAnySize) {
  // The neighbour writes a short, then an int, in the 8 bytes of the flag. Both have to be right.
  const Mailbox box(8);
  const int next = neighbour(1);
  const auto* const words = reinterpret_cast<const char*>(box.flag(me()));
  const std::int16_t small = -2;
  const std::int32_t large = -70'000;
  auto* const there = reinterpret_cast<char*>(box.flag(next));
  EXPECT_TRUE(ok(rma_put(there, &small, sizeof small, next)));
  EXPECT_TRUE(ok(rma_put(there + 4, &large, sizeof large, next)));
  std::int16_t seen_small = 0;
  std::int32_t seen_large = 0;
  rma::wait_for([&] {
    seen_small = __atomic_load_n(reinterpret_cast<const std::int16_t*>(words), __ATOMIC_ACQUIRE);
    seen_large = __atomic_load_n(reinterpret_cast<const std::int32_t*>(words + 4), __ATOMIC_ACQUIRE);
    return seen_small < 0 && seen_large < 0;
  });
  EXPECT_EQ(seen_small, small);
  EXPECT_EQ(seen_large, large);
  EXPECT_TRUE(refused(rma_wait_for(nullptr, nullptr), RMA_ERR_ARGUMENT, {"rma_wait_for", "met"}));
  barrier();
}

TEST(Notify, WaitsForAllAnyAndSomeWords) {
  // The neighbour writes -1, -2, -3, -4 into four words of 2 bytes, in this order.
  const Mailbox box(8);
  const int next = neighbour(1);
  const std::span<const std::int16_t> words(reinterpret_cast<const std::int16_t*>(box.flag(me())), 4);
  const std::int16_t zero = 0;
  const std::array<std::int16_t, 4> values = {-1, -2, -3, -4};
  const std::array<int, 4> all_left_out = {1, 1, 1, 1};
  const rma::Words<std::int16_t> negative = {
      .words = words, .compare = rma::Compare::kLess, .values = std::span(&zero, 1)};
  rma::Words<std::int16_t> right = {.words = words, .values = values};
  EXPECT_FALSE(rma::test_until_all(right));
  EXPECT_FALSE(rma::test_until_any(negative).has_value());
  EXPECT_TRUE(rma::test_until_some(negative).empty());
  barrier();
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto* const there = reinterpret_cast<std::int16_t*>(box.flag(next)) + i;
    EXPECT_TRUE(ok(rma_put(there, &values[i], sizeof zero, next)));
  }
  EXPECT_TRUE(rma::wait_until_any(negative).has_value());
  EXPECT_FALSE(rma::wait_until_some(negative).empty());
  rma::wait_until_all(right);
  EXPECT_EQ(rma::wait_until_some(right), (std::vector<std::size_t>{0, 1, 2, 3}));
  right.left_out = all_left_out;
  rma::wait_until_all(right);
  EXPECT_FALSE(rma::wait_until_any(right).has_value());
  EXPECT_TRUE(rma::wait_until_some(right).empty());
  EXPECT_THROW(
      rma::wait_until_all(rma::Words<std::int16_t>{.words = words, .values = std::span(values).first(3)}),
      rma::ArgumentError);
  barrier();
}

/// The ways in which a rank of this host stores a word.
struct WayToStore {
  const char* name;
  void (*store)(std::uint64_t* word, std::uint64_t value, int rank);
};
constexpr std::array kWaysToStore = {
    WayToStore{"rma_put8", [](std::uint64_t* word, std::uint64_t value,
                              int rank) { EXPECT_TRUE(ok(rma_put8(word, value, rank))); }},
    WayToStore{"rma_put", [](std::uint64_t* word, std::uint64_t value,
                             int rank) { EXPECT_TRUE(ok(rma_put(word, &value, sizeof value, rank))); }},
    WayToStore{"rma_put_nb",
               [](std::uint64_t* word, std::uint64_t value, int rank) {
                 rma_request_t request = RMA_REQUEST_NULL;
                 EXPECT_TRUE(ok(rma_put_nb(word, &value, sizeof value, rank, &request)));
                 EXPECT_TRUE(ok(rma_wait(&request)));
               }},
    WayToStore{"rma_fetch_add8", [](std::uint64_t* word, std::uint64_t /*value*/,
                                    int rank) { EXPECT_TRUE(ok(rma_fetch_add8(word, 1, nullptr, rank))); }},
    WayToStore{"a plain store and rma_wake", [](std::uint64_t* word, std::uint64_t value, int rank) {
                 void* here = nullptr;
                 EXPECT_TRUE(ok(rma_map(word, sizeof *word, rank, &here)));
                 __atomic_store_n(static_cast<std::uint64_t*>(here), value, __ATOMIC_RELEASE);
                 EXPECT_TRUE(ok(rma_wake(rank)));
               }}};

TEST(Notify, EveryPlainStoreWakesASleeper) {
  // Rank 0 stores when the last rank has announced its sleep. The store must then have taken the announcement
  // away, which only a waker does; the sleeper announces itself again only if its word is not right yet.
  const Mailbox box(8);
  const int sleeper = ranks() - 1;
  std::uint64_t value = 0;
  for (const WayToStore& way : kWaysToStore) {
    ++value;
    if (me() == sleeper && sleeper != 0) {
      EXPECT_TRUE(ok(rma_wait_until(box.flag(me()), RMA_EQ, value, nullptr))) << way.name;
    } else if (me() == 0 && rma_same_host(sleeper) != 0 && sleeper != 0) {
      const std::uint32_t* const announced = rma_direct.peers[sleeper].awaits_stores;
      while (__atomic_load_n(announced, __ATOMIC_ACQUIRE) == 0) usleep(100);
      way.store(box.flag(sleeper), value, sleeper);
      EXPECT_EQ(__atomic_load_n(announced, __ATOMIC_ACQUIRE), 0U) << way.name;
    } else if (me() == 0 && sleeper != 0) {
      EXPECT_TRUE(ok(rma_put8(box.flag(sleeper), value, sleeper)));
    }
    barrier();
  }
}

TEST(Notify, AllRanksNotifyOneWord) {
  // Each rank adds 1 to the word of rank 0 by an atomic, behind its data. When the count is full, all data
  // must be there.
  constexpr std::size_t kBytes = 1000;
  const Mailbox box(kBytes * static_cast<std::size_t>(ranks()));
  const std::vector<std::byte> block(kBytes, static_cast<std::byte>(me() + 1));
  EXPECT_TRUE(ok(rma_put(box.data(0) + kBytes * static_cast<std::size_t>(me()), block.data(), kBytes, 0)));
  EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, box.flag(0), 1, 0, nullptr, 0)));
  if (me() == 0) {
    EXPECT_TRUE(ok(rma_wait_until(box.flag(0), RMA_GE, static_cast<std::uint64_t>(ranks()), nullptr)));
    for (int rank = 0; rank < ranks(); ++rank) {
      EXPECT_TRUE(holds(box.mine().subspan(kBytes * static_cast<std::size_t>(rank), kBytes),
                        static_cast<std::uint64_t>(rank) + 1));
    }
  }
  barrier();
}

}  // namespace
}  // namespace multi
