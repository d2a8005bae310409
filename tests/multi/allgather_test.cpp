// Allgathers of sizes around the thresholds of the RDMA allgather, on several kinds of teams and memory. The
// settings decide how the members gather; the build's tests look at the counters.

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "harness.hpp"
#include "rma/collectives.h"

namespace multi {
namespace {

/// Steps up to 16 KiB are copied: the third and further sizes reach that in different steps.
constexpr std::array<std::size_t, 12> kAllgatherSizes = {
    1, 8, 4096, 4097, 8192, 8193, 16 * 1024, 16 * 1024 + 1, 32 * 1024, 100'003, 300'000, 24};

std::byte given_by(int rank, std::size_t turn, std::size_t i) {
  return static_cast<std::byte>(static_cast<std::size_t>(rank) * 37 + turn * 11 + i * 7 + i / 253);
}

/// Gathers by `call(dst, src, bytes)`; `ranks_of` are the world ranks of the team.
template <typename Call>
void gather_sizes(const std::vector<int>& ranks_of, std::span<std::byte> result, const Call& call) {
  const auto at = std::find(ranks_of.begin(), ranks_of.end(), me());
  const auto my_place = static_cast<std::size_t>(at - ranks_of.begin());
  std::size_t turn = 0;
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t bytes : kAllgatherSizes) {
      ++turn;
      const std::span<std::byte> all = result.first(bytes * ranks_of.size());
      std::fill(all.begin(), all.end(), std::byte{0});
      std::vector<std::byte> mine(bytes);
      std::byte* const src = turn % 2 == 0 ? all.data() + my_place * bytes : mine.data();
      for (std::size_t i = 0; i < bytes; ++i) src[i] = given_by(me(), turn, i);
      EXPECT_EQ(call(all.data(), src, bytes), RMA_SUCCESS) << rma_last_error();
      std::size_t wrong = 0;
      for (std::size_t place = 0; place < ranks_of.size(); ++place) {
        for (std::size_t i = 0; i < bytes; ++i) {
          if (all[place * bytes + i] != given_by(ranks_of[place], turn, i)) ++wrong;
        }
      }
      EXPECT_EQ(wrong, 0) << bytes << " bytes, turn " << turn;
    }
  }
}

constexpr std::size_t kLargestAllgather = 300'000;

std::vector<int> world_ranks() {
  std::vector<int> all(static_cast<std::size_t>(ranks()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

TEST(Allgather, WorldTeamIntoOrdinaryMemory) {
  std::vector<std::byte> result(kLargestAllgather * static_cast<std::size_t>(ranks()));
  gather_sizes(world_ranks(), result, [](std::byte* dst, const std::byte* src, std::size_t bytes) {
    return rma_allgather(rma_team_world(), dst, src, bytes);
  });
}

TEST(Allgather, WorldTeamIntoTheHeap) {
  const std::size_t bytes_of_all = kLargestAllgather * static_cast<std::size_t>(ranks());
  void* memory = nullptr;
  EXPECT_EQ(rma_malloc_local(bytes_of_all, 64, &memory), RMA_SUCCESS);
  gather_sizes(world_ranks(), {static_cast<std::byte*>(memory), bytes_of_all},
               [](std::byte* dst, const std::byte* src, std::size_t bytes) {
                 return rma_allgather(rma_team_world(), dst, src, bytes);
               });
  EXPECT_EQ(rma_free_local(memory), RMA_SUCCESS);
}

TEST(Allgather, AttachedTeamInAnotherOrder) {
  std::vector<int> order = world_ranks();
  std::reverse(order.begin(), order.end());
  rma_team_t team = nullptr;
  EXPECT_EQ(rma_team_attach(order.data(), ranks(), 77, &team), RMA_SUCCESS);
  std::vector<std::byte> result(kLargestAllgather * static_cast<std::size_t>(ranks()));
  gather_sizes(order, result, [team](std::byte* dst, const std::byte* src, std::size_t bytes) {
    rma_collective_t gather = {};
    gather.kind = RMA_COLLECTIVE_ALLGATHER;
    gather.dst = dst;
    gather.src = src;
    gather.bytes = bytes;
    return rma_collective_run(team, &gather);
  });
  EXPECT_EQ(rma_team_free(&team), RMA_SUCCESS);
}

TEST(Allgather, TeamsThatComeAndGo) {
  // Their blocks take each other's places in the heap, so a write that comes late would be seen.
  for (int round = 0; round < 4; ++round) {
    rma_team_t team = nullptr;
    EXPECT_EQ(rma_team_split(rma_team_world(), me() % 2, me(), &team), RMA_SUCCESS);
    std::vector<int> members;
    for (int rank = me() % 2; rank < ranks(); rank += 2) members.push_back(rank);
    std::vector<std::byte> result(kLargestAllgather * members.size());
    gather_sizes(members, result, [team](std::byte* dst, const std::byte* src, std::size_t bytes) {
      return rma_allgather(team, dst, src, bytes);
    });
    EXPECT_EQ(rma_team_free(&team), RMA_SUCCESS);
  }
}

}  // namespace multi
