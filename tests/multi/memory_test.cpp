// Allocation and registration: sizes and alignments, access by other ranks, wrong frees, many cycles.

#include <sys/mman.h>

#include <algorithm>
#include <set>
#include <string>

#include "harness.hpp"

namespace multi {
namespace {

/// Returns an address in the form of the error texts.

TEST(Memory, EachRankItsOwnSize) {
  // Rank r asks for r * 1000 bytes, so rank 0 asks for none.
  const std::size_t bytes = static_cast<std::size_t>(me()) * 1000;
  std::vector<void*> addresses(static_cast<std::size_t>(ranks()), &addresses);
  void* mine = &addresses;
  EXPECT_TRUE(ok(rma_malloc(rma_team_world(), bytes, 0, addresses.data(), &mine)));
  EXPECT_EQ(addresses[static_cast<std::size_t>(me())], mine);
  EXPECT_EQ(addresses, gather(mine));
  for (int rank = 0; rank < ranks(); ++rank) {
    std::byte* const there = static_cast<std::byte*>(addresses[static_cast<std::size_t>(rank)]);
    if (rank == 0) {
      EXPECT_EQ(there, nullptr);
      continue;
    }
    EXPECT_NE(there, nullptr);
    const auto byte = static_cast<std::byte>(me() + 1);
    EXPECT_TRUE(ok(rma_put(there + me(), &byte, 1, rank)));
    EXPECT_TRUE(ok(rma_put(there + rank * 1000 - 1, &byte, 1, rank)));
  }
  barrier();
  for (int rank = 0; rank < ranks() && me() != 0; ++rank) {
    EXPECT_EQ(static_cast<std::byte*>(mine)[rank], static_cast<std::byte>(rank + 1));
  }
  EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
}

TEST(Memory, EveryAlignment) {
  for (std::size_t alignment = 1; alignment <= 1U << 21; alignment *= 2) {
    void* mine = nullptr;
    EXPECT_TRUE(ok(rma_malloc(rma_team_world(), 100, alignment, nullptr, &mine)));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine) % alignment, 0U) << alignment;
    void* local = nullptr;
    EXPECT_TRUE(ok(rma_malloc_local(100, alignment, &local)));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(local) % alignment, 0U) << alignment;
    EXPECT_TRUE(ok(rma_free_local(local)));
    EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
  }
  void* mine = nullptr;
  EXPECT_TRUE(ok(rma_malloc(rma_team_world(), 1, 0, nullptr, &mine)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine) % 64, 0U);
  EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
  EXPECT_TRUE(
      refused(rma_malloc(rma_team_world(), 8, 48, nullptr, &mine), RMA_ERR_ALIGNMENT, {"rma_malloc", "48"}));
  EXPECT_TRUE(refused(rma_malloc_local(8, 3, &mine), RMA_ERR_ALIGNMENT, {"rma_malloc_local", "3"}));
  barrier();
}

TEST(Memory, LocalBlocksAreReachable) {
  void* block = nullptr;
  EXPECT_TRUE(ok(rma_malloc_local(300, 0, &block)));
  const auto blocks = gather(block);
  const int next = neighbour(1);
  const std::vector<std::byte> data(300, static_cast<std::byte>(me() + 1));
  EXPECT_TRUE(ok(rma_put(blocks[static_cast<std::size_t>(next)], data.data(), 300, next)));
  barrier();
  const auto expected = static_cast<std::byte>(neighbour(ranks() - 1) + 1);
  EXPECT_EQ(std::count(static_cast<std::byte*>(block), static_cast<std::byte*>(block) + 300, expected), 300);
  barrier();
  EXPECT_TRUE(ok(rma_free_local(block)));
  EXPECT_TRUE(ok(rma_free_local(nullptr)));
  EXPECT_TRUE(ok(rma_malloc_local(0, 0, &block)));
  EXPECT_EQ(block, nullptr);
  EXPECT_TRUE(refused(rma_malloc_local(8, 0, nullptr), RMA_ERR_ARGUMENT, {"rma_malloc_local", "address"}));
}

