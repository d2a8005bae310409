// How numbers of contexts come back. Several ranks: hostile_messages_test.cpp, and tests/mpi.

#include "messages/sending/context_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>

#include "messages_of_one.hpp"

namespace librma {
namespace {

class Numbers : public MessagesOfOne {
 protected:
  static constexpr int kTag = 5;

  std::uint32_t draw() {
    const std::optional<std::uint32_t> number = messages_->numbers().draw();
    EXPECT_TRUE(number);
    highest_ = std::max(highest_, number.value_or(0));
    return number.value_or(0);
  }
  void give_back(std::uint32_t number) {
    static constexpr std::array<int, 1> kRanks = {0};
    messages_->numbers().give_back(number, kRanks);
  }
  void send(std::uint32_t context) {
    AwaitedSend awaited;
    const Status status =
        messages_->start_send({.address = data_.data(), .bytes = data_.size()}, 0,
                              {.context = context, .tag = kTag}, messages_->context(context), awaited);
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(awaited.name, 0U) << "there was no room, though what was under way is forgotten";
  }
  [[nodiscard]] bool finds(std::uint32_t context) {
    bool found = false;
    const Status status = messages_->probe({.source = kAnySource, .tag = kAnyTag, .context = context}, false,
                                           &found, nullptr, nullptr);
    EXPECT_TRUE(status.ok()) << status.text();
    return found;
  }

  std::array<std::byte, 8> data_ = {};
  std::uint32_t highest_ = 0;
};

TEST_F(Numbers, AreUsedAgainAndOldMessagesAreNotFound) {
  constexpr int kCycles = 100'000;
  constexpr std::size_t kAlive = 5;
  std::deque<std::uint32_t> alive;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const std::uint32_t number = draw();
    for (const std::uint32_t context : contexts_of(number)) ASSERT_FALSE(finds(context)) << cycle;
    alive.push_back(number);
    // One that stays behind in the ring, and one that has arrived.
    const std::uint32_t first = contexts_of(number)[static_cast<std::size_t>(cycle) % kDrawnMessages];
    send(first);
    if (cycle % 2 == 0) {
      ASSERT_TRUE(finds(first));
    }
    send(contexts_of(number).back());
    if (alive.size() <= kAlive) continue;
    give_back(alive.front());
    alive.pop_front();
  }
  EXPECT_LT(highest_, 3 * ContextNumbers::kMostWaiting);
}

TEST_F(Numbers, DoNotComeBackWhileAReceiveIsUnderWay) {
  const std::uint32_t number = draw();
  rma_request_t request = RMA_REQUEST_NULL;
  std::array<std::byte, 8> into = {};
  ASSERT_TRUE(messages_
                  ->post_receive({.address = into.data(), .bytes = into.size()},
                                 {.source = 0, .tag = kTag, .context = contexts_of(number).front()}, &request)
                  .ok());
  give_back(number);
  std::set<std::uint32_t> drawn;
  const auto cycle = [&] {
    for (std::uint32_t i = 0; i < 4 * ContextNumbers::kMostWaiting; ++i) {
      const std::uint32_t one = draw();
      drawn.insert(one);
      give_back(one);
      static_cast<void>(messages_->drive());
    }
  };
  cycle();
  EXPECT_FALSE(drawn.contains(number));
  messages_->cancel(request);
  messages_->wait_for(request);
  static_cast<void>(remote_access_->pending().wait(request));
  const std::uint32_t before = highest_;
  cycle();
  EXPECT_EQ(highest_, before);
  // All that are free are drawn: the number is among them.
  for (std::uint32_t i = 0; i < before; ++i) drawn.insert(draw());
  EXPECT_TRUE(drawn.contains(number));
}

}  // namespace
}  // namespace librma
