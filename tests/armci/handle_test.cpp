// Handles: many, reused, never initialized, aggregate.

#include "armci_test.hpp"

namespace {

using armci_test::me;
using armci_test::Memory;
using armci_test::ranks;

TEST(Handle, MoreThanClientsKeep) {
  constexpr int kHandles = 300;
  constexpr int kBytes = 2000;
  const Memory memory(kHandles * kBytes);
  const int other = multi::neighbour(1);
  std::vector<armci_hdl_t> handles(kHandles);
  std::vector<char> out(kHandles * kBytes);
  std::vector<char> in(kHandles * kBytes);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(me()));
  for (int i = 0; i < kHandles; ++i) {
    ARMCI_INIT_HANDLE(&handles[static_cast<std::size_t>(i)]);
    EXPECT_EQ(ARMCI_NbPut(out.data() + i * kBytes, memory.at(other) + i * kBytes, kBytes, other,
                          &handles[static_cast<std::size_t>(i)]),
              0);
  }
  for (auto& handle : handles) {
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    EXPECT_EQ(ARMCI_Wait(&handle), 0);  // a second wait has nothing left to wait for
    EXPECT_EQ(ARMCI_Test(&handle), 0);
  }
  // The same handles for gets, each used twice before a wait.
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < kHandles; ++i) {
      EXPECT_EQ(ARMCI_NbGet(memory.at(other) + i * kBytes, in.data() + i * kBytes, kBytes, other,
                            &handles[static_cast<std::size_t>(i)]),
                0);
    }
  }
  EXPECT_EQ(ARMCI_WaitAll(), 0);
  EXPECT_EQ(in, out);
  for (auto& handle : handles) EXPECT_EQ(ARMCI_Wait(&handle), 0);
}

/// A handle may have held anything before.
TEST(Handle, NeverInitialized) {
  const Memory memory(64);
  const int other = multi::neighbour(1);
  for (const int rubbish : {0x00, 0x01, 0x55, 0xff}) {
    armci_hdl_t handle;
    std::memset(&handle, rubbish, sizeof handle);
    EXPECT_EQ(ARMCI_Test(&handle), 0);
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    std::memset(&handle, rubbish, sizeof handle);
    int value = rubbish;
    EXPECT_EQ(ARMCI_NbPut(&value, memory.at(other), sizeof value, other, &handle), 0);
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    EXPECT_EQ(ARMCI_GetValueInt(memory.at(other), other), rubbish);
  }
}

TEST(Handle, TestUntilDone) {
  const Memory memory(1 << 16);
  const int other = multi::neighbour(1);
  std::vector<char> out(1 << 16, 'x');
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  EXPECT_EQ(ARMCI_NbPut(out.data(), memory.at(other), 1 << 16, other, &handle), 0);
  while (ARMCI_Test(&handle) != 0) {
  }
  ARMCI_Barrier();
  EXPECT_EQ(memory.mine()[(1 << 16) - 1], 'x');
}

TEST(Handle, WithoutAny) {
  const Memory memory(sizeof(int) * 1000);
  const int other = multi::neighbour(1);
  std::vector<int> out(1000, me());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(ARMCI_NbPut(&out[static_cast<std::size_t>(i)], memory.as<int>(other) + i, sizeof(int), other,
                          nullptr),
              0);
  }
  EXPECT_EQ(ARMCI_Wait(nullptr), 0);
  ARMCI_Barrier();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(memory.as<int>(me())[i], multi::neighbour(ranks() - 1));
}

/// A wait for an aggregate handle executes everything that it has gathered.
TEST(Handle, Gathers) {
  constexpr int kPieces = 3000;
  const Memory memory(kPieces * sizeof(long));
  const int other = multi::neighbour(1);
  std::vector<long> out(kPieces);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  EXPECT_EQ(ARMCI_NbPut(out.data(), memory.at(other), sizeof(long), ranks(), &handle), -5);
  EXPECT_EQ(ARMCI_NbPut(nullptr, memory.at(other), sizeof(long), other, &handle), -1);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < kPieces; ++i) {
      out[static_cast<std::size_t>(i)] = 1000L * round + i;
      // Pieces of 8 and of 4 bytes.
      const int bytes = i % 3 == 0 ? 4 : 8;
      if (bytes == 4) out[static_cast<std::size_t>(i)] &= 0x7fffffff;
      EXPECT_EQ(
          ARMCI_NbPut(&out[static_cast<std::size_t>(i)], memory.as<long>(other) + i, bytes, other, &handle),
          0);
    }
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    std::vector<long> in(kPieces, -1);
    for (int i = 0; i < kPieces; ++i) {
      EXPECT_EQ(ARMCI_NbGet(memory.as<long>(other) + i, &in[static_cast<std::size_t>(i)], sizeof(long), other,
                            &handle),
                0);
    }
    EXPECT_EQ(ARMCI_Wait(&handle), 0);
    EXPECT_EQ(in, out);
  }
  ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
  ARMCI_Barrier();
}

/// Transfers to a process of this host are not gathered.
TEST(Handle, GathersNothingForThisHost) {
  const Memory memory(sizeof(int));
  int value = 7;
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  EXPECT_EQ(ARMCI_NbPut(&value, memory.mine(), sizeof value, me(), &handle), 0);
  EXPECT_EQ(*memory.as<int>(me()), 7);
  int seen = 0;
  EXPECT_EQ(ARMCI_NbGet(memory.mine(), &seen, sizeof seen, me(), &handle), 0);
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(ARMCI_NbPut(&value, memory.mine(), -1, me(), &handle), -3);
  EXPECT_EQ(ARMCI_WaitAll(), 0);
  ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
  // an ordinary handle from here on
  int bytes = sizeof value;
  value = 9;
  EXPECT_EQ(ARMCI_NbPutS(&value, nullptr, memory.mine(), nullptr, &bytes, 0, me(), &handle), 0);
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  EXPECT_EQ(*memory.as<int>(me()), 9);
}

}  // namespace
