// Two-sided messages. The lengths are around the limits at which the protocol changes.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <numeric>

#include "message_values.hpp"

using namespace armci_test;  // NOLINT(google-build-using-namespace)
using multi::me;
using multi::neighbour;
using multi::ranks;

namespace {

constexpr std::array<std::size_t, 15> kLengths = {0,    1,    7,     191,   192,   193,    4001,   8000,
                                                  8127, 8129, 65471, 65473, 65536, 300001, 1000003};
constexpr std::size_t kShort = 8000;

void send(int tag, const std::vector<std::byte>& data, int to) {
  armci_msg_snd(tag, const_cast<std::byte*>(data.data()), static_cast<int>(data.size()), to);
}

std::vector<std::byte> receive(int tag, std::size_t room, int from) {
  std::vector<std::byte> data(room);
  int length = -1;
  armci_msg_rcv(tag, data.data(), static_cast<int>(room), &length, from);
  EXPECT_GE(length, 0);
  data.resize(static_cast<std::size_t>(length));
  return data;
}

std::uint64_t word(int value) { return static_cast<std::uint64_t>(value); }

/// The messages follow a list that all processes know, in which no process waits for a later message.
TEST(MessagePoint, RandomMessagesInAnyOrder) {
  multi::Random random({0x71});
  for (std::uint64_t number = 0; number < multi::rounds(600U); ++number) {
    const int from = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
    const int to = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
    const std::size_t length = random.chance(50) ? random.below(300) : random.pick(kLengths);
    const bool in_heap = random.chance(40);
    // A receive from any process needs a tag of its own: messages with a common tag may have come before, and
    // other processes may have begun the next test.
    const bool any = random.chance(30);
    const int tag =
        any ? 1000 + static_cast<int>(number) : static_cast<int>(random.between(-3, -1)) * 1000003;
    const std::size_t room = length + (random.chance(50) ? random.below(100) : 0);
    const std::vector<std::byte> expected = bytes(length, 1, number);
    if (me() == from) {
      multi::Buffer buffer(in_heap ? multi::Local::window : multi::Local::plain, length + 1);
      std::copy(expected.begin(), expected.end(), buffer.data());
      armci_msg_snd(tag, buffer.data(), static_cast<int>(length), to);
      std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{0xee});
    }
    if (me() != to) continue;
    std::vector<std::byte> data(room + 1, std::byte{0x5a});
    int got = -1;
    if (any) {
      EXPECT_EQ(armci_msg_rcvany(tag, data.data(), static_cast<int>(room), &got), from)
          << "message " << number;
    } else {
      armci_msg_rcv(tag, data.data(), static_cast<int>(room), number % 3 == 0 ? nullptr : &got, from);
      if (number % 3 == 0) got = static_cast<int>(length);
    }
    EXPECT_EQ(got, static_cast<int>(length)) << "message " << number;
    EXPECT_EQ(data[room], std::byte{0x5a});
    data.resize(length);
    EXPECT_TRUE(data == expected) << "message " << number << ", " << length << " bytes, first difference at "
                                  << multi::first_difference(data, expected);
  }
}

/// Every process sends many short messages to all others before it receives. The messages of each (source,
/// tag) arrive in order, for any order of the receives.
TEST(MessagePoint, ShortMessagesNobodyWaitsFor) {
  constexpr int kTags = 3;
  for (std::uint64_t round = 0; round < multi::rounds(6U); ++round) {
    const auto to_of = [&](int from, std::size_t i) {
      return static_cast<int>(mixed(word(from), i, round * 4 + 1) % word(ranks()));
    };
    const auto tag_of = [&](int from, std::size_t i) {
      return static_cast<int>(mixed(word(from), i, round * 4 + 2) % kTags);
    };
    const auto data_of = [&](int from, std::size_t i) {
      return bytes(mixed(word(from), i, round * 4 + 3) % 500, word(from), i, round);
    };
    constexpr std::size_t kEach = 200;
    for (std::size_t i = 0; i < kEach; ++i) send(tag_of(me(), i), data_of(me(), i), to_of(me(), i));
    // Collects the messages for this process by source and tag, and receives them in any order of these.
    std::map<std::pair<int, int>, std::deque<std::size_t>> coming;
    std::vector<std::pair<int, int>> order;
    for (int from = 0; from < ranks(); ++from) {
      for (std::size_t i = 0; i < kEach; ++i) {
        if (to_of(from, i) != me()) continue;
        coming[{from, tag_of(from, i)}].push_back(i);
        order.emplace_back(from, tag_of(from, i));
      }
    }
    multi::Random random({0x72, round, word(me())});
    std::shuffle(order.begin(), order.end(), random.engine());
    for (const auto& next : order) {
      const std::size_t i = coming[next].front();
      coming[next].pop_front();
      EXPECT_TRUE(receive(next.second, 500, next.first) == data_of(next.first, i))
          << "message " << i << " of " << next.first << ", tag " << next.second;
    }
  }
}

