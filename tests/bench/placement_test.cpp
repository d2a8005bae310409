// The time of a cache line between two ranks, which are threads here.

#include "harness/placement.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace rma::bench {
namespace {

TEST(Placement, IsNotMeasuredWithoutTheFile) {
  unsetenv("BENCH_PLACEMENT");
  placement none = placement_open(0);
  EXPECT_EQ(placement_crossing(&none), 0.0);
  setenv("BENCH_PLACEMENT", "/nowhere/placement", 1);
  placement absent = placement_open(1);
  EXPECT_EQ(placement_crossing(&absent), 0.0);
}

TEST(Placement, TwoRanksMeasureAgainAndAgainAndTheThirdDoesNot) {
  const std::string file = testing::TempDir() + "placement." + std::to_string(getpid());
  std::ofstream(file) << std::string(sizeof(uint64_t), '\0');
  setenv("BENCH_PLACEMENT", file.c_str(), 1);
  constexpr int kTimes = 3;
  placement first = placement_open(0);
  placement second = placement_open(1);
  placement third = placement_open(2);
  std::thread other([&] {
    for (int i = 0; i < kTimes; ++i) EXPECT_GT(placement_crossing(&second), 0.0);
  });
  for (int i = 0; i < kTimes; ++i) EXPECT_GT(placement_crossing(&first), 0.0);
  other.join();
  EXPECT_EQ(first.value, second.value);
  EXPECT_EQ(placement_crossing(&third), 0.0);
  std::remove(file.c_str());
}

}  // namespace
}  // namespace rma::bench
