// Contexts of the library that a rank revokes.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "messages_of_one.hpp"

namespace librma {
namespace {

constexpr std::uint32_t kContext = kFirstOwnContext + 7;
constexpr Envelope kEnvelope = {.context = kContext, .tag = 0};

class Revoke : public MessagesOfOne {
 protected:
  [[nodiscard]] rma_status_t start(std::size_t bytes, AwaitedSend& awaited) {
    return messages_
        ->start_send({.address = data_.data(), .bytes = bytes}, 0, kEnvelope, messages_->context(kContext),
                     awaited)
        .code();
  }
  [[nodiscard]] rma_status_t receive(std::uint32_t context) {
    std::array<std::byte, 8> into = {};
    const MessageData data = {.address = into.data(), .bytes = into.size()};
    return messages_->receive(data, {.source = 0, .tag = kAnyTag, .context = context}, nullptr, nullptr)
        .code();
  }

  static constexpr std::size_t kLong = 100'000;
  std::vector<std::byte> data_ = std::vector<std::byte>(kLong);
};

TEST_F(Revoke, EndsWhatIsUnderWayAndWhatBeginsLater) {
  AwaitedSend under_way;
  ASSERT_EQ(start(kLong, under_way), RMA_SUCCESS);
  messages_->revoke(0, kContext);
  EXPECT_EQ(messages_->finish_send(under_way).code(), RMA_ERR_PEER_LOST);
  AwaitedSend later;
  EXPECT_EQ(start(kLong, later), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(messages_->finish_send(later).ok()) << "it never began";
  EXPECT_FALSE(messages_->pending());
  EXPECT_EQ(messages_->context(kContext).first_revoker(), 0);
}

TEST_F(Revoke, NamesTheRankThatWasLost) {
  MessageContext& context = messages_->context(kContext);
  messages_->revoke(0, kContext);
  EXPECT_EQ(receive(kContext), RMA_ERR_PEER_LOST);
  EXPECT_EQ(context.named_lost(), MessageContext::kNobody);
  EXPECT_EQ(context.culprit(), context.first_revoker());
  {
    const std::lock_guard guard(context.lock);
    context.revoke(4, 3);
    context.revoke(5, 2);
  }
  EXPECT_EQ(context.first_revoker(), 0);
  EXPECT_EQ(context.named_lost(), 3);
  EXPECT_EQ(context.culprit(), 3);
}

TEST_F(Revoke, EndsReceivesButNotOfWhatHasCome) {
  AwaitedSend awaited;
  EXPECT_EQ(start(8, awaited), RMA_SUCCESS);
  EXPECT_EQ(awaited.name, 0U) << "a short message needs no receive";
  messages_->revoke(0, kContext);
  EXPECT_EQ(receive(kContext), RMA_SUCCESS);
  EXPECT_EQ(receive(kContext), RMA_ERR_PEER_LOST);
}

TEST_F(Revoke, EndsASendThatStillWaitsForRoom) {
  std::array<AwaitedSend, kLines + 4> waiting;
  for (AwaitedSend& each : waiting) ASSERT_EQ(start(kLong, each), RMA_SUCCESS);
  messages_->revoke(0, kContext);
  for (AwaitedSend& each : waiting) EXPECT_EQ(messages_->finish_send(each).code(), RMA_ERR_PEER_LOST);
  messages_->finish();
  EXPECT_FALSE(messages_->pending());
}

TEST_F(Revoke, LeavesOtherContextsAlone) {
  messages_->revoke(0, kContext);
  const Envelope other = {.context = kContext + 1, .tag = 3};
  AwaitedSend awaited;
  ASSERT_TRUE(messages_
                  ->start_send({.address = data_.data(), .bytes = 8}, 0, other,
                               messages_->context(kContext + 1), awaited)
                  .ok());
  EXPECT_EQ(receive(kContext + 1), RMA_SUCCESS);
  // No honest rank revokes a context of the program.
  messages_->revoke(0, RMA_CONTEXT_LAST);
  EXPECT_EQ(receive(RMA_CONTEXT_LAST), RMA_ERR_PEER_LOST);
}

TEST_F(Revoke, EmptyMessagesOfTheLibraryAlwaysHaveRoom) {
  // More than the window holds: each costs at least 256 bytes there.
  const std::uint64_t more = job_->settings().unexpected_bytes / UnexpectedWindow::cost(0) + 10;
  for (std::uint64_t i = 0; i < more; ++i) {
    AwaitedSend awaited;
    ASSERT_EQ(start(0, awaited), RMA_SUCCESS);
    ASSERT_TRUE(messages_->finish_send(awaited).ok()) << "message " << i << " waited for its receive";
  }
  // The receiver does not take a rank that sends them for a hostile one.
  for (std::uint64_t i = 0; i < more; ++i) ASSERT_EQ(receive(kContext), RMA_SUCCESS) << "message " << i;
}

}  // namespace
}  // namespace librma
