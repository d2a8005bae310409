// What the outbox sends at once, what it keeps back, and what it believes of the receiver.

#include "messages/sending/outbox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <new>
#include <vector>

#include "../../multi/failing_new.hpp"
#include "core/one_sided/layout.hpp"
#include "messages_job.hpp"

namespace librma {
namespace {

class OutboxToItself : public MessagesJob {
 protected:
  [[nodiscard]] bool eager(std::size_t bytes) {
    bool sent = false;
    const Status status =
        outbox->try_eager(0, {.context = 1, .tag = 2}, std::span(data_).first(bytes), &sent);
    EXPECT_TRUE(status.ok()) << status.text();
    return sent;
  }
  /// Takes the next message from the ring. Returns its type and form, or none.
  struct Taken {
    MessageType type = {};
    std::size_t bytes = 0;
    RendezvousHead head;
  };
  bool take(Taken& taken, std::uint64_t delivered = 0) const {
    Inbox::Ring* const ring = inbox->of(0);
    LineReceiver::Head head;
    if (ring == nullptr || ring->receiver.peek(head) != LineReceiver::Found::message) return false;
    taken = {.type = head.type, .bytes = head.body.size(), .head = {}};
    if (head.type == MessageType::rendezvous) std::memcpy(&taken.head, head.body.data(), sizeof taken.head);
    ring->receiver.pop(head, delivered);
    return true;
  }
  /// Returns a message of so many bytes whose end is told at `awaited`.
  Outbox::Outgoing message(std::size_t bytes, bool synchronous, AwaitedSend* awaited = nullptr) {
    EXPECT_TRUE(outbox->ready(0).ok());
    return {.envelope = {},
            .data = {.address = data_.data(), .bytes = bytes},
            .synchronous = synchronous,
            .awaited = awaited};
  }

