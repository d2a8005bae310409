#include "twosided_compat/communicators/members.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../seed.hpp"

namespace librma::mpi {
namespace {

/// Compares members with a list of the world ranks.
void expect_same(const Members& members, const std::vector<int>& model, int world_size) {
  ASSERT_EQ(members.size(), static_cast<int>(model.size()));
  EXPECT_EQ(members.world_size(), world_size);
  EXPECT_EQ(members.list(), model);
  for (int rank = 0; rank < members.size(); ++rank)
    ASSERT_EQ(members.world_rank(rank), model[static_cast<std::size_t>(rank)]);
  for (int world = -2; world < world_size + 2; ++world) {
    const auto at = std::ranges::find(model, world);
    const int expected = at == model.end() ? MPI_UNDEFINED : static_cast<int>(at - model.begin());
    ASSERT_EQ(members.rank_of(world), expected) << world;
  }
}

/// Returns ranks of a job: all, a range, every n-th in either order, or any.
std::vector<int> draw(std::mt19937_64& random, int world_size) {
  const int size = static_cast<int>(random() % static_cast<unsigned>(world_size + 1));
  std::vector<int> world;
  if (random() % 3 == 0) {
    world.resize(static_cast<std::size_t>(world_size));
    std::iota(world.begin(), world.end(), 0);
    if (random() % 2 == 0) std::ranges::shuffle(world, random);
    world.resize(static_cast<std::size_t>(size));
    if (random() % 2 == 0) std::ranges::sort(world);
    return world;
  }
  const int stride = 1 + static_cast<int>(random() % 4);
  for (int rank = static_cast<int>(random() % 3); rank < world_size && static_cast<int>(world.size()) < size;
       rank += stride) {
    world.push_back(rank);
  }
  if (random() % 2 == 0) std::ranges::reverse(world);
  // Nearly every n-th.
  if (random() % 4 == 0 && world.size() > 2) std::swap(world[0], world[random() % world.size()]);
  return world;
}

TEST(MembersTest, AgreeWithAList) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 2000; ++round) {
    const int world_size = 1 + static_cast<int>(random() % 24);
    const std::vector<int> one = draw(random, world_size);
    const std::vector<int> other = random() % 4 == 0 ? one : draw(random, world_size);
    const Members members(one, world_size);
    const Members others(other, world_size);
    expect_same(members, one, world_size);
    EXPECT_EQ(members == others, one == other);
    std::vector<int> sorted = one;
    std::vector<int> others_sorted = other;
    std::ranges::sort(sorted);
    std::ranges::sort(others_sorted);
    EXPECT_EQ(members.has_same(others), sorted == others_sorted);
  }
}

TEST(MembersTest, ThoseOfAnArithmeticSequenceNeedNoList) {
  expect_same(Members(0, 1, 16, 16), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 16);
  expect_same(Members(3, 4, 3, 16), {3, 7, 11}, 16);
  expect_same(Members(11, -4, 3, 16), {11, 7, 3}, 16);
  expect_same(Members(5, 1, 1, 16), {5}, 16);
  expect_same(Members(0, 1, 0, 16), {}, 16);
  EXPECT_TRUE(Members(5, 1, 1, 16) == Members(std::vector{5}, 16));
  EXPECT_TRUE(Members(3, 4, 3, 16) == Members(std::vector{3, 7, 11}, 16));
  EXPECT_FALSE(Members(3, 4, 3, 16) == Members(3, 5, 3, 16));
  EXPECT_TRUE(Members(3, 4, 3, 16).has_same(Members(11, -4, 3, 16)));
  // Of a job that no machine runs, without the memory for its ranks.
  const Members many(0, 1, 2'000'000'000, 2'000'000'000);
  EXPECT_EQ(many.rank_of(1'999'999'999), 1'999'999'999);
  EXPECT_EQ(many.rank_of(2'000'000'000), MPI_UNDEFINED);
  EXPECT_TRUE(many == many);
}

}  // namespace
}  // namespace librma::mpi
