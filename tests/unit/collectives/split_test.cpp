#include "collectives/team/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <climits>

namespace librma {
namespace {

std::vector<int> members_of(std::span<const SplitChoice> choices, int color) {
  std::vector<int> members = {7};
  split_members(choices, color, members);
  return members;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitTest, TakesTheMembersOfOneColorInTheirOrder) {
  constexpr std::array kChoices = {SplitChoice{1, 0}, SplitChoice{0, 0}, SplitChoice{1, 0},
                                   SplitChoice{-1, 0}, SplitChoice{0, 0}};
  EXPECT_THAT(members_of(kChoices, 0), ElementsAre(1, 4));
  EXPECT_THAT(members_of(kChoices, 1), ElementsAre(0, 2));
  EXPECT_THAT(members_of(kChoices, 2), IsEmpty());
}

TEST(SplitTest, OrdersByKeyThenByParentRank) {
  constexpr std::array kChoices = {SplitChoice{0, 7}, SplitChoice{0, -3},      SplitChoice{5, -9},
                                   SplitChoice{0, 7}, SplitChoice{0, INT_MIN}, SplitChoice{0, INT_MAX},
                                   SplitChoice{0, -3}};
  EXPECT_THAT(members_of(kChoices, 0), ElementsAre(4, 1, 6, 0, 3, 5));
}

}  // namespace
}  // namespace librma
