// Allocation, and transfers of every size, 0 included.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "armci_test.hpp"

namespace {

using armci_test::me;
using armci_test::Memory;
using armci_test::ranks;

TEST(Memory, OnlyOneProcessWantsSome) {
  for (int owner = 0; owner < ranks(); ++owner) {
    std::vector<void*> addresses(static_cast<std::size_t>(ranks()), &owner);
    ASSERT_EQ(ARMCI_Malloc(addresses.data(), me() == owner ? 64 : 0), 0);
    for (int process = 0; process < ranks(); ++process) {
      EXPECT_EQ(addresses[static_cast<std::size_t>(process)] != nullptr, process == owner);
    }
    void* const there = addresses[static_cast<std::size_t>(owner)];
    if (me() == (owner + 1) % ranks()) {
      EXPECT_EQ(ARMCI_PutValueLong(4711, there, owner), 0);
    }
    ARMCI_Barrier();
    EXPECT_EQ(ARMCI_GetValueLong(there, owner), 4711);
    EXPECT_EQ(ARMCI_Free(addresses[static_cast<std::size_t>(me())]), 0);
  }
}

TEST(Memory, MoreThanThereIsIsRefusedEverywhere) {
  std::vector<void*> addresses(static_cast<std::size_t>(ranks()));
  EXPECT_NE(ARMCI_Malloc(addresses.data(), me() == ranks() - 1 ? 1L << 46 : 64), 0);
  EXPECT_EQ(ARMCI_Malloc_local(1L << 46), nullptr);
  const Memory memory(64);
  EXPECT_NE(memory.mine(), nullptr);
}

TEST(Memory, LocalAndDescribed) {
  armci_meminfo_t mine;
  ARMCI_Memget(128, &mine, 0);
  EXPECT_EQ(mine.cpid, me());
  EXPECT_EQ(mine.size, 128U);
  auto all = multi::gather(mine);
  const int other = multi::neighbour(1);
  armci_meminfo_t& theirs = all[static_cast<std::size_t>(other)];
  EXPECT_EQ(ARMCI_PutValueInt(me(), static_cast<char*>(ARMCI_Memat(&theirs, 0)) + 8, other), 0);
  ARMCI_Memdt(&theirs, 0);
  ARMCI_Barrier();
  EXPECT_EQ(*reinterpret_cast<int*>(mine.addr + 8), (me() + ranks() - 1) % ranks());
  ARMCI_Barrier();
  ARMCI_Memctl(&theirs);  // another process's memory, if there is one: nothing is freed
  if (other != me()) ARMCI_Memctl(&mine);
  void* const local = ARMCI_Malloc_local(10);
  EXPECT_NE(local, nullptr);
  EXPECT_EQ(ARMCI_Free_local(local), 0);
}

TEST(Memory, NamedDevices) {
  std::vector<void*> addresses(static_cast<std::size_t>(ranks()));
  EXPECT_EQ(ARMCI_Malloc_memdev(addresses.data(), 16, "dram"), 0);
  EXPECT_EQ(ARMCI_Free_memdev(addresses[static_cast<std::size_t>(me())]), 0);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  EXPECT_EQ(ARMCI_Malloc_group_memdev(addresses.data(), 16, &world, "dram"), 0);
  EXPECT_EQ(ARMCI_Free_group(addresses[static_cast<std::size_t>(me())], &world), 0);
}

TEST(Memory, NothingToMove) {
  const Memory memory(16);
  const int other = multi::neighbour(1);
  char byte = 1;
  EXPECT_EQ(ARMCI_Put(&byte, memory.at(other), 0, other), 0);
  EXPECT_EQ(ARMCI_Get(memory.at(other), &byte, 0, other), 0);
  double one = 1;
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_DBL, &one, &byte, memory.at(other), 0, other), 0);
  std::array<int, 2> counts = {8, 0};
  std::array<int, 1> strides = {8};
  EXPECT_EQ(ARMCI_PutS(&byte, strides.data(), memory.at(other), strides.data(), counts.data(), 1, other), 0);
  armci_giov_t none = {nullptr, nullptr, 0, 8};
  EXPECT_EQ(ARMCI_PutV(&none, 1, other), 0);
  EXPECT_EQ(ARMCI_GetV(&none, 0, other), 0);
  ARMCI_Barrier();
  for (int i = 0; i < 16; ++i) EXPECT_EQ(memory.mine()[i], 0);
}

