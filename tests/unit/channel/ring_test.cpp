#include "channel/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"
#include "util/bytes_of.hpp"

namespace librma::ring_test {
namespace {

using Bytes = std::vector<std::byte>;
using State = RingReceiver::State;

/// Memory that begins at a line and holds a given byte everywhere.
class Memory {
 public:
  explicit Memory(std::size_t bytes, std::byte fill = std::byte{0xee})
      : lines_(bytes / RingShape::kLineBytes) {
    std::ranges::fill(span(), fill);
  }
  [[nodiscard]] std::span<std::byte> span() {
    return {reinterpret_cast<std::byte*>(lines_.data()), lines_.size() * RingShape::kLineBytes};
  }

 private:
  struct alignas(RingShape::kLineBytes) Line {
    std::array<std::byte, RingShape::kLineBytes> bytes;
  };
  std::vector<Line> lines_;
};

/// Both ends. The receiver's memory and the image are apart, as over a network, and the test is the device.
struct Ring {
  explicit Ring(const RingShape& shape)
      : image(shape.bytes()),
        memory(shape.bytes()),
        sender(shape, image.span()),
        receiver(shape, memory.span()) {}

  /// Places the bytes from `from` up to, but not including, `to` of a write.
  void place(const RingSender::Write& write, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) memory.span()[write.offset + i] = write.bytes[i];
  }
  void place(const RingSender::Write& write) { place(write, 0, write.bytes.size()); }

  Memory image;
  Memory memory;
  RingSender sender;
  RingReceiver receiver;
};

Bytes bytes_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }
Bytes filled(std::size_t size, unsigned value) { return Bytes(size, static_cast<std::byte>(value)); }

/// Places the write byte by byte. The message must appear with the last byte, and not before.
void place_and_expect(Ring& ring, const RingSender::Write& write, const Bytes& message) {
  for (std::size_t i = 0; i < write.bytes.size(); ++i) {
    ASSERT_EQ(ring.receiver.look().state, State::nothing) << i << " bytes of " << write.bytes.size();
    ring.place(write, i, i + 1);
  }
  const RingReceiver::Look look = ring.receiver.look();
  ASSERT_EQ(look.state, State::message);
  ASSERT_EQ(bytes_of(look.message), message);
  ASSERT_EQ(bytes_of(ring.receiver.look().message), message) << "it stays until it is released";
}

TEST(Ring, AMessageIsOneWriteOfItsOwnLengthAndNineBytes) {
  Ring ring({.slots = 2, .slot_bytes = 128});
  for (int i = 0; i < 2; ++i) {
    const RingSender::Write write = ring.sender.put(filled(10, 1), filled(20, 2));
    EXPECT_EQ(write.offset, 128U * static_cast<unsigned>(i));
    EXPECT_EQ(write.bytes.size(), 39U);
    EXPECT_EQ(write.bytes.data(), ring.image.span().data() + write.offset) << "it is sent from the image";
  }
}

TEST(Ring, AMessageIsSeenWithItsLastByteAndNotBefore) {
  const std::uint64_t seed = test_seed();
  std::mt19937_64 random(seed);
  for (const RingShape shape : {RingShape{1, 64}, RingShape{3, 64}, RingShape{4, 192}, RingShape{2, 1024}}) {
    Ring ring(shape);
    // Some of these bytes have a meaning in heads and tails.
    const std::array<unsigned, 8> values = {0x00, 0x33, 0xcc, 0x5a, 0xa5, 0xff, 0x01, 0x11};
    for (int i = 0; i < 400; ++i) {
      SCOPED_TRACE(testing::Message() << shape.slots << " of " << shape.slot_bytes << ", message " << i);
      // Most sizes are nearly equal, so that tails meet tails and every byte of earlier messages.
      const std::size_t size = random() % 4 == 0 ? random() % (shape.most() + 1) : random() % 8;
      Bytes message(size);
      const bool uniform = random() % 2 == 0;
      const unsigned one = values[random() % values.size()];
      for (std::byte& byte : message)
        byte = static_cast<std::byte>(uniform ? one : values[random() % values.size()]);
      const std::span<const std::byte> whole = message;
      const std::size_t cut = random() % (size + 1);

      ASSERT_FALSE(ring.sender.full());
      ASSERT_NO_FATAL_FAILURE(
          place_and_expect(ring, ring.sender.put(whole.first(cut), whole.subspan(cut)), message));
      ring.receiver.release();
      if (ring.receiver.unreturned() == shape.slots || random() % 3 == 0) {
        ASSERT_TRUE(ring.sender.returned(ring.receiver.take_returned()));
      }
    }
  }
}

