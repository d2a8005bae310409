#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rmarun/sharing_groups.hpp"

namespace {

using librma::RankSite;
using rmarun::sharing_groups;
using rmarun::SharingGroup;
using testing::ElementsAre;

constexpr RankSite kOwn = {.network = 1, .directory_device = 5, .directory_inode = 6};

RankSite seeing(std::uint64_t network) {
  return {.network = network, .directory_device = 5, .directory_inode = 6};
}
RankSite blind(std::uint64_t network) { return {.network = network}; }
/// It has another directory of that name.
RankSite elsewhere(std::uint64_t network) {
  return {.network = network, .directory_device = 5, .directory_inode = 7};
}

std::vector<std::vector<int>> ranks_of(const std::vector<SharingGroup>& groups) {
  std::vector<std::vector<int>> ranks;
  for (const SharingGroup& group : groups) ranks.push_back(group.ranks);
  return ranks;
}

TEST(SharingGroups, OneNetworkNeedsNoDirectory) {
  const auto groups = sharing_groups({seeing(1), blind(1), elsewhere(1)}, kOwn);
  for (const SharingGroup& group : groups) {
    EXPECT_THAT(group.ranks, ElementsAre(0, 1, 2));
    EXPECT_FALSE(group.by_file);
  }
}

TEST(SharingGroups, SeveralNetworksMeetInTheDirectory) {
  const auto groups = sharing_groups({seeing(1), seeing(2), seeing(2), seeing(3)}, kOwn);
  for (const SharingGroup& group : groups) {
    EXPECT_THAT(group.ranks, ElementsAre(0, 1, 2, 3));
    EXPECT_TRUE(group.by_file);
  }
}

TEST(SharingGroups, RanksWithoutTheDirectoryHaveThoseOfTheirNetwork) {
  const auto groups =
      sharing_groups({seeing(1), seeing(2), blind(3), blind(1), elsewhere(3), blind(4)}, kOwn);
  EXPECT_THAT(ranks_of(groups), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1), ElementsAre(2, 4),
                                            ElementsAre(3), ElementsAre(2, 4), ElementsAre(5)));
  EXPECT_TRUE(groups[0].by_file);
  EXPECT_TRUE(groups[1].by_file);
  EXPECT_FALSE(groups[2].by_file);
}

TEST(SharingGroups, AnUnknownDirectoryIsNobodys) {
  const auto groups = sharing_groups({blind(1), blind(2)}, {.network = 1});
  EXPECT_THAT(ranks_of(groups), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

}  // namespace