TEST(Memory, ReservedAddressesGetMemoryPieceByPiece) {
  constexpr std::size_t kBytes = std::size_t{48} << 20;
  constexpr std::size_t kPiece = 100'000;
  std::vector<void*> all(static_cast<std::size_t>(ranks()));
  void* mine = nullptr;
  EXPECT_TRUE(ok(rma_reserve(rma_team_world(), kBytes, std::size_t{1} << 21, all.data(), &mine)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine) % (std::size_t{1} << 21), 0U);
  auto* const bytes = static_cast<std::byte*>(mine);
  // Pieces at the start, the end and in the middle, which overlap and are committed again.
  for (const std::size_t offset : {std::size_t{0}, kBytes - kPiece, kBytes / 2, kBytes / 2 + kPiece / 2}) {
    EXPECT_TRUE(ok(rma_commit(bytes + offset, kPiece)));
    EXPECT_EQ(std::count(bytes + offset, bytes + offset + kPiece, std::byte{0}),
              static_cast<std::ptrdiff_t>(kPiece));
  }
  barrier();
  const int next = neighbour(1);
  auto* const there = static_cast<std::byte*>(all[static_cast<std::size_t>(next)]);
  const std::vector<std::byte> data(kPiece, static_cast<std::byte>(me() + 1));
  EXPECT_TRUE(ok(rma_put(there + kBytes / 2, data.data(), kPiece, next)));
  EXPECT_TRUE(ok(rma_atomic64(RMA_FETCH_ADD, reinterpret_cast<std::uint64_t*>(there), 5, 0, nullptr, next)));
  EXPECT_TRUE(ok(rma_fence(next)));
  barrier();
  EXPECT_TRUE(ok(rma_commit(mine, kBytes / 2 + kPiece)));  // what is there stays as it is
  const auto expected = static_cast<std::byte>(neighbour(ranks() - 1) + 1);
  EXPECT_EQ(std::count(bytes + kBytes / 2, bytes + kBytes / 2 + kPiece, expected),
            static_cast<std::ptrdiff_t>(kPiece));
  EXPECT_EQ(bytes[0], std::byte{5});
  EXPECT_TRUE(refused(rma_commit(bytes + kBytes - 8, 9), RMA_ERR_ADDRESS, {"rma_commit", "rma_reserve"}));
  EXPECT_TRUE(refused(rma_commit(bytes - 1, 1), RMA_ERR_ADDRESS, {"rma_commit"}));
  EXPECT_TRUE(refused(rma_commit(nullptr, 1), RMA_ERR_ARGUMENT, {"rma_commit"}));
  EXPECT_TRUE(ok(rma_commit(mine, 0)));
  barrier();
  EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
  EXPECT_TRUE(refused(rma_commit(mine, 1), RMA_ERR_ADDRESS, {"rma_commit"}));
  EXPECT_TRUE(refused(rma_reserve(rma_team_world(), 8, 48, nullptr, &mine), RMA_ERR_ALIGNMENT,
                      {"rma_reserve", "48"}));
  const std::size_t too_much = std::size_t{1} << 60;
  EXPECT_TRUE(refused(rma_reserve(rma_team_world(), too_much, 0, nullptr, &mine), RMA_ERR_NO_MEMORY,
                      {"rma_reserve"}));
}

TEST(Memory, MappedForLoadsAndStores) {
  const Memory memory(Remote::window, 64);
  const int next = neighbour(1);
  void* here = nullptr;
  memory.mine()[5] = std::byte{0};
  barrier();
  if (rma_same_host(next) != 0) {
    EXPECT_TRUE(ok(rma_map(memory.at(next), 64, next, &here)));
    if (here != nullptr) static_cast<std::byte*>(here)[5] = static_cast<std::byte>(me() + 1);
  } else {
    EXPECT_TRUE(refused(rma_map(memory.at(next), 64, next, &here), RMA_ERR_ADDRESS,
                        {"rma_map", "rank " + std::to_string(next)}));
    EXPECT_EQ(here, nullptr);
  }
  barrier();
  const int before = neighbour(ranks() - 1);
  EXPECT_EQ(memory.mine()[5], static_cast<std::byte>(rma_same_host(before) != 0 ? before + 1 : 0));
  int unknown = 0;
  EXPECT_TRUE(refused(rma_map(&unknown, 4, next, &here), RMA_ERR_ADDRESS, {"rma_map", text(&unknown)}));
  barrier();
}