TEST(Ring, EveryTailDiffersFromWhatALongerMessageLeftThere) {
  constexpr RingShape kShape = {.slots = 1, .slot_bytes = 64};
  for (unsigned value = 0; value < 256; ++value) {
    for (std::size_t size = 0; size < kShape.most(); ++size) {
      Ring ring(kShape);
      for (const Bytes& message : {filled(kShape.most(), value), filled(size, value), filled(size, value)}) {
        ASSERT_NO_FATAL_FAILURE(place_and_expect(ring, ring.sender.put(message, {}), message));
        ring.receiver.release();
        ASSERT_TRUE(ring.sender.returned(ring.receiver.take_returned()));
      }
    }
  }
}

TEST(Ring, IsFullUntilTheReceiverHasGivenSlotsBack) {
  constexpr RingShape kShape = {.slots = 3, .slot_bytes = 64};
  Ring ring(kShape);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_FALSE(ring.sender.full());
    ring.place(ring.sender.put(filled(i, i), {}));
  }
  EXPECT_TRUE(ring.sender.full());
  EXPECT_EQ(ring.receiver.unreturned(), 0U);

  for (unsigned i = 0; i < 2; ++i) {
    ASSERT_EQ(bytes_of(ring.receiver.look().message), filled(i, i));
    ring.receiver.release();
  }
  EXPECT_TRUE(ring.sender.full()) << "the sender has not been told";
  EXPECT_EQ(ring.receiver.unreturned(), 2U);
  EXPECT_TRUE(ring.sender.returned(ring.receiver.take_returned()));
  EXPECT_EQ(ring.receiver.unreturned(), 0U);

  for (unsigned i = 3; i < 5; ++i) {
    EXPECT_FALSE(ring.sender.full());
    ring.place(ring.sender.put(filled(i, i), {}));
  }
  EXPECT_TRUE(ring.sender.full());
  for (unsigned i = 2; i < 5; ++i) {
    ASSERT_EQ(bytes_of(ring.receiver.look().message), filled(i, i));
    ring.receiver.release();
  }
  EXPECT_EQ(ring.receiver.look().state, State::nothing) << "what lies in the next slot is of the lap before";
}

TEST(Ring, MoreSlotsThanWereUsedCannotComeBack) {
  Ring ring({.slots = 4, .slot_bytes = 64});
  EXPECT_FALSE(ring.sender.returned(1));
  ring.sender.put({}, {});
  ring.sender.put({}, {});
  EXPECT_FALSE(ring.sender.returned(3));
  EXPECT_FALSE(ring.sender.returned(UINT32_MAX));
  EXPECT_TRUE(ring.sender.returned(2)) << "refusals change nothing";
  EXPECT_FALSE(ring.sender.returned(1));
}

/// Only the place in the ring and the flag of the lap wrap around.
TEST(Ring, GoesRoundAndRound) {
  for (const std::size_t slots : {1U, 2U, 7U}) {
    Ring ring({.slots = slots, .slot_bytes = 64});
    for (std::uint32_t i = 0; i < 2000; ++i) {
      ASSERT_FALSE(ring.sender.full());
      ring.place(ring.sender.put(librma::bytes_of(i), {}));
      const RingReceiver::Look look = ring.receiver.look();
      ASSERT_EQ(look.state, State::message) << i;
      ASSERT_EQ(std::memcmp(look.message.data(), &i, sizeof i), 0);
      ring.receiver.release();
      if (ring.receiver.unreturned() * 2 > slots) {
        ASSERT_TRUE(ring.sender.returned(ring.receiver.take_returned()));
      }
    }
  }
}

/// The meaning of each byte of a head.
enum HeadByte : std::size_t { kSize0, kSize1, kSize2, kSize3, kZero0, kZero1, kTail, kFlag };

/// Places one message, `laps` laps after the start, with one byte of the head changed. Returns the state that
/// the receiver then sees.
State look_with(std::size_t byte, unsigned value, int laps = 0) {
  Ring ring({.slots = 1, .slot_bytes = 64});
  for (int i = 0; i < laps; ++i) {
    ring.place(ring.sender.put(filled(20, 1), {}));
    EXPECT_EQ(ring.receiver.look().state, State::message);
    ring.receiver.release();
    EXPECT_TRUE(ring.sender.returned(ring.receiver.take_returned()));
  }
  const RingSender::Write write = ring.sender.put(filled(20, 1), {});
  ring.place(write);
  const std::byte former = ring.memory.span()[byte];
  ring.memory.span()[byte] = static_cast<std::byte>(value);
  const State state = ring.receiver.look().state;
  if (state == State::broken) {
    ring.memory.span()[byte] = former;
    EXPECT_EQ(ring.receiver.look().state, State::broken) << "it is not to be trusted again";
  }
  return state;
}

TEST(Ring, ASizeThatNoSlotHasIsReportedAndNotFollowed) {
  EXPECT_EQ(look_with(kSize0, 20), State::message);
  EXPECT_EQ(look_with(kSize0, 55), State::nothing)
      << "the longest: the tail is not there, but may be to come";
  EXPECT_EQ(look_with(kSize0, 56), State::broken);
  EXPECT_EQ(look_with(kSize0, 255), State::broken);
  for (const std::size_t byte : {kSize1, kSize2, kSize3}) {
    for (const unsigned value : {1U, 0x80U, 0xffU}) EXPECT_EQ(look_with(byte, value), State::broken);
  }
}

