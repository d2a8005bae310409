// Receives of messages that are only announced.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "../counted.hpp"
#include "messages_of_one.hpp"

namespace librma {
namespace {

class AnnouncedMessages : public MessagesOfOne {
 protected:
  static constexpr std::uint32_t kContext = kFirstOwnContext + 9;
  static constexpr int kTag = 5;
  static constexpr std::size_t kLong = 100'000;

  void SetUp() override {
    MessagesOfOne::SetUp();
    std::iota(reinterpret_cast<unsigned char*>(data_.data()),
              reinterpret_cast<unsigned char*>(data_.data()) + kLong, static_cast<unsigned char>(0));
  }
  void start(AwaitedSend& awaited) {
    ASSERT_TRUE(messages_
                    ->start_send({.address = data_.data(), .bytes = kLong}, 0,
                                 {.context = kContext, .tag = kTag}, messages_->context(kContext), awaited)
                    .ok());
    ASSERT_NE(awaited.name, 0U) << "it was not announced";
  }
  [[nodiscard]] rma_status_t receive(std::vector<std::byte>& into, rma_message_info_t& info) {
    const MessageData data = {.address = into.data(), .bytes = into.size()};
    return messages_->receive(data, {.source = kAnySource, .tag = kTag, .context = kContext}, &info, nullptr)
        .code();
  }
  static std::uint64_t kept() { return counted(Counter::receive_unexpected); }

  std::vector<std::byte> data_ = std::vector<std::byte>(kLong);
};

TEST_F(AnnouncedMessages, ACallThatWaitsTakesThemFromTheRing) {
  AwaitedSend awaited;
  start(awaited);
  const std::uint64_t before = kept();
  std::vector<std::byte> into(kLong);
  rma_message_info_t info = {};
  EXPECT_EQ(receive(into, info), RMA_SUCCESS);
  EXPECT_EQ(kept(), before) << "the announcement was kept, and looked for again";
  EXPECT_EQ(into, data_);
  EXPECT_EQ(info.source, 0);
  EXPECT_EQ(info.tag, kTag);
  EXPECT_EQ(info.bytes, kLong);
  EXPECT_TRUE(messages_->finish_send(awaited).ok());
  EXPECT_FALSE(messages_->pending());
}

TEST_F(AnnouncedMessages, ABufferThatIsTooShortGetsTheirBeginning) {
  AwaitedSend awaited;
  start(awaited);
  std::vector<std::byte> into(kLong / 2);
  rma_message_info_t info = {};
  EXPECT_EQ(receive(into, info), RMA_ERR_TRUNCATED);
  EXPECT_EQ(into, std::vector<std::byte>(data_.begin(), data_.begin() + kLong / 2));
  EXPECT_EQ(info.bytes, kLong);
  EXPECT_TRUE(messages_->finish_send(awaited).ok());
  EXPECT_FALSE(messages_->pending());
}

}  // namespace
}  // namespace librma
