#include "transport/shm/message_queue.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"

namespace librma::transport {
namespace {

using Room = QueueSender::Room;
using State = QueueReceiver::State;

class Queue : public testing::Test {
 protected:
  static constexpr std::size_t kMostBytes = 8 * 256;

  void open(std::uint32_t slots, std::uint32_t message) {
    shape = QueueShape::of(slots, message);
    ASSERT_TRUE(shape.valid());
    ASSERT_LE(shape.bytes(), memory.size());
    memory.fill(std::byte{0});
    taken = 0;
    sender.emplace(shape, std::span(memory).first(shape.bytes()), taken);
    receiver.emplace(shape, std::span(memory).first(shape.bytes()), taken);
  }
  void put(std::span<const std::byte> bytes) {
    // The message comes in two pieces and an empty one.
    auto* const from = const_cast<std::byte*>(bytes.data());
    const std::size_t half = bytes.size() / 2;
    const std::array<Local, 3> pieces = {Local{from, half, 0}, Local{nullptr, 0, 0},
                                         Local{from + half, bytes.size() - half, 0}};
    sender->put(pieces, bytes.size());
  }
  std::uint64_t& word(std::size_t slot) {
    return *reinterpret_cast<std::uint64_t*>(&memory[slot * shape.slot_bytes]);
  }

  QueueShape shape;
  alignas(64) std::array<std::byte, kMostBytes> memory = {};
  std::atomic<std::uint64_t> taken = 0;
  std::optional<QueueSender> sender;
  std::optional<QueueReceiver> receiver;
};

TEST_F(Queue, ShortMessagesTravelInOneCacheLine) {
  EXPECT_EQ(QueueShape::of(1, 0).slot_bytes, 64U);
  EXPECT_EQ(QueueShape::of(1, 56).slot_bytes, 64U);
  EXPECT_EQ(QueueShape::of(1, 57).slot_bytes, 128U);
  EXPECT_EQ(QueueShape::of(3, 57).bytes(), 384U);
}

TEST_F(Queue, WhatTwoThreadsExchangeComesWholeAndInOrder) {
  const std::uint64_t seed = test_seed();
  for (const std::uint32_t slots : {1U, 2U, 7U}) {
    open(slots, 200);
    constexpr std::uint32_t kCount = 20000;
    const auto body = [](std::uint32_t number, std::size_t size) {
      std::vector<std::byte> bytes(size);
      for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(number * 7 + i);
      return bytes;
    };
    std::thread other([&] {
      std::mt19937_64 random(seed);
      for (std::uint32_t i = 0; i < kCount; ++i) {
        while (sender->room() == Room::full) sched_yield();
        put(body(i, random() % 201));
      }
    });
    std::mt19937_64 random(seed);
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      auto look = receiver->look();
      while (look.state == State::nothing) {
        sched_yield();
        look = receiver->look();
      }
      const auto expected = body(i, random() % 201);
      if (look.state != State::message || !std::ranges::equal(look.message, expected)) ++wrong;
      receiver->release();
    }
    other.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(receiver->look().state, State::nothing);
    EXPECT_EQ(taken.load(), kCount);
  }
}

TEST_F(Queue, IsFullUntilOneIsReleased) {
  open(3, 8);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(sender->room(), Room::free);
    put({});
  }
  EXPECT_EQ(sender->room(), Room::full);
  EXPECT_EQ(receiver->look().state, State::message);
  EXPECT_EQ(sender->room(), Room::full) << "looked at is not taken";
  receiver->release();
  EXPECT_EQ(sender->room(), Room::free);
  put({});
  EXPECT_EQ(sender->room(), Room::full);
}

TEST_F(Queue, WhatIsNotFinishedIsNotThere) {
  open(2, 40);
  std::memset(&memory[8], 0xff, 40);
  EXPECT_EQ(receiver->look().state, State::nothing);
}

TEST_F(Queue, AWordThatNoSenderWritesIsBrokenForGood) {
  const std::uint64_t stamp = std::uint64_t{1} << 32U;
  open(2, 40);
  for (const std::uint64_t bad : {stamp | 57U, stamp | UINT32_MAX, 3 * stamp, 2 * stamp | 8U,
                                  std::uint64_t{8}, std::numeric_limits<std::uint64_t>::max()}) {
    word(0) = bad;
    EXPECT_EQ(receiver->look().state, State::broken) << bad;
    EXPECT_EQ(receiver->look().state, State::broken) << bad;
  }
  word(0) = stamp | 56U;
  EXPECT_EQ(receiver->look().state, State::message);
  receiver->release();
  word(1) = 2 * stamp;
  EXPECT_EQ(receiver->look().state, State::message);
  receiver->release();
  EXPECT_EQ(receiver->look().state, State::nothing) << "of the lap before";
  word(0) = 0;
  EXPECT_EQ(receiver->look().state, State::broken);
}

TEST_F(Queue, AReceiverThatTookWhatItCannotHaveIsBroken) {
  open(2, 8);
  put({});
  put({});
  for (const std::uint64_t bad : {std::uint64_t{3}, std::uint64_t{1} << 40U, UINT64_MAX}) {
    taken = bad;
    EXPECT_EQ(sender->room(), Room::broken) << bad;
  }
  taken = 2;
  EXPECT_EQ(sender->room(), Room::free);
  put({});
  put({});
  taken = 1;
  EXPECT_EQ(sender->room(), Room::broken) << "fewer than before";
}

TEST_F(Queue, BytesAreCopiedInOrderFromAnywhereToAnywhere) {
  std::array<std::byte, 64> from = {};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::size_t to = 0; to < 9; ++to) {
    for (std::size_t size = 0; size < 40; ++size) {
      memory.fill(std::byte{0});
      copy_in_order(&memory[to], std::span(from).subspan(size % 5, size));
      EXPECT_TRUE(std::equal(&memory[to], &memory[to + size], &from[size % 5]));
      EXPECT_EQ(memory[to + size], std::byte{0});
      if (to > 0) {
        EXPECT_EQ(memory[to - 1], std::byte{0});
      }
    }
  }
}

TEST_F(Queue, WhoFindsAByteInPlaceFindsThoseBeforeIt) {
  constexpr std::uint8_t kLaps = 200;
  constexpr std::size_t kFirst = 3;
  std::uint32_t wrong = 0;
  for (int round = 0; round < 20; ++round) {
    memory.fill(std::byte{0});
    std::thread other([this] {
      std::array<std::byte, 100> bytes = {};
      for (std::uint8_t lap = 1; lap <= kLaps; ++lap) {
        bytes.fill(std::byte{lap});
        copy_in_order(&memory[kFirst], bytes);
      }
    });
    const auto load = [this](std::size_t at) {
      return std::to_integer<std::uint8_t>(std::atomic_ref(memory[at]).load(std::memory_order_acquire));
    };
    std::uint8_t last = 0;
    while (last < kLaps) {
      last = load(kFirst + 99);
      if (load(kFirst + 50) < last || load(kFirst) < last) ++wrong;
      sched_yield();
    }
    other.join();
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace librma::transport