  std::array<std::byte, 4096> data_ = {};
};

TEST_F(OutboxToItself, TheWindowBoundsWhatNobodyHasAskedFor) {
  std::uint64_t cost = 0;
  Taken taken;
  while (eager(100)) {
    cost += UnexpectedWindow::cost(100);
    ASSERT_LE(cost, kWindow);
    ASSERT_TRUE(take(taken));  // so that the ring is not what is full
  }
  EXPECT_GT(cost + UnexpectedWindow::cost(100), kWindow);
  inbox->of(0)->receiver.release(UnexpectedWindow::cost(100));
  EXPECT_TRUE(eager(100));
  EXPECT_FALSE(eager(100));
}

TEST_F(OutboxToItself, AShortRendezvousCarriesItsDataOnlyIntoTheWindow) {
  Taken taken;
  std::uint64_t kept = 0;
  for (int i = 0; i < 100; ++i) {
    static_cast<void>(outbox->send(0, message(100, true)));
    ASSERT_TRUE(take(taken));
    ASSERT_EQ(taken.type, MessageType::rendezvous);
    if (taken.head.form == RendezvousForm::inlined) kept += 100;
  }
  EXPECT_LE(kept, kWindow) << "the receiver must keep more data than it has promised";
}

TEST_F(OutboxToItself, AReleaseThatComesLateIsNoLie) {
  ASSERT_TRUE(eager(100));
  ASSERT_TRUE(eager(100));
  const std::uint64_t cost = UnexpectedWindow::cost(100);
  EXPECT_TRUE(outbox->released(0, 2 * cost));
  EXPECT_TRUE(outbox->released(0, cost)) << "another thread of the receiver may have said it earlier";
  EXPECT_FALSE(outbox->released(0, 2 * cost + 1)) << "more than was sent";
}

TEST_F(OutboxToItself, WhatFindsNoRoomGoesLaterAndInOrder) {
  ASSERT_TRUE(eager(1));
  for (std::size_t i = 1; i < kSizes.lines; ++i) ASSERT_TRUE(eager(1));
  for (std::size_t i = 0; i < 5; ++i) static_cast<void>(outbox->send(0, message(1000 + i, true)));
  EXPECT_FALSE(eager(1)) << "it must not overtake";
  Taken taken;
  for (std::size_t i = 0; i < kSizes.lines; ++i) {
    ASSERT_TRUE(take(taken));
    EXPECT_EQ(taken.type, MessageType::eager);
  }
  EXPECT_TRUE(outbox->progress([](const EndedSend&) {}));
  for (std::size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(take(taken));
    EXPECT_EQ(taken.type, MessageType::rendezvous);
    EXPECT_EQ(taken.head.bytes, 1000 + i);
  }
  EXPECT_FALSE(outbox->progress([](const EndedSend&) {}));
  EXPECT_TRUE(eager(1));
}

TEST_F(OutboxToItself, FragmentsAreAsManyAsTheRingTakes) {
  AwaitedSend awaited;
  ASSERT_EQ(outbox->send(0, message(4000, true, &awaited)), Outbox::Started::under_way);
  Taken taken;
  ASSERT_TRUE(take(taken));
  ASSERT_TRUE(outbox->with_send(0, awaited.name, [&](SendOperation& sent) {
    sent.receiver = 77;
    sent.wanted = 3999;
    outbox->send_fragments(sent);
    return true;
  }));
  std::size_t come = 0;
  const AwaitedSend* ended = nullptr;
  for (int round = 0; round < 100 && ended == nullptr; ++round) {
    static_cast<void>(outbox->progress([&](const EndedSend& send) { ended = send.awaited; }));
    while (take(taken)) {
      ASSERT_EQ(taken.type, MessageType::fragment);
      come += taken.bytes - sizeof(FragmentHead);
    }
  }
  EXPECT_EQ(ended, &awaited);
  EXPECT_EQ(come, 3999U);
  EXPECT_FALSE(outbox->any_sends());
}

TEST_F(OutboxToItself, WithoutMemoryNothingIsSentTwice) {
  for (std::size_t i = 0; i < kSizes.lines; ++i) ASSERT_TRUE(eager(1));
  // They wait for room, and end when they are sent.
  std::array<AwaitedSend, 5> awaited;
  std::vector<const AwaitedSend*> waiting;
  for (AwaitedSend& send : awaited) {
    waiting.push_back(&send);
    ASSERT_EQ(outbox->send(0, message(1, false, &send)), Outbox::Started::under_way);
  }
  Taken taken;
  for (std::size_t i = 0; i < kSizes.lines; ++i) ASSERT_TRUE(take(taken));
  std::vector<const AwaitedSend*> ended;
  ended.reserve(100);
  bool moved = true;
  for (int n = 0; moved; ++n) {
    let_fail(0, n % 2 == 0);
    moved = outbox->progress([&](const EndedSend& send) { ended.push_back(send.awaited); });
    end_failing();
    ASSERT_LT(n, 20);
  }
  EXPECT_EQ(ended, waiting) << "each is over once";
  std::size_t arrived = 0;
  while (take(taken)) ++arrived;
  EXPECT_EQ(arrived, waiting.size()) << "each was sent once";
}

TEST_F(OutboxToItself, ARefusedMessageLeavesItsRoom) {
  Outbox::Outgoing sent = message(16, false);
  const std::array<Layout::Dimension, 1> dimensions = {{{.count = 4, .stride = 8}}};
  const auto layout = std::make_shared<Layout>(
      Layout::strided(reinterpret_cast<std::uintptr_t>(data_.data()), 4, dimensions));
  sent.data = {.address = nullptr, .bytes = 16, .layout = layout};
  for (int i = 0; i < 1000; ++i) {
    let_fail(0, false);  // the bytes find no memory to be gathered in
    EXPECT_THROW(static_cast<void>(outbox->send(0, sent)), std::bad_alloc);
    EXPECT_FALSE(outbox->any_sends());
    ASSERT_TRUE(end_failing());
  }
  EXPECT_EQ(outbox->send(0, sent), Outbox::Started::over) << "there is room for the message";
  Taken taken;
  ASSERT_TRUE(take(taken));
  EXPECT_EQ(taken.type, MessageType::eager);
  EXPECT_EQ(taken.bytes, 16U);
  EXPECT_FALSE(take(taken));
}

TEST_F(OutboxToItself, AReceiverWhoseCountsMakeNoSenseIsLost) {
  ASSERT_TRUE(eager(1));
  for (std::size_t i = 1; i < kSizes.lines; ++i) ASSERT_TRUE(eager(1));
  // The feedback is at the start of the ring, which lies in this process's heap.
  reinterpret_cast<LineFeedback*>(block->rings[0].load())->taken.store(1000);
  bool sent = true;
  static_cast<void>(outbox->try_eager(0, {}, {}, &sent));
  EXPECT_FALSE(sent);
  EXPECT_TRUE(outbox->lost(0));
  const Status status = outbox->try_eager(0, {}, {}, &sent);
  EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
  EXPECT_NE(status.text().find("rank 0"), std::string::npos) << status.text();
}

TEST_F(OutboxToItself, NothingGoesToARankThatIsLost) {
  outbox->lose(0);
  bool sent = true;
  EXPECT_EQ(outbox->try_eager(0, {}, {}, &sent).code(), RMA_ERR_PEER_LOST);
  EXPECT_FALSE(sent);
  EXPECT_EQ(outbox->ready(0).code(), RMA_ERR_PEER_LOST);
}

}  // namespace
}  // namespace librma
