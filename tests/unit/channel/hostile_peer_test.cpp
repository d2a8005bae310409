#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../counted.hpp"
#include "../seed.hpp"
#include "channel_world.hpp"

namespace librma {
namespace {

/// The test itself writes the messages of rank 1. Ranks 0 and 2 have ordinary channels.
class HostilePeer : public ChannelWorld {
 protected:
  static constexpr std::uint32_t kOwn = 4;

  void SetUp() override { start(); }

  void start() {
    processes.clear();
    open(3, kOwn, 8);
    memory.resize(4096);
    key = at(1).endpoints[0]->register_memory(memory.data(), memory.size()).value().local;
    sequence = Link::kFirstSequence;
  }
  /// Sends any bytes to rank 0.
  void raw(const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), memory.begin());
    const transport::Local piece = {.address = memory.data(), .bytes = bytes.size(), .key = key};
    ASSERT_EQ(at(1).endpoints[0]->messages().post_message(0, {&piece, 1}, 0, {.unsignaled = true}),
              RMA_SUCCESS);
  }
  void raw(const MessageHeader& header, std::size_t behind) {
    Bytes bytes(sizeof header + behind);
    std::memcpy(bytes.data(), &header, sizeof header);
    raw(bytes);
  }
  [[nodiscard]] MessageHeader honest() { return {.sequence = sequence++, .bytes = 0, .kind = 1}; }

  /// Checks that rank 0 gives rank 1 up and goes on with rank 2.
  void expect_given_up(bool given_up = true) {
    for (std::uint32_t i = 0; i < 20; ++i) {
      send(0, 2, i, 100);
      send(2, 0, i, 100);
      progress(0);
      progress(2);
    }
    for (int round = 0; round < 100; ++round) {
      progress(0);
      progress(2);
    }
    EXPECT_EQ(at(0).lost_peers, given_up ? std::vector<int>{1} : std::vector<int>{});
    EXPECT_EQ(got(0, 2).size(), 20U);
    EXPECT_EQ(got(2, 0).size(), 20U);
    EXPECT_TRUE(at(2).lost_peers.empty());
  }

  Bytes memory;
  transport::Key key = 0;
  std::uint32_t sequence = 0;
};

TEST_F(HostilePeer, AnHonestMessageIsTaken) {
  raw(honest(), 0);
  raw(honest(), 0);
  expect_given_up(false);
  EXPECT_EQ(got(0, 1).size(), 2U);
}

TEST_F(HostilePeer, NoWholeHeader) {
  for (std::size_t size = 0; size < sizeof(MessageHeader); ++size) {
    start();
    raw(Bytes(size));
    expect_given_up();
  }
}

TEST_F(HostilePeer, ASizeThatIsNotItsOwn) {
  for (const std::uint32_t claimed : {0U, 9U, 11U, 500U, 0xffffffffU, 0xfffffff0U}) {
    start();
    MessageHeader header = honest();
    header.bytes = claimed;
    const std::uint64_t refused = counted(Counter::messages_refused);
    raw(header, 10);
    expect_given_up();
    EXPECT_TRUE(got(0, 1).empty());
    EXPECT_EQ(counted(Counter::messages_refused), refused + 1);
  }
}

TEST_F(HostilePeer, MoreThanABufferHolds) {
  raw(Bytes(kMessage + 1));
  expect_given_up();
}

TEST_F(HostilePeer, ASequenceNumberOfNobodys) {
  for (const std::uint32_t ahead : {kOwn, kOwn + 1, 1000U, 0x80000000U, 0xffffffffU}) {
    start();
    MessageHeader header = honest();
    header.sequence += ahead;
    raw(header, 0);
    expect_given_up();
  }
}

TEST_F(HostilePeer, TheSameMessageTwice) {
  const MessageHeader header = honest();
  raw(header, 0);
  raw(header, 0);
  expect_given_up();
}

TEST_F(HostilePeer, EarlyMessagesAreDeliveredInOrder) {
  std::vector<MessageHeader> headers;
  for (std::uint16_t kind = 1; kind <= 4; ++kind) {
    headers.push_back(honest());
    headers.back().kind = kind;
  }
  for (const std::size_t i : {std::size_t{3}, std::size_t{1}, std::size_t{0}}) raw(headers[i], 0);
  progress(0);
  ASSERT_EQ(got(0, 1).size(), 2U);
  raw(headers[2], 0);
  progress(0);
  ASSERT_EQ(got(0, 1).size(), 4U);
  for (std::uint16_t kind = 1; kind <= 4; ++kind) EXPECT_EQ(got(0, 1)[kind - 1U].first, kind);
  EXPECT_TRUE(nobody_is_lost());
}

