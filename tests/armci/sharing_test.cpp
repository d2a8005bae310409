// Operations of several processes on the same memory: accumulates, read-modify-write, mutexes, notification.

#include <complex>

#include "armci_test.hpp"

namespace {

using armci_test::me;
using armci_test::Memory;
using armci_test::Random;
using armci_test::ranks;

template <typename T>
class Overlapping : public testing::Test {};

template <typename T, int kConstant>
struct Typed {
  using Type = T;
  static constexpr int kType = kConstant;
};
using Types =
    testing::Types<Typed<int, ARMCI_ACC_INT>, Typed<long, ARMCI_ACC_LNG>, Typed<float, ARMCI_ACC_FLT>,
                   Typed<double, ARMCI_ACC_DBL>, Typed<std::complex<float>, ARMCI_ACC_CPL>,
                   Typed<std::complex<double>, ARMCI_ACC_DCP>>;
TYPED_TEST_SUITE(Overlapping, Types);

/// Returns whole numbers, so that the sum does not depend on the order.
TYPED_TEST(Overlapping, AccumulatesAddUp) {
  using T = typename TypeParam::Type;
  constexpr int kRows = 8;
  constexpr int kColumns = 12;
  const Memory memory(kRows * kColumns * sizeof(T));
  const int repeats = multi::rounds(40);
  T scale(2);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int process = 0; process < ranks(); ++process) {
      T* const there = memory.as<T>(process);
      std::vector<T> ones(kRows * kColumns, T(1));
      if (repeat % 2 == 0) {
        EXPECT_EQ(
            ARMCI_Acc(TypeParam::kType, &scale, ones.data(), there, kRows * kColumns * sizeof(T), process),
            0);
      } else {
        // The left and the right half of each row.
        std::array<int, 1> strides = {kColumns * sizeof(T)};
        std::array<int, 2> counts = {kColumns / 2 * sizeof(T), kRows};
        for (const int half : {0, kColumns / 2}) {
          EXPECT_EQ(ARMCI_AccS(TypeParam::kType, &scale, ones.data() + half, strides.data(), there + half,
                               strides.data(), counts.data(), 1, process),
                    0);
        }
      }
    }
  }
  ARMCI_Barrier();
  const T expected = T(static_cast<float>(2 * repeats * ranks()));
  for (int i = 0; i < kRows * kColumns; ++i) EXPECT_EQ(memory.as<T>(me())[i], expected) << "element " << i;
}

TEST(Rmw, CountersThatTheirOwnersStore) {
  struct Counters {
    int narrow;
    int guard;
    long wide;
  };
  const Memory memory(sizeof(Counters));
  const int each = multi::rounds(200);
  for (int round = 0; round < 3; ++round) {
    auto& mine = *memory.as<Counters>(me());
    mine = {1000 * round, -1, 5000L * round};
    ARMCI_Barrier();
    for (int i = 0; i < each; ++i) {
      for (int process = 0; process < ranks(); ++process) {
        auto* const there = memory.as<Counters>(process);
        int narrow = -1;
        long wide = -1;
        EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &narrow, &there->narrow, 2, process), 0);
        EXPECT_EQ(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &wide, &there->wide, -1, process), 0);
        EXPECT_GE(narrow, 1000 * round);
        EXPECT_LE(wide, 5000L * round);
      }
    }
    ARMCI_Barrier();
    EXPECT_EQ(mine.narrow, 1000 * round + 2 * each * ranks());
    EXPECT_EQ(mine.guard, -1);
    EXPECT_EQ(mine.wide, 5000L * round - static_cast<long>(each) * ranks());
    ARMCI_Barrier();
  }
}

/// The processes swap tokens. None is lost, and none appears twice.
TEST(Rmw, SwapTakesFromAndGivesToTheSamePlace) {
  struct Tokens {
    long wide;
    int narrow;
    int guard;
  };
  const Memory memory(sizeof(Tokens));
  *memory.as<Tokens>(me()) = {me(), me(), -1};
  ARMCI_Barrier();
  Random random{0x5a, static_cast<std::uint64_t>(me())};
  long wide = 1000 + me();
  int narrow = 1000 + me();
  for (int i = 0; i < multi::rounds(400); ++i) {
    const int process = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
    auto* const there = memory.as<Tokens>(process);
    EXPECT_EQ(ARMCI_Rmw(ARMCI_SWAP_LONG, &wide, &there->wide, 0, process), 0);
    EXPECT_EQ(ARMCI_Rmw(ARMCI_SWAP, &narrow, &there->narrow, 0, process), 0);
  }
  ARMCI_Barrier();
  const Tokens& mine = *memory.as<Tokens>(me());
  EXPECT_EQ(mine.guard, -1);
  for (const auto& tokens : {multi::gather(std::array<long, 2>{wide, mine.wide}),
                             multi::gather(std::array<long, 2>{narrow, mine.narrow})}) {
    std::vector<long> all;
    for (const auto& two : tokens) all.insert(all.end(), two.begin(), two.end());
    std::sort(all.begin(), all.end());
    for (int i = 0; i < ranks(); ++i) {
      EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
      EXPECT_EQ(all[static_cast<std::size_t>(ranks() + i)], 1000 + i);
    }
  }
}

