#include "shmem/job/options.hpp"

#include <gtest/gtest.h>

namespace librma::shmem {
namespace {

TEST(Options, SizesWithUnitsAndFractions) {
  EXPECT_EQ(parse_size("1"), 1U);
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("2k"), 2048U);
  EXPECT_EQ(parse_size("64M"), std::size_t{64} << 20);
  EXPECT_EQ(parse_size("1.5g"), std::size_t{3} << 29);
  EXPECT_EQ(parse_size("1T"), std::size_t{1} << 40);
}

TEST(Options, OthersAreNoSizes) {
  for (const char* const said :
       {"", "0", "-1", "k", "1kb", "1 k", "1x", "nan", "inf", "1e30", "0.1", "much"}) {
    EXPECT_EQ(parse_size(said), std::nullopt) << said;
  }
}

}  // namespace
}  // namespace librma::shmem
