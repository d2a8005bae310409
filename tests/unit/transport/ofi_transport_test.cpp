#include "transport/ofi/ofi_transport.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "../../multi/failing_new.hpp"
#include "ofi_pair.hpp"
#include "transport/ofi/mapped_memory.hpp"

namespace librma::transport {
namespace {

TEST_F(OfiPair, AnEndThatNobodyPollsIsWrittenAndRead) {
  const Status connected = connect();
  ASSERT_TRUE(connected.ok()) << connected.text();
  ASSERT_EQ(write(ends[1]->remote(64), 1000, 7), RMA_SUCCESS);
  EXPECT_EQ(outcome(7), RMA_SUCCESS);
  EXPECT_TRUE(
      std::equal(ends[0]->memory.begin(), ends[0]->memory.begin() + 1000, ends[1]->memory.begin() + 64));
  EXPECT_EQ(ends[1]->memory[63], std::byte{0});
  EXPECT_EQ(ends[1]->memory[1064], std::byte{0});
  const std::array pieces = {ends[0]->local(2000, 10), ends[0]->local(3000, 30)};
  ASSERT_EQ(ends[0]->transport->post_read(1, pieces, ends[1]->remote(64), 8, {}), RMA_SUCCESS);
  EXPECT_EQ(outcome(8), RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(&ends[0]->memory[2000], ends[1]->memory.data() + 64, 10), 0);
  EXPECT_EQ(std::memcmp(&ends[0]->memory[3000], ends[1]->memory.data() + 74, 30), 0);
}

TEST_F(OfiPair, BothMayCallAtOnceAndAgain) {
  Status other;
  std::thread caller([&] { other = ends[1]->transport->connect(0, ends[0]->transport->card()); });
  const Status connected = connect();
  caller.join();
  EXPECT_TRUE(connected.ok() && other.ok()) << connected.text() << other.text();
  EXPECT_TRUE(connect().ok());
}

TEST_F(OfiPair, AnEmptyWriteEndsBehindWhatIsUnderWayAndIsSentIfNothingIs) {
  ASSERT_TRUE(connect().ok());
  ends[0]->service.stop();  // it would take the completion in before this thread counts
  const Work empty = {.direction = Direction::write, .remote = {}, .pieces = {}, .cookie = 1, .flags = {}};
  std::size_t posted = 0;
  ASSERT_EQ(ends[0]->transport->post(1, {&empty, 1}, &posted), RMA_SUCCESS);
  EXPECT_EQ(ends[0]->transport->outstanding(1), 1U)
      << "it goes to the peer, and so finds out whether it lives";
  EXPECT_EQ(outcome(1), RMA_SUCCESS);
  const Local piece = ends[0]->local(0, 8);
  ASSERT_EQ(ends[0]->transport->post_write(1, ends[1]->remote(0), {&piece, 1}, 0, {.unsignaled = true}),
            RMA_SUCCESS);
  ASSERT_EQ(ends[0]->transport->post(1, {&empty, 1}, &posted), RMA_SUCCESS);
  EXPECT_EQ(outcome(1), RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(ends[1]->memory.data(), ends[0]->memory.data(), 8), 0);
}

TEST_F(OfiPair, NoMoreThanTheLimitIsTaken) {
  ASSERT_TRUE(connect().ok());
  ends[0]->service.stop();  // nobody takes completions in while this thread posts
  const std::uint32_t most = ends[0]->transport->limits().max_outstanding;
  const std::vector<Local> pieces(1, ends[0]->local(0, 8));
  std::vector<Work> work(most + 1, {.direction = Direction::write,
                                    .remote = ends[1]->remote(0),
                                    .pieces = pieces,
                                    .cookie = 3,
                                    .flags = {}});
  std::size_t posted = 0;
  EXPECT_EQ(ends[0]->transport->post(1, work, &posted), RMA_ERR_STATE);
  EXPECT_EQ(posted, most);
  for (std::size_t i = 0; i < posted; ++i) EXPECT_EQ(outcome(3), RMA_SUCCESS);
}

// Some providers connect again without a word. What was under way is lost then, so the rank is.
TEST_F(OfiPair, AWrongKeyLosesThePeerAndHarmsNobody) {
  ASSERT_TRUE(connect().ok());
  const Remote wrong = {.address = ends[1]->registration.base, .key = ends[1]->registration.remote ^ 1U};
  ASSERT_EQ(write(wrong, 8, 4), RMA_SUCCESS);
  EXPECT_EQ(outcome(4), RMA_ERR_PEER_LOST);
  EXPECT_EQ(write(ends[1]->remote(0), 8, 5), RMA_ERR_PEER_LOST);
  EXPECT_EQ(ends[1]->memory[0], std::byte{0});
}

TEST_F(OfiPair, AWriteBeyondTheRegistrationIsRefused) {
  ASSERT_TRUE(connect().ok());
  ASSERT_EQ(write(ends[1]->remote(kBytes - 4), 8, 4), RMA_SUCCESS);
  EXPECT_EQ(outcome(4), RMA_ERR_PEER_LOST);
  EXPECT_EQ(ends[1]->memory[kBytes - 1], std::byte{0});
}

TEST_F(OfiPair, AKeyThatWasValidOnceIsRefusedAfterANewRegistration) {
  ASSERT_TRUE(connect().ok());
  const Remote old = ends[1]->remote(0);
  ends[1]->transport->deregister_memory(ends[1]->registration);
  auto again = ends[1]->transport->register_memory(ends[1]->memory.data(), kBytes);
  ASSERT_TRUE(again.ok());
  ends[1]->registration = again.value();
  EXPECT_NE(old.key, again->remote);
  ASSERT_EQ(write(ends[1]->remote(0), 8, 6), RMA_SUCCESS);
  EXPECT_EQ(outcome(6), RMA_SUCCESS);
  ASSERT_EQ(write(old, 8, 7), RMA_SUCCESS);
  EXPECT_EQ(outcome(7), RMA_ERR_PEER_LOST);
}

// The provider of 1.17 dies here unless its prefetching is off (FI_NET_PREFETCH_RBUF_SIZE).
TEST_F(OfiPair, AWriteToUnmappedMemoryDoesNotKillItsTarget) {
  ASSERT_TRUE(connect().ok());
  void* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto registration = ends[1]->transport->register_memory(static_cast<std::byte*>(page), kBytes);
  ASSERT_TRUE(registration.ok());
  ASSERT_EQ(mprotect(page, kBytes, PROT_NONE), 0);
  ASSERT_EQ(write({.address = registration->base, .key = registration->remote}, 8, 9), RMA_SUCCESS);
  EXPECT_EQ(outcome(9), RMA_ERR_PEER_LOST);
  ends[1]->transport->deregister_memory(registration.value());
  munmap(page, kBytes);
}

TEST_F(OfiPair, MemoryThatCannotBeUsedIsNotRegistered) {
  void* const pages = mmap(nullptr, 3 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const first = static_cast<std::byte*>(pages);
  const auto register_pages = [&] {
    return ends[0]->transport->register_memory(first + 8, 3 * kBytes - 16).status().code();
  };
  EXPECT_EQ(register_pages(), RMA_SUCCESS);
  for (const int rights : {PROT_READ, PROT_NONE}) {
    ASSERT_EQ(mprotect(first + kBytes, kBytes, rights), 0);
    EXPECT_EQ(register_pages(), RMA_ERR_ADDRESS) << rights;
  }
  ASSERT_EQ(munmap(first + kBytes, kBytes), 0);
  EXPECT_EQ(register_pages(), RMA_ERR_ADDRESS);
  munmap(pages, 3 * kBytes);
}

TEST_F(OfiPair, MessagesNameTheirSenderAndGathersFindTheirScatter) {
  ASSERT_TRUE(connect().ok());
  EXPECT_EQ(ends[0]->messages().buffers_of(1), 2U);
  const Local text = ends[0]->local(0, 100);
  ASSERT_EQ(ends[0]->messages().post_message(1, {&text, 1}, 11, {}), RMA_SUCCESS);
  const Completion got = wait(ends[1]->messages(), 100);
  EXPECT_EQ(got.peer, 0);
  EXPECT_EQ(got.bytes, 100U);
  EXPECT_EQ(std::memcmp(ends[1]->buffers.data(), ends[0]->memory.data(), 100), 0);
  EXPECT_EQ(wait(ends[0]->messages(), 11).status, RMA_SUCCESS);

  const std::array to = {ends[1]->local(0, 10), ends[1]->local(500, 20)};
  ASSERT_EQ(ends[1]->messages().post_scatter(0, to, 12), RMA_SUCCESS);
  const std::array from = {ends[0]->local(40, 15), ends[0]->local(90, 15)};
  ASSERT_EQ(ends[0]->messages().post_gather(1, from, 13, {}), RMA_SUCCESS);
  EXPECT_EQ(wait(ends[1]->messages(), 12).bytes, 30U);
  EXPECT_EQ(wait(ends[0]->messages(), 13).status, RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(ends[1]->memory.data(), &ends[0]->memory[40], 10), 0);
  EXPECT_EQ(std::memcmp(&ends[1]->memory[500], &ends[0]->memory[50], 5), 0);
  EXPECT_EQ(std::memcmp(&ends[1]->memory[505], &ends[0]->memory[90], 15), 0);
}

// The provider takes messages for which there is no buffer yet, and they are complete for it. Nobody would
// hear that they are lost if nothing asked for a confirmation.
TEST_F(OfiPair, MessagesThatWereTakenAndDidNotArriveAreALoss) {
  ASSERT_TRUE(connect().ok());
  constexpr std::size_t kMany = 20;  // there are two buffers
  const Local text = ends[0]->local(0, 64);
  const PostFlags quiet = {.inline_data = true, .unsignaled = true};
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(ends[0]->messages().post_message(1, {&text, 1}, 0, quiet), RMA_SUCCESS);
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(wait(ends[1]->messages(), 100 + i).bytes, 64U);
  ends[1].reset();
  const Completion lost = wait(ends[0]->messages(), 0);
  EXPECT_EQ(lost.status, RMA_ERR_PEER_LOST);
  EXPECT_EQ(lost.peer, 1);
}

// While this thread polls, the service thread asks for the confirmations.
TEST_F(OfiPair, AThreadThatPollsLearnsOfALossToo) {
  ASSERT_TRUE(connect().ok());
  std::array<Completion, 1> one;
  const auto poll_both = [&] {
    EXPECT_EQ(ends[0]->transport->poll(one), 0U);
    return ends[0]->messages().poll(one);
  };
  constexpr int kPolls = 20000;  // enough for the service thread to see that there is one that polls
  for (int i = 0; i < kPolls; ++i) EXPECT_EQ(poll_both(), 0U);
  const Local text = ends[0]->local(0, 64);
  const PostFlags quiet = {.inline_data = true, .unsignaled = true};
  for (int i = 0; i < 4; ++i) {  // there are two buffers
    ASSERT_EQ(ends[0]->messages().post_message(1, {&text, 1}, 0, quiet), RMA_SUCCESS);
  }
  ends[1].reset();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (poll_both() == 0) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  EXPECT_EQ(one[0].status, RMA_ERR_PEER_LOST);
  EXPECT_EQ(one[0].peer, 1);
}

TEST_F(OfiPair, AFloodOfMessagesArrivesWithFewConfirmations) {
  ASSERT_TRUE(connect().ok());
  const Local text = ends[0]->local(0, 64);
  constexpr Cookie kFirst = 1000;
  Cookie ended = 0;
  for (Cookie i = 0; i < 500; ++i) {
    rma_status_t posted = RMA_ERR_STATE;
    while (posted == RMA_ERR_STATE) {
      posted = ends[0]->messages().post_message(1, {&text, 1}, kFirst + i, {});
      std::array<Completion, 1> one;
      if (posted == RMA_ERR_STATE && ends[0]->messages().poll(one) != 0) ++ended;
    }
    ASSERT_EQ(posted, RMA_SUCCESS);
    const Completion got = wait(ends[1]->messages(), 100 + i % 2);
    const Local buffer = {.address = ends[1]->buffers.data() + 256 * (i % 2),
                          .bytes = 256,
                          .key = ends[1]->buffer_registration.local};
    EXPECT_EQ(got.bytes, 64U);
    ASSERT_EQ(ends[1]->messages().post_buffer(buffer, got.cookie), RMA_SUCCESS);
  }
  for (; ended < 500; ++ended) {
    std::array<Completion, 1> one;
    while (ends[0]->messages().poll(one) == 0) std::this_thread::yield();
    EXPECT_EQ(one[0].status, RMA_SUCCESS);
  }
}

TEST_F(OfiPair, APeerThatIsGivenUpEndsEverything) {
  ASSERT_TRUE(connect().ok());
  const std::array to = {ends[0]->local(0, 10)};
  ASSERT_EQ(ends[0]->messages().post_scatter(1, to, 21), RMA_SUCCESS);
  ends[0]->transport->fail(1);
  EXPECT_EQ(wait(ends[0]->messages(), 21).status, RMA_ERR_PEER_LOST);
  EXPECT_EQ(write(ends[1]->remote(0), 8, 22), RMA_ERR_PEER_LOST);
  EXPECT_EQ(ends[0]->messages().post_scatter(1, to, 23), RMA_ERR_PEER_LOST);
}

TEST_F(OfiPair, APeerThatHasEndedIsLost) {
  ASSERT_TRUE(connect().ok());
  const Remote there = ends[1]->remote(0);
  ends[1].reset();
  // The first operations may still find the connection open. Then the provider says "try again".
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  rma_status_t status = RMA_SUCCESS;
  while (status != RMA_ERR_PEER_LOST && std::chrono::steady_clock::now() < deadline) {
    status = write(there, 8, 31);
    if (status == RMA_SUCCESS) status = outcome(31);
  }
  EXPECT_EQ(status, RMA_ERR_PEER_LOST);
}

TEST_F(OfiPair, AThreadThatSleepsAtTheEventsWakes) {
  ASSERT_TRUE(connect().ok());
  const Local text = ends[0]->local(0, 16);
  Cookie buffer = 100;
  for (const auto events : {MessageEndpoint::Events::all, MessageEndpoint::Events::solicited}) {
    ASSERT_TRUE(ends[1]->messages().arm(events));
    const PostFlags flags = {.solicited = events == MessageEndpoint::Events::solicited};
    ASSERT_EQ(ends[0]->messages().post_message(1, {&text, 1}, 41, flags), RMA_SUCCESS);
    pollfd polled = {.fd = ends[1]->messages().event_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&polled, 1, 60000), 1);
    EXPECT_EQ(wait(ends[1]->messages(), buffer++).bytes, 16U);
    EXPECT_EQ(wait(ends[0]->messages(), 41).status, RMA_SUCCESS);
  }
}

/// Keeps a connected pair's thread in a wait, with transfers, until the service thread of `end` relies on it.
class OfiAttended : public OfiPair {
 protected:
  void poll_until_relied_on(End& end) {
    constexpr Cookie kCookie = 1000;
    std::array<Completion, 1> one;
    while (!end.attendants.relied_on()) {
      ASSERT_EQ(write(ends[1]->remote(64), 8, kCookie), RMA_SUCCESS);
      while (ends[0]->transport->poll(one) == 0) EXPECT_EQ(ends[1]->transport->poll(one), 0U);
      ASSERT_EQ(one[0].status, RMA_SUCCESS);
      for (int i = 0; i < 10000 && !end.attendants.relied_on(); ++i) EXPECT_EQ(end.transport->poll(one), 0U);
    }
  }
};

TEST_F(OfiAttended, AThreadThatWaitsForLongDrivesAloneAndTheLastOneRecallsTheService) {
  ASSERT_TRUE(connect().ok());
  End& target = *ends[1];
  for (Cookie cookie = 1; cookie <= 20; ++cookie) {
    target.attendants.enter();
    target.attendants.enter();
    poll_until_relied_on(target);
    target.attendants.leave();
    EXPECT_TRUE(target.attendants.relied_on());
    ASSERT_EQ(write(target.remote(0), 8, cookie), RMA_SUCCESS);
    target.attendants.leave();
    EXPECT_EQ(outcome(cookie), RMA_SUCCESS);  // nobody polls the target
  }
}

TEST_F(OfiAttended, AThreadThatWaitsAndConnectsNeedNotDrive) {
  ends[0]->attendants.enter();
  EXPECT_TRUE(connect().ok());
  ends[0]->attendants.leave();
}

TEST_F(OfiAttended, AThreadThatSleepsInAWaitIsWoken) {
  ASSERT_TRUE(connect().ok());
  End& sleeper = *ends[0];
  for (Cookie cookie = 1; cookie <= 20; ++cookie) {
    sleeper.attendants.enter();
    poll_until_relied_on(sleeper);
    static_cast<void>(sleeper.transport->arm());
    ASSERT_EQ(write(ends[1]->remote(0), 8, cookie), RMA_SUCCESS);
    // The last look may find the completion, or event_fd() tells of it.
    std::array<Completion, 1> done;
    if (sleeper.transport->poll(done) == 0) {
      pollfd event = {.fd = sleeper.transport->event_fd(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&event, 1, 60000), 1);
      ASSERT_EQ(sleeper.transport->poll(done), 1U);
    }
    EXPECT_EQ(done[0].cookie, cookie);
    sleeper.attendants.leave();
  }
}

TEST(OfiLanes, WhatIsNotSolicitedWakesOnlyThoseThatWaitForAll) {
  OfiLane lane;
  ASSERT_TRUE(lane.open().ok());
  const auto readable = [&] {
    pollfd polled = {.fd = lane.event_fd(), .events = POLLIN, .revents = 0};
    return ::poll(&polled, 1, 0) == 1;
  };
  std::array<Completion, 4> taken;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(lane.expect());
  EXPECT_TRUE(lane.arm(MessageEndpoint::Events::solicited));
  lane.push({}, false);
  EXPECT_FALSE(readable());
  lane.push({}, true);
  EXPECT_TRUE(readable());
  EXPECT_FALSE(lane.arm(MessageEndpoint::Events::all)) << "there are two";
  EXPECT_FALSE(readable());
  EXPECT_EQ(lane.take(taken), 2U);
  lane.push({}, false);
  EXPECT_TRUE(readable());
}

TEST(OfiLanes, WhatIsExpectedComesWithoutMemory) {
  constexpr std::size_t kExpected = 100;
  OfiLane lane;
  for (std::size_t i = 0; i < kExpected; ++i) ASSERT_TRUE(lane.expect());
  std::array<Completion, kExpected> taken;
  let_fail(0, true);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kExpected; ++i) lane.push({.cookie = i}, true);
    EXPECT_EQ(lane.take(taken), kExpected);
    for (std::size_t i = 0; i < kExpected; ++i) EXPECT_EQ(taken[i].cookie, i);
    for (std::size_t i = 0; i < kExpected; ++i) EXPECT_TRUE(lane.expect());
  }
  EXPECT_FALSE(end_failing());
  let_fail(0, true);
  std::size_t more = 0;
  while (more <= kExpected && lane.expect()) ++more;
  EXPECT_TRUE(end_failing());
  EXPECT_LE(more, kExpected) << "there is no memory for so many";
}

