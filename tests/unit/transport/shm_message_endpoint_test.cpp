#include <new>
#include <random>

#include "../../multi/failing_new.hpp"
#include "../seed.hpp"
#include "shm_endpoints.hpp"

namespace librma::transport {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST_F(ShmEndpoints, MessagesOfAnySizeArriveFromTheirSender) {
  open_connected();
  std::mt19937_64 random(test_seed());
  for (std::size_t size = 0; size <= ShmEnd::kMessage; ++size) {
    for (const auto& [from, to] : {std::pair{3, 5}, {5, 3}, {9, 5}, {5, 9}}) {
      std::vector<std::byte> bytes(size);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      ASSERT_EQ(at(from).send(to, bytes), RMA_SUCCESS);
      while (at(to).poll() != 0) {
      }
      ASSERT_EQ(at(to).arrived.size(), 1U);
      EXPECT_EQ(at(to).arrived[0].from, from);
      EXPECT_EQ(at(to).arrived[0].bytes, bytes);
      at(to).arrived.clear();
    }
  }
}

TEST_F(ShmEndpoints, AMessageIsItsPiecesOneAfterTheOther) {
  open_connected();
  std::array<std::byte, 6> bytes = {std::byte{1}, std::byte{2}, std::byte{3},
                                    std::byte{4}, std::byte{5}, std::byte{6}};
  const std::array<Local, 3> pieces = {Local{&bytes[4], 2, 0}, Local{nullptr, 0, 0},
                                       Local{bytes.data(), 3, 0}};
  ASSERT_EQ(at(3).messages().post_message(5, pieces, 77, {}), RMA_SUCCESS);
  at(5).poll();
  ASSERT_EQ(at(5).arrived.size(), 1U);
  EXPECT_EQ(at(5).arrived[0].bytes, (std::vector{bytes[4], bytes[5], bytes[0], bytes[1], bytes[2]}));
  at(3).poll();
  ASSERT_EQ(at(3).ended.size(), 1U) << "and its end is told where that was asked for";
  EXPECT_EQ(at(3).ended[0].cookie, 77U);
  EXPECT_EQ(at(3).ended[0].peer, 5);
  EXPECT_EQ(at(3).ended[0].status, RMA_SUCCESS);
}

TEST_F(ShmEndpoints, WithoutMemoryAMessageIsNotSentOrItsEndIsTold) {
  open_connected();
  std::uint32_t word = 7;
  const Local piece = {reinterpret_cast<std::byte*>(&word), sizeof word, 0};
  std::size_t sent = 0;
  for (int i = 0; i < 200; ++i) {
    let_fail(0, false);
    rma_status_t status = RMA_ERR_NO_MEMORY;
    try {
      status = at(3).messages().post_message(5, {&piece, 1}, 77, {});
    } catch (const std::bad_alloc&) {
    }
    end_failing();
    if (status == RMA_SUCCESS) ++sent;
    while (at(5).poll() != 0) {
    }
    ASSERT_EQ(at(5).arrived.size(), sent);
  }
  while (at(3).poll() != 0) {
  }
  EXPECT_EQ(at(3).ended.size(), sent);
}

TEST_F(ShmEndpoints, ConnectingLeadsBothWaysAndIsIdempotent) {
  open();
  ASSERT_TRUE(connect(at(3), at(5), 5).ok());
  EXPECT_EQ(at(3).messages().buffers_of(5), 4U);
  EXPECT_EQ(at(5).messages().buffers_of(3), 4U);
  EXPECT_EQ(at(5).buffers.size(), 6U);
  EXPECT_TRUE(at(5).transport->connect(3, at(3).transport->card()).ok()) << "nobody has to answer";
  EXPECT_TRUE(at(3).transport->connect(5, at(5).transport->card()).ok());
  at(3).poll();
  EXPECT_EQ(at(5).buffers.size(), 6U);
  EXPECT_EQ(at(3).buffers.size(), 6U);
  EXPECT_EQ(at(3).messages().buffers_of(9), 0U);
}

TEST_F(ShmEndpoints, OneCanConnectToItself) {
  open();
  ASSERT_TRUE(at(3).transport->connect(3, at(3).transport->card()).ok());
  EXPECT_EQ(at(3).send(3, 8U), RMA_SUCCESS);
  at(3).poll();
  EXPECT_EQ(at(3).numbers(), Numbers{8});
}

TEST_F(ShmEndpoints, WhoIsNotConnectedIsLost) {
  open();
  EXPECT_EQ(at(3).send(5, 1U), RMA_ERR_PEER_LOST);
  EXPECT_EQ(at(3).send(4, 1U), RMA_ERR_PEER_LOST);
  EXPECT_EQ(at(3).send(-1, 1U), RMA_ERR_PEER_LOST);
  EXPECT_EQ(at(3).messages().post_message_write(5, {}, {}, 1, {}), RMA_ERR_PEER_LOST);
  EXPECT_EQ(at(3).messages().post_transfer(5, {}), RMA_ERR_PEER_LOST);
  at(3).transport->fail(5);
  at(3).transport->fail(-1);
  at(3).transport->fail(10000);
  EXPECT_EQ(at(3).transport->connect(4, at(5).transport->card()).code(), RMA_ERR_LAUNCH);
}

TEST_F(ShmEndpoints, AQueueTakesAsManyMessagesAsTheirSenderMayHaveCreditsFor) {
  open_connected(4, 2);
  Numbers sent;
  for (std::uint32_t i = 0; i < 6; ++i) {
    ASSERT_EQ(at(3).send(5, i), RMA_SUCCESS);
    sent.push_back(i);
  }
  EXPECT_EQ(at(3).send(5, 6), RMA_ERR_STATE);
  EXPECT_EQ(at(9).send(5, 100), RMA_SUCCESS) << "others have queues of their own";
  at(5).poll();
  Numbers found = at(5).numbers();
  std::erase(found, 100U);
  EXPECT_EQ(found, sent);
  EXPECT_EQ(at(3).send(5, 6), RMA_SUCCESS);
}

TEST_F(ShmEndpoints, WithoutBuffersThereIsNoRoom) {
  open_connected(0, 2);
  EXPECT_EQ(at(3).messages().buffers_of(5), 0U);
  EXPECT_EQ(at(3).send(5, 1), RMA_ERR_STATE);
}

TEST_F(ShmEndpoints, AMessageWaitsForABuffer) {
  ShmEnd one(0, {0, 1});
  ShmEnd other(1, {0, 1}, 0, 0);
  meet({&one, &other});
  std::array<std::byte, 64> buffer = {};
  other.messages().set_buffer_source([&](int) {
    EXPECT_EQ(other.messages().post_buffer({buffer.data(), 64, 0}, 1000), RMA_SUCCESS);
    return 2;
  });
  ASSERT_TRUE(connect(one, other, 1).ok());
  ASSERT_EQ(one.send(1, 7), RMA_SUCCESS);
  ASSERT_EQ(one.send(1, 8), RMA_SUCCESS);
  other.poll();
  other.poll();
  ASSERT_EQ(other.ended.size(), 1U);
  EXPECT_EQ(other.ended[0].cookie, 1000U);
  ASSERT_EQ(other.messages().post_buffer({buffer.data(), 2, 0}, 1001), RMA_SUCCESS);
  other.poll();
  ASSERT_EQ(other.ended.size(), 2U);
  EXPECT_EQ(other.ended[1].cookie, 1001U);
  EXPECT_EQ(other.ended[1].status, RMA_ERR_SIZE) << "one that does not fit is not cut";
}

TEST_F(ShmEndpoints, WhatIsTooLongIsRefused) {
  open_connected();
  EXPECT_EQ(at(3).send(5, std::vector<std::byte>(300)), RMA_ERR_SIZE);
  std::byte byte{};
  const std::array<Local, 2> huge = {Local{&byte, SIZE_MAX, 0}, Local{&byte, 2, 0}};
  EXPECT_EQ(at(3).messages().post_message(5, huge, 1, {}), RMA_ERR_SIZE);
  EXPECT_EQ(at(3).send(5, 1), RMA_SUCCESS);
}

TEST_F(ShmEndpoints, BuffersAreUsedOldestFirstHoweverManyThereAre) {
  ShmEnd one(0, {0, 1}, 400, 1);
  ShmEnd other(1, {0, 1}, 400, 1);
  meet({&one, &other});
  ASSERT_TRUE(connect(one, other, 1).ok());
  std::uint32_t next = 0;
  for (int round = 0; round < 10; ++round) {
    for (std::uint32_t i = 0; i < 401; ++i) ASSERT_EQ(one.send(1, i), RMA_SUCCESS);
    while (other.arrived.size() < 401) ASSERT_NE(other.poll(), 0U);
    for (const std::uint32_t number : other.numbers()) ASSERT_EQ(number, next++ % 401);
  }
}

TEST_F(ShmEndpoints, WritesLandInThePeersMemoryBehindTheMessagesBefore) {
  open_connected();
  PeerMemory& memory = *at(5).transport->peer_memory();
  auto taken = memory.take(8192);
  ASSERT_TRUE(taken.ok());
  std::byte* const place = taken.value();
  EXPECT_EQ(place[0], std::byte{0});
  std::array<std::byte, 100> bytes = {};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  const Remote there = {.address = reinterpret_cast<std::uintptr_t>(place) + 5, .key = 0};
  ASSERT_EQ(at(3).send(5, 1), RMA_SUCCESS);
  ASSERT_EQ(at(3).messages().post_message_write(5, there, {bytes.data(), 100, 0}, 9, {.unsignaled = true}),
            RMA_SUCCESS);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), place + 5));
  at(5).poll();
  EXPECT_EQ(at(5).numbers(), Numbers{1});
  ASSERT_EQ(at(3).messages().post_message_write(5, there, {bytes.data(), 1, 0}, 5010, {}), RMA_SUCCESS);
  at(3).poll();
  ASSERT_EQ(at(3).ended.size(), 1U);
  EXPECT_EQ(at(3).ended[0].cookie, 5010U);
  memory.give(place, 8192);
  auto again = memory.take(8192);
  ASSERT_TRUE(again.ok());
  EXPECT_NE(again.value(), place) << "who was given up may write there late, and meets nobody else's";
  EXPECT_EQ(memory.take(std::size_t{1} << 30U).status().code(), RMA_ERR_NO_MEMORY);
}

