// A peer that offers and uses rings in ways that no honest peer does.

#include <random>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "ring_world.hpp"
#include "util/bytes_of.hpp"

namespace librma {
namespace {

/// The test itself writes the messages of rank 1. Rank 0 has an ordinary channel.
class HostileRing : public RingWorld {
 protected:
  void SetUp() override { start(); }

  void start() {
    processes.clear();
    open(3, 16, 8);
    memory.assign(1 << 16, std::byte{0});
    key = at(1).endpoints[0]->register_memory(memory.data(), memory.size()).value().local;
    sequence = Link::kFirstSequence;
    raw(1);
  }
  void raw(const MessageHeader& header, std::span<const std::byte> behind) {
    std::memcpy(memory.data(), &header, sizeof header);
    std::ranges::copy(behind, memory.begin() + sizeof header);
    const transport::Local piece = {
        .address = memory.data(), .bytes = sizeof header + behind.size(), .key = key};
    ASSERT_EQ(messages(1).post_message(0, {&piece, 1}, 0, {.unsignaled = true}), RMA_SUCCESS);
    progress(0);
  }
  void raw(std::uint16_t kind, std::span<const std::byte> behind = {}, std::uint16_t ring_credits = 0) {
    raw({.sequence = sequence++,
         .bytes = static_cast<std::uint32_t>(behind.size()),
         .kind = kind,
         .credits = 1,
         .ring_credits = ring_credits},
        behind);
  }
  void offer(const RingOffer& offered) { raw(MessageHeader::kRingOffered, bytes_of(offered)); }
  [[nodiscard]] RingOffer honest() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data()) + 8192;
    return {.address = (address + 63) / 64 * 64, .key = key, .slots = 4, .slot_bytes = 128};
  }
  /// Lets rank 1 earn a ring, and returns the offer.
  RingOffer earn() {
    std::optional<RingOffer> offered;
    for (std::uint32_t i = 0; i < 2 * kEarned; ++i) raw(1);
    std::array<transport::Completion, 64> completions;
    const std::size_t filled = messages(1).poll(completions);
    for (std::size_t i = 0; i < filled; ++i) {
      // Its own channel, which does nothing, has posted these buffers for messages.
      if (completions[i].cookie == 0) continue;
      auto* const buffer = dynamic_cast<MessageBuffers::Slot*>(&Posted::of(completions[i].cookie));
      if (buffer == nullptr) continue;
      MessageHeader header;
      std::memcpy(&header, buffer->memory(), sizeof header);
      if (header.kind != MessageHeader::kRingOffered) continue;
      std::memcpy(&offered.emplace(), buffer->memory() + sizeof header, sizeof(RingOffer));
    }
    EXPECT_TRUE(offered) << "no ring was earned";
    return offered.value_or(RingOffer{});
  }
  void write(const RingOffer& offered, std::size_t at_offset, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, memory.begin());
    ASSERT_EQ(
        messages(1).post_message_write(0, {.address = offered.address + at_offset, .key = offered.key},
                                       {.address = memory.data(), .bytes = bytes.size(), .key = key}, 0, {}),
        RMA_SUCCESS);
    progress(0);
  }

  void expect_given_up(bool given_up = true) {
    ASSERT_NO_FATAL_FAILURE(stream(2, 0, 50));
    EXPECT_EQ(at(0).lost_peers, given_up ? std::vector<int>{1} : std::vector<int>{});
    EXPECT_EQ(got(0, 2).size(), 50U);
  }

  Bytes memory;
  transport::Key key = 0;
  std::uint32_t sequence = 0;
};

TEST_F(HostileRing, AnHonestOfferIsAccepted) {
  offer(honest());
  const std::uint64_t before = counted(Counter::message_ring);
  send(0, 1, 0, 8);
  EXPECT_EQ(counted(Counter::message_ring), before + 1);
  raw(1, {}, 1);
  expect_given_up(false);
}

TEST_F(HostileRing, AnOfferOfNothing) {
  const std::array<void (*)(RingOffer&), 8> changes = {
      [](RingOffer& offered) { offered.address = 0; },
      [](RingOffer& offered) { offered.address += 8; },
      [](RingOffer& offered) { offered.address = ~std::uint64_t{63}; },
      [](RingOffer& offered) { offered.slots = 0; },
      [](RingOffer& offered) { offered.slots = 0x10000; },
      [](RingOffer& offered) { offered.slot_bytes = 0; },
      [](RingOffer& offered) { offered.slot_bytes = 100; },
      [](RingOffer& offered) { offered.slots = offered.slot_bytes = 0xffffffff; },
  };
  for (const auto change : changes) {
    start();
    RingOffer offered = honest();
    change(offered);
    offer(offered);
    expect_given_up();
  }
  start();
  raw(MessageHeader::kRingOffered, Bytes(sizeof(RingOffer) - 1));
  expect_given_up();
}

