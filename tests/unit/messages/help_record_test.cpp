#include "messages/rings/help_record.hpp"

#include <gtest/gtest.h>

namespace librma {
namespace {

TEST(HelpRecordTest, AsksWhileTheSenderHelps) {
  HelpRecord record;
  for (int message = 0; message < 100; ++message) {
    EXPECT_TRUE(record.asks());
    record.asked(message % 2 == 0);  // one message without help changes nothing
  }
}

TEST(HelpRecordTest, CopiesAloneAfterMessagesWithoutHelpAndThenAsksAgain) {
  HelpRecord record;
  for (std::uint32_t unhelped = 0; unhelped < HelpRecord::kUnhelped; ++unhelped) {
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
  EXPECT_TRUE(record.asks()) << "help clears the record";
}

TEST(HelpRecordTest, CopiesAloneWhileBothSendToEachOther) {
  HelpRecord record;
  for (int message = 0; message < 3; ++message) record.copy_alone();
  for (std::uint32_t alone = 0; alone < HelpRecord::kAlone; ++alone) EXPECT_FALSE(record.asks());
  EXPECT_TRUE(record.asks());
}

}  // namespace
}  // namespace librma