TEST(Ring, AHeadThatNoSenderWritesIsReported) {
  for (const int laps : {0, 1, 2, 5}) {
    int good = 0;
    int earlier = 0;
    for (unsigned value = 0; value < 256; ++value) {
      EXPECT_EQ(look_with(kZero0, value, laps), value == 0 ? State::message : State::broken);
      EXPECT_EQ(look_with(kZero1, value, laps), value == 0 ? State::message : State::broken);
      const State flag = look_with(kFlag, value, laps);
      good += flag == State::message ? 1 : 0;
      earlier += flag == State::nothing ? 1 : 0;
    }
    EXPECT_EQ(good, 1);
    EXPECT_EQ(earlier, 1) << "only what was there before may be there still";
  }
  int tails = 0;
  for (unsigned value = 0; value < 256; ++value) tails += look_with(kTail, value) == State::broken ? 0 : 1;
  EXPECT_EQ(tails, 2);
}

/// Returns the contents of message `number`. Both threads compute them from the number.
Bytes message_of(std::uint32_t number, std::size_t most) {
  std::mt19937 random(number);
  Bytes message(random() % (most + 1));
  for (std::byte& byte : message) byte = static_cast<std::byte>(random());
  return message;
}

/// The data that the receiver's thread tells the sender's.
struct Credits {
  std::atomic<std::uint32_t> slots = 0;
  std::atomic<bool> given_up = false;  ///< the receiver has found a fault, and takes no more
};

/// Receives `count` messages.
void receive_all(RingReceiver& receiver, std::uint32_t count, Credits& credits) {
  for (std::uint32_t i = 0; i < count; ++i) {
    RingReceiver::Look look;
    while ((look = receiver.look()).state == State::nothing) std::this_thread::yield();
    ASSERT_EQ(look.state, State::message);
    ASSERT_EQ(bytes_of(look.message), message_of(i, receiver.shape().most())) << "message " << i;
    receiver.release();
    // Pairs with the exchange in send_all: the slots have been read before they are written again.
    credits.slots.fetch_add(receiver.take_returned(), std::memory_order_release);
  }
}

/// Sends `count` messages; `place` sees each one written.
template <typename Place>
void send_all(RingSender& sender, std::uint32_t count, Credits& credits, const Place& place) {
  for (std::uint32_t i = 0; i < count; ++i) {
    while (sender.full()) {
      if (credits.given_up.load(std::memory_order_relaxed)) return;
      ASSERT_TRUE(sender.returned(credits.slots.exchange(0, std::memory_order_acquire)));
      if (sender.full()) std::this_thread::yield();
    }
    const Bytes message = message_of(i, sender.shape().most());
    const std::span<const std::byte> whole = message;
    place(sender.put(whole.first(message.size() / 3), whole.subspan(message.size() / 3)));
  }
}

constexpr std::uint32_t kThreadMessages = 5000;

TEST(RingThreads, MappedMemoryIsPublishedByTheSender) {
  for (const RingShape shape : {RingShape{1, 64}, RingShape{4, 64}, RingShape{3, 256}}) {
    Memory memory(shape.bytes());
    RingReceiver receiver(shape, memory.span());
    Credits credits;
    std::thread other([&] {
      RingSender sender(shape, memory.span());
      send_all(sender, kThreadMessages, credits, [](const RingSender::Write& /*write*/) {});
    });
    receive_all(receiver, kThreadMessages, credits);
    credits.given_up.store(testing::Test::HasFatalFailure(), std::memory_order_relaxed);
    other.join();
  }
}

TEST(RingThreads, ADevicePlacesTheBytesOfAnImageInOrder) {
  for (const RingShape shape : {RingShape{1, 64}, RingShape{4, 64}, RingShape{3, 256}}) {
    Memory memory(shape.bytes());
    RingReceiver receiver(shape, memory.span());
    Credits credits;
    std::thread other([&] {
      Memory image(shape.bytes());
      RingSender sender(shape, image.span());
      send_all(sender, kThreadMessages, credits, [&](const RingSender::Write& write) {
        for (std::size_t i = 0; i < write.bytes.size(); ++i) {
          // Release, as a device's: no byte is seen before those ahead of it. Pairs with look().
          std::atomic_ref(memory.span()[write.offset + i]).store(write.bytes[i], std::memory_order_release);
        }
      });
    });
    receive_all(receiver, kThreadMessages, credits);
    credits.given_up.store(testing::Test::HasFatalFailure(), std::memory_order_relaxed);
    other.join();
  }
}

}  // namespace
}  // namespace librma::ring_test