TEST_F(HostilePeer, CoalescedMessagesThatAreNone) {
  const auto head = [](std::uint32_t bytes, std::uint16_t kind, std::uint16_t reserved = 0) {
    const CoalescedHeader header = {.bytes = bytes, .kind = kind, .reserved = reserved};
    Bytes image(sizeof header);
    std::memcpy(image.data(), &header, sizeof header);
    return image;
  };
  const auto behind = [](Bytes first, const Bytes& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  const Bytes good = head(0, 1);
  const std::vector<Bytes> bodies = {
      {},                                                // no message at all
      Bytes(7),                                          // no whole header
      behind(good, Bytes(1)),                            // the same behind a message
      head(1, 1),                                        // a body that is not there
      behind(head(1, 1), Bytes(1)),                      // without the bytes that align the next one
      behind(head(9, 1), Bytes(8)),                      // a body that is cut
      head(0xffffffffU, 1),                              // bytes that overflow
      head(0xfffffff8U, 1),                              //
      head(0, 1, 1),                                     // a field of no meaning
      head(0, MessageHeader::kCredits),                  // kinds that do not go together
      head(0, MessageHeader::kRingStop),                 //
      behind(head(8, MessageHeader::kCoalesced), good),  //
      head(0, Channel::kKinds),                          // a kind that nobody takes in
  };
  for (const Bytes& body : bodies) {
    SCOPED_TRACE(testing::Message() << "body " << &body - bodies.data());
    start();
    MessageHeader header = honest();
    header.kind = MessageHeader::kCoalesced;
    header.bytes = static_cast<std::uint32_t>(body.size());
    Bytes image(sizeof header);
    std::memcpy(image.data(), &header, sizeof header);
    raw(behind(image, body));
    expect_given_up();
  }
}

TEST_F(HostilePeer, NothingIsDeliveredOfWhoIsGivenUpByAMessageThatCameWithIt) {
  Bytes image(sizeof(MessageHeader) + 3 * sizeof(CoalescedHeader));
  MessageHeader header = honest();
  header.kind = MessageHeader::kCoalesced;
  header.bytes = 3 * sizeof(CoalescedHeader);
  std::memcpy(image.data(), &header, sizeof header);
  for (std::size_t i = 0; i < 3; ++i) {
    const CoalescedHeader inner = {.bytes = 0, .kind = 1, .reserved = 0};
    std::memcpy(image.data() + sizeof header + i * sizeof inner, &inner, sizeof inner);
  }
  at(0).on_message = [this](const Message& message) {
    if (got(0, message.peer).size() == 2) at(0).channel->fail(1);
  };
  raw(image);
  expect_given_up();
  EXPECT_EQ(got(0, 1).size(), 2U);
}

TEST_F(HostilePeer, NothingIsDeliveredOfWhoIsGivenUp) {
  raw(honest(), 0);
  const MessageHeader skipped = honest();
  raw(honest(), 0);
  at(0).on_message = [this](const Message& message) {
    if (got(0, message.peer).size() == 2) at(0).channel->fail(1);
  };
  raw(skipped, 0);
  expect_given_up();
  EXPECT_EQ(got(0, 1).size(), 2U) << "the one that was kept came after its sender was given up";
}

TEST_F(HostilePeer, CreditsOutOfThinAir) {
  MessageHeader header = honest();
  header.credits = 0xffff;
  raw(header, 0);
  for (std::uint32_t i = 0; i < 100; ++i) send(0, 1, i, 8);
  expect_given_up();
}

TEST_F(HostilePeer, WhoWantsMoreForEverLeavesOthersTheirOwn) {
  at(0).on_message = [this](const Message& message) {
    if (message.peer == 1) send(0, 1, 0, 8);  // uses up the credits that rank 1 gives
  };
  for (int i = 0; i < 1000 && at(0).lost_peers.empty(); ++i) {
    MessageHeader header = honest();
    header.credits = 1;
    header.wants_more = 1;
    raw(header, 0);
    progress(0);
  }
  EXPECT_EQ(burst(2, 0), kOwn - 1);
  progress(0);
  at(0).got[2].clear();
  expect_given_up();
}

TEST_F(HostilePeer, AnyBytes) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 300; ++round) {
    start();
    for (int i = 0; i < 4; ++i) {
      Bytes bytes(random() % kMessage);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      MessageHeader header = honest();
      if (random() % 2 == 0 && bytes.size() >= sizeof header) {
        header.bytes = static_cast<std::uint32_t>(bytes.size() - sizeof header);
        header.credits = static_cast<std::uint16_t>(random());
        header.wants_more = static_cast<std::uint16_t>(random());
        std::memcpy(bytes.data(), &header, sizeof header);
      }
      raw(bytes);
      progress(0);
      if (!at(0).lost_peers.empty()) break;
    }
    at(0).channel->fail(1);
    expect_given_up();
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

}  // namespace
}  // namespace librma
