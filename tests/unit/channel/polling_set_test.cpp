#include "channel/polling_set.hpp"

#include <gtest/gtest.h>

namespace rma {
namespace {

TEST(PollingSet, BeginsEmpty) {
  PollingSet set({});
  EXPECT_EQ(set.size(), 0U);
  EXPECT_EQ(set.next(), std::nullopt);
}

}  // namespace
}  // namespace rma