/// Under a mutex, each process gets a sum, adds to it and puts it back, without a fence before the unlock.
TEST(Mutex, UnlockDoesNotOvertakePuts) {
  const int count = 1 + me() % 3;
  EXPECT_EQ(ARMCI_Create_mutexes(count), 0);
  const Memory memory(sizeof(std::array<long, 64>));
  const int each = multi::rounds(60);
  for (int i = 0; i < each; ++i) {
    for (int process = 0; process < ranks(); ++process) {
      ARMCI_Lock(process % 3, process);
      std::array<long, 64> values = {};
      EXPECT_EQ(ARMCI_Get(memory.at(process), values.data(), sizeof values, process), 0);
      const long first = values[0];
      for (long& value : values) {
        EXPECT_EQ(value, first);
        ++value;
      }
      EXPECT_EQ(ARMCI_Put(values.data(), memory.at(process), sizeof values, process), 0);
      ARMCI_Unlock(process % 3, process);
    }
  }
  ARMCI_Barrier();
  for (int i = 0; i < 64; ++i) EXPECT_EQ(memory.as<long>(me())[i], static_cast<long>(each) * ranks());
  EXPECT_EQ(ARMCI_Destroy_mutexes(), 0);
  EXPECT_EQ(ARMCI_Create_mutexes(me() == 0 ? 1 : 0), 0);  // a second set, with at most one mutex
  ARMCI_Lock(0, 0);
  ARMCI_Unlock(0, 0);
  EXPECT_EQ(ARMCI_Destroy_mutexes(), 0);
}

TEST(Notify, BehindWhatWasPut) {
  constexpr int kWords = 500;
  const Memory memory(kWords * sizeof(int));
  const int to = multi::neighbour(1);
  const int from = multi::neighbour(ranks() - 1);
  static int told = 0;  // in all jobs of this process; ARMCI counts anew after each ARMCI_Init
  for (int round = 1; round <= multi::rounds(100); ++round) {
    const std::vector<int> data(kWords, round);
    EXPECT_EQ(ARMCI_Put(const_cast<int*>(data.data()), memory.at(to), kWords * sizeof(int), to), 0);
    EXPECT_EQ(armci_notify(to), ++told);
    int waited = 0;
    EXPECT_GE(armci_notify_wait(from, &waited), told);
    EXPECT_EQ(waited, told);
    for (int i = 0; i < kWords; ++i) EXPECT_EQ(memory.as<int>(me())[i], round);
    ARMCI_Barrier();
  }
}

/// Tests ARMCI_ACC_RA by all processes in every form. Two operations cancel each other, except for the last.
TEST(OverlappingExclusiveOr, ByEveryForm) {
  constexpr int kWords = 64;
  const Memory memory(kWords * sizeof(long));
  std::vector<long> mine(kWords);
  for (std::size_t i = 0; i < kWords; ++i) mine[i] = static_cast<long>((i + 1) << 20U) + (1L << me());
  constexpr int kBytes = kWords * static_cast<int>(sizeof(long));
  long scale = 0;
  int stride = 2 * static_cast<int>(sizeof(long));
  std::array<int, 2> counts = {sizeof(long), kWords / 2};
  std::array<void*, 2> from = {mine.data(), mine.data() + kWords / 2};
  for (int process = 0; process < ranks(); ++process) {
    std::array<void*, 2> to = {memory.at(process), memory.as<long>(process) + kWords / 2};
    armci_giov_t list = {};
    list.src_ptr_array = from.data();
    list.dst_ptr_array = to.data();
    list.ptr_array_len = 2;
    list.bytes = kBytes / 2;
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_RA, &scale, mine.data(), memory.at(process), kBytes, process), 0);
    EXPECT_EQ(ARMCI_NbAcc(ARMCI_ACC_RA, &scale, mine.data(), memory.at(process), kBytes, process, &handle),
              0);
    EXPECT_EQ(ARMCI_AccV(ARMCI_ACC_RA, &scale, &list, 1, process), 0);
    EXPECT_EQ(ARMCI_NbAccV(ARMCI_ACC_RA, &scale, &list, 1, process, nullptr), 0);
    // The even words, then the odd ones.
    EXPECT_EQ(ARMCI_AccS(ARMCI_ACC_RA, &scale, mine.data(), &stride, memory.at(process), &stride,
                         counts.data(), 1, process),
              0);
    EXPECT_EQ(ARMCI_NbAccS(ARMCI_ACC_RA, &scale, mine.data() + 1, &stride, memory.as<long>(process) + 1,
                           &stride, counts.data(), 1, process, &handle),
              0);
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
  }
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_RA, &scale, mine.data(), memory.mine(), 7, me()), -3);
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_RA, &scale, mine.data(), memory.mine(), 8, ranks()), -5);
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_RA, &scale, nullptr, memory.mine(), 8, me()), -1);
  ARMCI_Barrier();
  ARMCI_Access_begin(memory.mine());
  for (std::size_t i = 0; i < kWords; ++i) {
    long expected = 0;
    for (int process = 0; process < ranks(); ++process) {
      expected ^= static_cast<long>((i + 1) << 20U) + (1L << process);
    }
    EXPECT_EQ(memory.as<long>(me())[i], expected) << i;
  }
  ARMCI_Access_end(memory.mine());
}

}  // namespace