TEST(Memory, RegisteredPartsAreCounted) {
  std::vector<std::byte> block(1000);
  const auto blocks = gather(block.data());
  const int next = neighbour(1);
  std::byte* const there = blocks[static_cast<std::size_t>(next)];
  std::byte byte{};
  barrier();
  EXPECT_TRUE(
      refused(rma_get(&byte, there, 1, next), RMA_ERR_ADDRESS, {"rma_get", "rank " + std::to_string(next)}));
  barrier();
  EXPECT_TRUE(ok(rma_register(block.data(), 1000)));
  EXPECT_TRUE(ok(rma_register(block.data(), 1000)));
  EXPECT_TRUE(ok(rma_register(block.data() + 100, 100)));  // a part
  barrier();
  EXPECT_TRUE(ok(rma_get(&byte, there + 999, 1, next)));
  EXPECT_TRUE(
      refused(rma_put(there + 999, &block, 2, next), RMA_ERR_ADDRESS, {"rma_put", text(there + 999)}));
  barrier();
  EXPECT_TRUE(ok(rma_unregister(block.data())));
  barrier();
  EXPECT_TRUE(ok(rma_get(&byte, there + 999, 1, next)));  // still registered once
  barrier();
  EXPECT_TRUE(ok(rma_unregister(block.data())));
  barrier();
  EXPECT_TRUE(refused(rma_get(&byte, there + 999, 1, next), RMA_ERR_ADDRESS));
  EXPECT_TRUE(ok(rma_get(&byte, there + 150, 1, next)));  // inside the part
  barrier();
  EXPECT_TRUE(ok(rma_unregister(block.data() + 100)));
  EXPECT_TRUE(refused(rma_unregister(block.data()), RMA_ERR_ADDRESS, {"rma_unregister", text(block.data())}));
  barrier();
  EXPECT_TRUE(refused(rma_get(&byte, there + 150, 1, next), RMA_ERR_ADDRESS));
  barrier();
}

TEST(Memory, RegisteredThenUnmappedIsAnErrorNotACrash) {
  constexpr std::size_t kBytes = 1U << 16;
  void* const block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_TRUE(ok(rma_register(block, kBytes)));
  const auto blocks = gather(block);
  barrier();
  munmap(block, kBytes);
  barrier();
  std::vector<std::byte> sink(kBytes);
  const int next = neighbour(1);
  // The library does not protect a process from breaking the rule for its own memory. A network device holds
  // the pages until the registration ends.
  const rma_status_t status =
      next == me() ? RMA_SUCCESS : rma_get(sink.data(), blocks[static_cast<std::size_t>(next)], kBytes, next);
  if (next != me() && rma_same_host(next) != 0) {
    EXPECT_TRUE(refused(status, RMA_ERR_ADDRESS, {"rma_get", "rank " + std::to_string(next)}));
  } else {
    EXPECT_TRUE(ok(status));
    EXPECT_EQ(std::count(sink.begin(), sink.end(), std::byte{0}), static_cast<std::ptrdiff_t>(kBytes));
  }
  barrier();
  EXPECT_TRUE(ok(rma_unregister(block)));
}

TEST(Memory, WrongFreesAreRefusedAndHarmless) {
  void* mine = nullptr;
  void* local = nullptr;
  EXPECT_TRUE(ok(rma_malloc(rma_team_world(), 256, 0, nullptr, &mine)));
  EXPECT_TRUE(ok(rma_malloc_local(256, 0, &local)));
  std::fill_n(static_cast<char*>(mine), 256, 'm');
  std::fill_n(static_cast<char*>(local), 256, 'l');
  int stack = 0;
  EXPECT_TRUE(refused(rma_free_local(&stack), RMA_ERR_ADDRESS, {"rma_free_local", text(&stack)}));
  EXPECT_TRUE(refused(rma_free_local(static_cast<char*>(local) + 8), RMA_ERR_ADDRESS, {"rma_free_local"}));
  EXPECT_TRUE(refused(rma_free_local(mine), RMA_ERR_ADDRESS, {"rma_free_local", "rma_malloc", text(mine)}));
  EXPECT_TRUE(refused(rma_free(rma_team_world(), local), RMA_ERR_ADDRESS, {"rma_free", text(local)}));
  EXPECT_TRUE(
      refused(rma_free(rma_team_world(), static_cast<char*>(mine) + 64), RMA_ERR_ADDRESS, {"rma_free"}));
  EXPECT_EQ(std::count(static_cast<char*>(mine), static_cast<char*>(mine) + 256, 'm'), 256);
  EXPECT_EQ(std::count(static_cast<char*>(local), static_cast<char*>(local) + 256, 'l'), 256);
  EXPECT_TRUE(ok(rma_free_local(local)));
  EXPECT_TRUE(refused(rma_free_local(local), RMA_ERR_ADDRESS, {"rma_free_local", text(local)}));
  EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
  EXPECT_TRUE(refused(rma_free(rma_team_world(), mine), RMA_ERR_ADDRESS, {"rma_free", text(mine)}));
}