/// More messages than a sender has nodes. It waits for receivers that wait themselves. The last message
/// is received first.
TEST(MessagePoint, FloodsInBothDirections) {
  const int to = neighbour(1);
  const int from = neighbour(ranks() - 1);
  const int count = multi::rounds(3000);
  for (int i = 0; i < count; ++i) armci_msg_snd(1, &i, sizeof i, to);
  const int last = 4711;
  armci_msg_snd(2, const_cast<int*>(&last), sizeof last, to);
  int got = 0;
  armci_msg_rcv(2, &got, sizeof got, nullptr, from);
  EXPECT_EQ(got, last);
  for (int i = 0; i < count; ++i) {
    armci_msg_rcv(1, &got, sizeof got, nullptr, from);
    if (got != i) {
      EXPECT_EQ(got, i);
      break;
    }
  }
}

TEST(MessagePoint, LongMessagesAround) {
  for (const std::size_t length : {std::size_t{8129}, std::size_t{65536}, std::size_t{3000017}}) {
    for (const multi::Local kind : multi::kLocals) {
      multi::Buffer out(kind, length);
      multi::Buffer in(kind, length);
      const std::vector<std::byte> mine = bytes(length, 3, word(me()));
      const std::vector<std::byte> theirs = bytes(length, 3, word(neighbour(ranks() - 1)));
      std::copy(mine.begin(), mine.end(), out.data());
      const auto snd = [&] { armci_msg_snd(5, out.data(), static_cast<int>(length), neighbour(1)); };
      const auto rcv = [&] {
        int got = 0;
        armci_msg_rcv(5, in.data(), static_cast<int>(length), &got, neighbour(ranks() - 1));
        EXPECT_EQ(got, static_cast<int>(length));
      };
      // Some process must receive first, unless it sends to itself.
      if (me() == 0) {
        snd();
        rcv();
      } else {
        rcv();
        snd();
      }
      EXPECT_EQ(multi::first_difference(in.bytes(), theirs), length) << multi::name(kind);
    }
  }
}

TEST(MessagePoint, ToOneselfWithoutAReceive) {
  for (const int tag : {1, 2}) {
    for (const std::size_t length : kLengths) send(tag, bytes(length, 4, word(tag), length), me());
  }
  for (const int tag : {2, 1}) {
    for (const std::size_t length : kLengths) {
      EXPECT_TRUE(receive(tag, 1000003, me()) == bytes(length, 4, word(tag), length)) << length;
    }
  }
}

/// A token goes around at random, and each process that gets it sends process 0 a message before it passes it
/// on. A receive from any process takes the messages of each process in the order of sending. Messages of
/// different processes have no order, as in MPI.
TEST(MessagePoint, ReceiveFromAnyKeepsTheOrderOfEachSender) {
  constexpr int kTag = 6;
  constexpr int kToken = 7;
  multi::Random random({0x73});
  std::vector<int> path;
  for (int i = 0; i < multi::rounds(400); ++i) {
    path.push_back(static_cast<int>(random.below(static_cast<std::size_t>(ranks()))));
  }
  path.push_back(0);
  int token = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != me()) continue;
    if (i > 0) armci_msg_rcv(kToken, &token, sizeof token, nullptr, path[i - 1]);
    armci_msg_snd(kTag, &i, i % 3 == 0 ? sizeof i : sizeof i / 2, 0);
    if (i + 1 < path.size()) armci_msg_snd(kToken, &token, sizeof token, path[i + 1]);
  }
  if (me() != 0) return;
  std::vector<std::size_t> next(
      static_cast<std::size_t>(ranks()));  // of each sender: the first place not received
  const auto place_from = [&](int sender) {
    std::size_t& place = next[static_cast<std::size_t>(sender)];
    while (place < path.size() && path[place] != sender) ++place;
    return place++;
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::size_t got = 0;
    int length = 0;
    const int from = armci_msg_rcvany(kTag, &got, sizeof got, &length);
    EXPECT_EQ(got, place_from(from)) << "from process " << from;
    EXPECT_EQ(length, static_cast<int>(got % 3 == 0 ? sizeof i : sizeof i / 2));
  }
}