TEST(Memory, BadArgumentsAreRefused) {
  const Memory memory(16);
  int value = 1;
  int one = 1;
  std::array<int, 9> strides = {4, 4, 4, 4, 4, 4, 4, 4, 4};
  std::array<int, 10> counts = {4, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(ARMCI_Put(&value, nullptr, 4, 0), -1);
  EXPECT_EQ(ARMCI_Put(&value, memory.at(0), -4, 0), -3);
  EXPECT_EQ(ARMCI_Put(&value, memory.at(0), 4, ranks()), -5);
  EXPECT_EQ(ARMCI_Get(memory.at(0), &value, 4, -1), -5);
  EXPECT_EQ(ARMCI_Acc(ARMCI_ACC_INT, &one, &value, memory.at(0), 5, 0), -3);
  EXPECT_EQ(ARMCI_PutS(&value, strides.data(), memory.at(0), strides.data(), counts.data(), 9, 0), -4);
  EXPECT_EQ(ARMCI_PutS(&value, strides.data(), memory.at(0), strides.data(), counts.data(), -1, 0), -4);
  counts[0] = -4;
  EXPECT_EQ(ARMCI_PutS(&value, strides.data(), memory.at(0), strides.data(), counts.data(), 1, 0), -3);
  armci_giov_t list = {nullptr, nullptr, -1, 8};
  EXPECT_EQ(ARMCI_PutV(&list, 1, 0), -3);
  ARMCI_Barrier();
  EXPECT_EQ(*memory.as<int>(me()), 0);
}

/// Moves more bytes in one call than an int counts: by a strided and by a vector put, and back.
TEST(Memory, BeyondTwoGigabytes) {
  constexpr std::size_t kRow = std::size_t{1} << 20U;
  constexpr std::size_t kRows = 2100;
  const std::size_t pages = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
  const bool here = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) > kRow * kRows * 3;
  int enough = 0;
  const int mine = here && ranks() <= 2 && std::getenv("LIBRMA_TEST_BIG") != nullptr ? 1 : 0;
  multi::ok(rma_allreduce(rma_team_world(), &enough, &mine, 1, RMA_INT, RMA_MIN));
  if (enough == 0) GTEST_SKIP() << "needs 6.5 GB free, at most 2 processes, and LIBRMA_TEST_BIG";
  std::vector<void*> addresses(static_cast<std::size_t>(ranks()));
  const int owner = ranks() - 1;
  ASSERT_EQ(ARMCI_Malloc(addresses.data(), me() == owner ? static_cast<armci_size_t>(kRow * kRows) : 0), 0);
  char* const there = static_cast<char*>(addresses[static_cast<std::size_t>(owner)]);
  if (me() == 0) {
    std::vector<char> rows(kRow * kRows);
    for (std::size_t row = 0; row < kRows; ++row)
      std::memset(rows.data() + row * kRow, static_cast<int>(row % 251), kRow);
    std::array<int, 1> strides = {static_cast<int>(kRow)};
    std::array<int, 2> counts = {static_cast<int>(kRow), static_cast<int>(kRows)};
    EXPECT_EQ(ARMCI_PutS(rows.data(), strides.data(), there, strides.data(), counts.data(), 1, owner), 0);
    std::fill(rows.begin(), rows.end(), 0);
    EXPECT_EQ(ARMCI_GetS(there, strides.data(), rows.data(), strides.data(), counts.data(), 1, owner), 0);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (const std::size_t byte : {std::size_t{0}, kRow / 2, kRow - 1}) {
        if (rows[row * kRow + byte] != static_cast<char>(row % 251)) ++wrong;
      }
    }
    EXPECT_EQ(wrong, 0U);
  }
  EXPECT_EQ(ARMCI_Free(addresses[static_cast<std::size_t>(me())]), 0);
}

}  // namespace
