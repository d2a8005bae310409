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
  [[nodiscard]] SendOperation* start(std::size_t bytes) {
    SendOperation* operation = nullptr;
    const Status status = messages_->start_send({.address = data_.data(), .bytes = bytes}, 0, kEnvelope,
                                                messages_->context(kContext), &operation);
    EXPECT_TRUE(status.ok()) << status.text();
    return operation;
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
  SendOperation* const under_way = start(kLong);
  ASSERT_NE(under_way, nullptr);
  messages_->revoke(0, kContext);
  EXPECT_EQ(messages_->finish_send(*under_way).code(), RMA_ERR_PEER_LOST);
  SendOperation* const later = start(kLong);
  ASSERT_NE(later, nullptr);
  EXPECT_EQ(messages_->finish_send(*later).code(), RMA_ERR_PEER_LOST);
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
  EXPECT_EQ(start(8), nullptr) << "a short message needs no receive";
  messages_->revoke(0, kContext);
  EXPECT_EQ(receive(kContext), RMA_SUCCESS);
  EXPECT_EQ(receive(kContext), RMA_ERR_PEER_LOST);
}

TEST_F(Revoke, EndsASendThatStillWaitsForRoom) {
  std::vector<SendOperation*> waiting;
  for (std::uint64_t i = 0; i < kLines + 4; ++i) waiting.push_back(start(kLong));
  messages_->revoke(0, kContext);
  for (SendOperation* const each : waiting) {
    ASSERT_NE(each, nullptr);
    EXPECT_EQ(messages_->finish_send(*each).code(), RMA_ERR_PEER_LOST);
  }
  messages_->finish();
  EXPECT_FALSE(messages_->pending());
}

TEST_F(Revoke, LeavesOtherContextsAlone) {
  messages_->revoke(0, kContext);
  const Envelope other = {.context = kContext + 1, .tag = 3};
  SendOperation* operation = nullptr;
  ASSERT_TRUE(messages_
                  ->start_send({.address = data_.data(), .bytes = 8}, 0, other,
                               messages_->context(kContext + 1), &operation)
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
    SendOperation* const operation = start(0);
    if (operation == nullptr) continue;
    ASSERT_TRUE(messages_->finish_send(*operation).ok()) << "message " << i << " waited for its receive";
  }
  // The receiver does not take a rank that sends them for a hostile one.
  for (std::uint64_t i = 0; i < more; ++i) ASSERT_EQ(receive(kContext), RMA_SUCCESS) << "message " << i;
}

}  // namespace
}  // namespace librma