TEST(MessagePoint, ReceiveFromAnyTakesOnesOwnToo) {
  if (ranks() < 2) return;
  int value = me();
  if (me() == 1) armci_msg_snd(8, &value, sizeof value, 0);
  armci_msg_barrier();
  if (me() != 0) return;
  armci_msg_snd(8, &value, sizeof value, 0);
  const int first = armci_msg_rcvany(8, &value, sizeof value, nullptr);
  EXPECT_TRUE(first == 0 || first == 1);
  EXPECT_EQ(value, first);
  EXPECT_EQ(armci_msg_rcvany(8, &value, sizeof value, nullptr), 1 - first);
}

/// A sender that waits for the receive of a long message takes in messages of others meanwhile.
TEST(MessagePoint, ALongSendTakesInShortMessages) {
  if (ranks() < 3) return;
  const int count = multi::rounds(3000);
  const std::vector<std::byte> data = bytes(100003, 8, 8);
  int value = 0;
  if (me() == 0) {
    send(1, data, 1);
    for (int i = 0; i < count; ++i) {
      armci_msg_rcv(2, &value, sizeof value, nullptr, 2);
      if (value != i) {
        EXPECT_EQ(value, i);
        break;
      }
    }
  } else if (me() == 1) {
    armci_msg_rcv(3, &value, sizeof value, nullptr, 2);
    EXPECT_TRUE(receive(1, data.size(), 0) == data);
  } else if (me() == 2) {
    for (int i = 0; i < count; ++i) armci_msg_snd(2, &i, sizeof i, 0);
    armci_msg_snd(3, &value, sizeof value, 1);
  }
}

/// An announced message keeps its place among short ones, and a receive from any process finds it.
TEST(MessagePoint, LongAndShortKeepTheirOrder) {
  const int to = neighbour(1);
  const int from = neighbour(ranks() - 1);
  const std::array<std::size_t, 7> lengths = {3, 20000, 0, 70001, 8128, 200000, 1};
  const auto snd = [&] {
    for (std::size_t i = 0; i < lengths.size(); ++i) send(9, bytes(lengths[i], 9, i), to);
  };
  const auto rcv = [&] {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      std::vector<std::byte> data(200000);
      int length = 0;
      if (i % 2 == 0) {
        armci_msg_rcv(9, data.data(), 200000, &length, from);
      } else {
        EXPECT_EQ(armci_msg_rcvany(9, data.data(), 200000, &length), from);
      }
      data.resize(static_cast<std::size_t>(length));
      EXPECT_TRUE(data == bytes(lengths[i], 9, i)) << i;
    }
  };
  // If the ring has an odd number of processes, two neighbours receive first. A single process sends to
  // itself.
  if (me() % 2 == 0 && (ranks() % 2 == 0 || me() != ranks() - 1 || ranks() == 1)) {
    snd();
    rcv();
  } else {
    rcv();
    snd();
  }
}

TEST(MessagePoint, BetweenCollectives) {
  for (int round = 0; round < multi::rounds(60); ++round) {
    const int distance = 1 + round % ranks();
    const std::vector<std::byte> mine =
        bytes(static_cast<std::size_t>(round) * 60, 10, word(me()), word(round));
    send(round, mine, neighbour(distance));
    int sum = 1;
    armci_msg_igop(&sum, 1, spelled("+"));
    EXPECT_EQ(sum, ranks());
    const int from = neighbour(ranks() - distance % ranks());
    EXPECT_TRUE(receive(round, kShort, from) == bytes(mine.size(), 10, word(from), word(round))) << round;
  }
}

}  // namespace