TEST_F(HostileRing, ALargerRingThanAnImageIsDeclined) {
  RingOffer offered = honest();
  offered.slots = 65535;
  offered.slot_bytes = 0xffffffc0;
  offer(offered);
  const std::uint64_t before = counted(Counter::message_ring);
  send(0, 1, 0, 8);
  EXPECT_EQ(counted(Counter::message_ring), before);
  expect_given_up(false);
}

TEST_F(HostileRing, ASecondRing) {
  offer(honest());
  offer(honest());
  expect_given_up();
}

TEST_F(HostileRing, ARingInMemoryThatIsNotItsOwn) {
  for (const bool wrong_key : {false, true}) {
    start();
    RingOffer offered = honest();
    if (wrong_key) {
      offered.key += 1000;
    } else {
      offered.address += std::uint64_t{1} << 40U;
    }
    offer(offered);
    send(0, 1, 0, 8);
    expect_given_up();
  }
}

TEST_F(HostileRing, SlotsOutOfThinAir) {
  raw(1, {}, 1);
  expect_given_up();
  start();
  offer(honest());
  send(0, 1, 0, 8);
  raw(1, {}, 2);
  expect_given_up();
}

TEST_F(HostileRing, WordsOutOfPlace) {
  for (const std::uint16_t kind :
       {MessageHeader::kRingAccepted, MessageHeader::kRingStop, MessageHeader::kRingStopped,
        static_cast<std::uint16_t>(MessageHeader::kRingStopped + 1), std::uint16_t{0xffff}}) {
    start();
    raw(kind);
    expect_given_up();
  }
  start();
  offer(honest());
  raw(MessageHeader::kRingStop, Bytes(1));
  expect_given_up();
  start();
  offer(honest());
  raw(MessageHeader::kRingStop);
  raw(MessageHeader::kRingStop);
  expect_given_up();
}

TEST_F(HostileRing, AnAcceptedRingIsNotAcceptedAgainNorLeftUnasked) {
  for (const std::uint16_t kind : {MessageHeader::kRingAccepted, MessageHeader::kRingStopped}) {
    start();
    static_cast<void>(earn());
    raw(MessageHeader::kRingAccepted);
    EXPECT_TRUE(at(0).lost_peers.empty());
    raw(kind);
    expect_given_up();
  }
}

TEST_F(HostileRing, AnHonestMessageInARingIsTaken) {
  const RingOffer ring_there = earn();
  raw(MessageHeader::kRingAccepted);
  Bytes image(ring.bytes());
  RingSender sender(ring, image);
  const MessageHeader header = {.sequence = sequence++, .bytes = 0, .kind = 7};
  const auto put = sender.put(bytes_of(header), {});
  write(ring_there, put.offset, bytes_of(put.bytes));
  EXPECT_EQ(got(0, 1).back().first, 7);
  expect_given_up(false);
}

TEST_F(HostileRing, AMessageOfTheChannelsOwnInARing) {
  for (const std::uint16_t kind :
       {MessageHeader::kCredits, MessageHeader::kRingStop, MessageHeader::kRingAccepted}) {
    start();
    const RingOffer ring_there = earn();
    raw(MessageHeader::kRingAccepted);
    Bytes image(ring.bytes());
    RingSender sender(ring, image);
    const MessageHeader header = {.sequence = sequence++, .bytes = 0, .kind = kind};
    const auto put = sender.put(bytes_of(header), {});
    write(ring_there, put.offset, bytes_of(put.bytes));
    expect_given_up();
  }
}

TEST_F(HostileRing, AnyBytesInARing) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < fewer_if_sanitized(300); ++round) {
    start();
    const RingOffer ring_there = earn();
    if (random() % 2 == 0) raw(MessageHeader::kRingAccepted);
    Bytes image(ring.bytes());
    RingSender sender(ring, image);
    for (int i = 0; i < 4 && at(0).lost_peers.empty(); ++i) {
      if (random() % 2 == 0) {
        Bytes bytes(1 + random() % ring.bytes());
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        write(ring_there, random() % (ring.bytes() - bytes.size() + 1), bytes);
        continue;
      }
      MessageHeader header = {.sequence = sequence + static_cast<std::uint32_t>(random() % 4),
                              .bytes = static_cast<std::uint32_t>(random() % 8),
                              .kind = static_cast<std::uint16_t>(random() % 4),
                              .credits = static_cast<std::uint16_t>(random() % 4),
                              .ring_credits = static_cast<std::uint16_t>(random() % 64 == 0 ? 1 : 0)};
      const auto put = sender.put(bytes_of(header), Bytes(random() % 8));
      write(ring_there, put.offset, bytes_of(put.bytes));
    }
    at(0).channel->fail(1);
    progress(0);
    expect_given_up();
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

}  // namespace
}  // namespace librma
