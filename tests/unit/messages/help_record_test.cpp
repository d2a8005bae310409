#include "messages/help_record.hpp"

#include <gtest/gtest.h>

namespace rma {
namespace {

TEST(HelpRecordTest, AsksWhileTheSenderHelps) {
  HelpRecord record;
  for (int message = 0; message < 100; ++message) {
    EXPECT_TRUE(record.asks());
    record.asked(message % 2 == 0);  // one request in vain says nothing
  }
}

TEST(HelpRecordTest, CopiesAloneAfterRequestsInVainAndThenAsksAgain) {
  HelpRecord record;
  for (std::uint32_t vain = 0; vain < HelpRecord::kVain; ++vain) {
    EXPECT_TRUE(record.asks());
    record.asked(false);
  }
  for (int again = 0; again < 3; ++again) {
    for (std::uint32_t alone = 0; alone < HelpRecord::kAlone; ++alone) EXPECT_FALSE(record.asks());
    EXPECT_TRUE(record.asks());
    record.asked(false);
  }
  for (std::uint32_t alone = 0; alone < HelpRecord::kAlone; ++alone) EXPECT_FALSE(record.asks());
  EXPECT_TRUE(record.asks());
  record.asked(true);
  EXPECT_TRUE(record.asks());
  record.asked(false);
  EXPECT_TRUE(record.asks()) << "help makes up for the requests before";
}

}  // namespace
}  // namespace rma