TEST(Memory, AWrongFreeOfOneMemberHindersNoOther) {
  void* mine = nullptr;
  EXPECT_TRUE(ok(rma_malloc(rma_team_world(), 64, 0, nullptr, &mine)));
  if (me() == 0) {
    EXPECT_TRUE(refused(rma_free(rma_team_world(), &mine), RMA_ERR_ADDRESS, {"rma_free"}));
    EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
  } else {
    EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
    EXPECT_TRUE(ok(rma_free(rma_team_world(), nullptr)));
  }
}

TEST(Memory, TooMuchOnOneRankFailsOnAll) {
  const bool greedy = me() == ranks() - 1;
  void* mine = &mine;
  const std::size_t huge = std::size_t{1} << 50;
  const rma_status_t status = rma_malloc(rma_team_world(), greedy ? huge : 1000, 0, nullptr, &mine);
  EXPECT_TRUE(refused(status, RMA_ERR_NO_MEMORY, {"rma_malloc", "rank " + std::to_string(ranks() - 1)}));
  if (greedy) EXPECT_TRUE(refused(status, RMA_ERR_NO_MEMORY, {std::to_string(huge), "RMA_HEAP_SIZE"}));
  EXPECT_EQ(mine, &mine);  // a call that fails changes nothing
  EXPECT_TRUE(ok(rma_malloc(rma_team_world(), 1000, 0, nullptr, &mine)));
  EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
}

TEST(Memory, LiveBlocksNeverOverlap) {
  Random random({101, static_cast<std::uint64_t>(me())});
  struct Block {
    unsigned char* start;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<Block> blocks;
  for (int round = 0; round < 2000; ++round) {
    if (blocks.size() > 60 || (!blocks.empty() && random.chance(45))) {
      const std::size_t which = random.below(blocks.size());
      const Block block = blocks[which];
      EXPECT_EQ(std::count(block.start, block.start + block.bytes, block.mark),
                static_cast<std::ptrdiff_t>(block.bytes));
      EXPECT_TRUE(ok(rma_free_local(block.start)));
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const std::size_t bytes = 1 + random.below(random.chance(10) ? 200'000U : 3000U);
    void* start = nullptr;
    EXPECT_TRUE(ok(rma_malloc_local(bytes, 0, &start)));
    if (start == nullptr) break;
    blocks.push_back({static_cast<unsigned char*>(start), bytes, static_cast<unsigned char>(round)});
    std::fill_n(blocks.back().start, bytes, blocks.back().mark);
  }
  for (const Block& block : blocks) EXPECT_TRUE(ok(rma_free_local(block.start)));
}

TEST(Memory, CyclesReuseTheSameMemory) {
  std::set<void*> seen;
  const int cycles = rounds(ranks() <= 4 ? 2000 : 300);
  for (int i = 0; i < cycles; ++i) {
    void* mine = nullptr;
    EXPECT_TRUE(
        ok(rma_malloc(rma_team_world(), 4096 + static_cast<std::size_t>(i % 7) * 100, 0, nullptr, &mine)));
    std::fill_n(static_cast<char*>(mine), 4096, 'x');
    seen.insert(mine);
    EXPECT_TRUE(ok(rma_free(rma_team_world(), mine)));
  }
  EXPECT_LT(seen.size(), static_cast<std::size_t>(cycles) / 2);  // a leak would use a new place each time
}

}  // namespace
}  // namespace multi