TEST_F(ShmEndpoints, WritesElsewhereAreAddressErrors) {
  open_connected();
  const ShmCard card = at(5).card();
  std::array<std::byte, 16> bytes = {};
  const std::uint64_t end = card.base + card.bytes;
  std::vector<Cookie> expected;
  for (const std::uint64_t bad : {std::uint64_t{0}, card.base - 1, end - 15, end, end + 1, UINT64_MAX - 8,
                                  UINT64_MAX, std::uint64_t{reinterpret_cast<std::uintptr_t>(&bytes)}}) {
    expected.push_back(bad % 1000 + 1000);
    EXPECT_EQ(at(3).messages().post_message_write(5, {bad, 0}, {bytes.data(), 16, 0}, expected.back(),
                                                  {.unsignaled = true}),
              RMA_SUCCESS);
  }
  while (at(3).poll() != 0) {
  }
  ASSERT_EQ(at(3).ended.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(at(3).ended[i].cookie, expected[i]);
    EXPECT_EQ(at(3).ended[i].status, RMA_ERR_ADDRESS);
  }
}

TEST_F(ShmEndpoints, TransfersAreMadeByCrossMemoryAttach) {
  if (!CmaTransport::available()) GTEST_SKIP() << "this system forbids process_vm_readv";
  open_connected();
  std::array<std::byte, 16> from = {};
  std::array<std::byte, 16> to = {};
  from.fill(std::byte{7});
  const Local piece = {to.data(), 16, 0};
  const Work read = {.direction = Direction::read,
                     .remote = {reinterpret_cast<std::uintptr_t>(from.data()), 0},
                     .pieces = {&piece, 1},
                     .cookie = 5000,
                     .flags = {}};
  ASSERT_EQ(at(9).messages().post_transfer(5, read), RMA_SUCCESS);
  EXPECT_EQ(to, from);
  at(9).poll();
  ASSERT_EQ(at(9).ended.size(), 1U);
  EXPECT_EQ(at(9).ended[0].cookie, 5000U);
  EXPECT_EQ(at(9).ended[0].peer, 5);
  std::size_t posted = 0;
  to.fill(std::byte{0});
  ASSERT_EQ(at(9).transport->post(5, {&read, 1}, &posted), RMA_SUCCESS);
  EXPECT_EQ(to, from);
  Completion over;
  ASSERT_EQ(at(9).transport->poll({&over, 1}), 1U);
  EXPECT_EQ(over.peer, 5);
}

TEST_F(ShmEndpoints, WhatItCannotDoIsUnsupported) {
  open_connected();
  const MessageEndpoint::Limits& limits = at(3).messages().limits();
  EXPECT_EQ(limits.scatters, 0U);
  EXPECT_EQ(at(3).messages().gather_of(5), 0U);
  EXPECT_EQ(at(3).messages().post_gather(5, {}, 1, {}), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(at(3).messages().post_scatter(5, {}, 1), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(at(3).transport->post_atomic(5, RMA_FETCH_ADD, {}, 1, 0, {}, 1), RMA_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace librma::transport