// An exception after a message has left would let its sender send it again.
TEST_F(OfiPair, TransfersAndMessagesNeedNoMemory) {
  ASSERT_TRUE(connect().ok());
  constexpr Cookie kCount = 50;
  const Local piece = ends[0]->local(0, 8);
  for (Cookie i = 0; i < kCount; ++i) {
    let_fail(0, true);
    const rma_status_t written = write(ends[1]->remote(0), 8, 1000 + i);
    const rma_status_t sent =
        i < 2 ? ends[0]->messages().post_message(1, {&piece, 1}, 2000 + i, {}) : RMA_SUCCESS;
    EXPECT_FALSE(end_failing());
    ASSERT_EQ(written, RMA_SUCCESS);
    ASSERT_EQ(sent, RMA_SUCCESS);
    EXPECT_EQ(outcome(1000 + i), RMA_SUCCESS);
    if (i < 2) {
      EXPECT_EQ(wait(ends[0]->messages(), 2000 + i).status, RMA_SUCCESS);
    }
  }
}

TEST_F(OfiPair, AnEndLearnsThatAPeerHasWritten) {
  std::atomic<int> writes = 0;
  ends[1]->transport->watch_writes([&] { writes.fetch_add(1, std::memory_order_relaxed); });
  ASSERT_TRUE(connect().ok());
  ASSERT_EQ(write(ends[1]->remote(0), 8, 51), RMA_SUCCESS);
  EXPECT_EQ(outcome(51), RMA_SUCCESS);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (writes.load(std::memory_order_relaxed) == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_GT(writes.load(std::memory_order_relaxed), 0);
  ends[1]->service.stop();  // it calls what refers to this frame
}

TEST_F(OfiPair, ACardOfAnotherProviderIsRefused) {
  auto card = OfiCard::decode(ends[1]->transport->card());
  ASSERT_TRUE(card.ok());
  OfiCard forged = card.value();
  forged.address.provider[0] = 'x';
  EXPECT_EQ(ends[0]->transport->connect(1, forged.encode()).code(), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(ends[0]->transport->connect(1, std::vector<std::byte>(10)).code(), RMA_ERR_LAUNCH);
}

TEST(OfiMemoryKeys, AKeyTellsTheBase) {
  constexpr std::uintptr_t kBase = 0x7ffe12345678;
  const Key key = OfiMemory::offset_key(kBase, 5);
  EXPECT_EQ(key >> OfiMemory::kNumberBits, kBase);
  EXPECT_NE(key, OfiMemory::offset_key(kBase, 6));
  EXPECT_NE(key, OfiMemory::offset_key(kBase + 1, 5));
}

TEST(OfiMarks, NoRankAndTicketTouchTheBitOfSolicitedMessages) {
  EXPECT_EQ(mark_of(0x1234d678, 0x9abc), 0x1234d67800009abcU);
  EXPECT_EQ(mark_of(0xffffffff, 0x7fffffff) & kSolicited, 0U);
}

TEST(OfiOrders, AnEmptyWriteEndsOnlyWhenAllBeforeItHave) {
  OfiOrder order;
  std::vector<Cookie> ended;
  const auto end = [&](std::uint64_t number) {
    order.end(number, [&](Cookie cookie) { ended.push_back(cookie); });
  };
  EXPECT_FALSE(order.ride(1)) << "nothing is under way";
  const std::uint64_t first = order.add().value();
  const std::uint64_t second = order.add().value();
  EXPECT_TRUE(order.ride(2));
  const std::uint64_t third = order.add().value();
  EXPECT_TRUE(order.ride(3));
  end(third);
  end(second);
  EXPECT_TRUE(ended.empty()) << "the first is under way";
  end(first);
  EXPECT_EQ(ended, (std::vector<Cookie>{2, 3}));
  EXPECT_FALSE(order.ride(4));
}

TEST(OfiOrders, ThoseOfALostPeerAreReportedOnce) {
  OfiOrder order;
  const std::uint64_t first = order.add().value();
  EXPECT_TRUE(order.ride(2));
  std::vector<Cookie> lost;
  order.fail([&](Cookie cookie) { lost.push_back(cookie); });
  order.end(first, [&](Cookie cookie) { lost.push_back(cookie); });
  EXPECT_EQ(lost, std::vector<Cookie>{2});
  const std::uint64_t later = order.add().value();
  EXPECT_FALSE(order.ride(5));
  order.end(later, [&](Cookie cookie) { lost.push_back(cookie); });
  EXPECT_EQ(lost.size(), 1U);
}

}  // namespace
}  // namespace librma::transport
