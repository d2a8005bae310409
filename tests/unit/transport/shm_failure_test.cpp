// Peers that end at any step, that leave, or that never answer.

#include "../forked.hpp"
#include "shm_endpoints.hpp"

namespace librma::transport {
namespace {

using Numbers = std::vector<std::uint32_t>;

const std::vector<int> kBothRanks = {0, 1};

/// This process has rank 0, and another process has rank 1.
class ShmFailure : public testing::Test {
 protected:
  struct Host {
    std::array<ShmCard, 2> cards;
    std::array<HostCard, 2> hosts;
    std::atomic<int> stage;
  };
  enum Stage { kNone, kOpen, kMeeting, kConnected };

  /// Rank 1 connects with rank 0 and then runs `body`, with rank 0's segment as it is mapped there.
  void open(const std::function<void(ShmEnd&, const MappedSegment&)>& body) {
    other.emplace([this, &body] {
      ShmEnd other_end(1, kBothRanks);
      if (!meet_as_other(other_end)) return false;
      auto raw = MappedSegment::of(host->cards[0], other_end.host.find(0)->file(Handed::segment));
      if (!raw.ok()) return false;
      if (!comes_true([&] { return other_end.poll(), host->stage == kConnected; })) return false;
      body(other_end, raw.value());
      _exit(0);
    });
    end.emplace(0, kBothRanks);
    meet_other();
    const Status status = end->transport->connect(1, bytes_of(host->cards[1]));
    ASSERT_TRUE(status.ok()) << status.text();
    while (end->poll() != 0) {
    }
    static_cast<void>(
        end->messages().arm(transport::MessageEndpoint::Events::all));  // takes off the signals of connecting
  }
  /// Rank 1, in another process, meets rank 0.
  [[nodiscard]] bool meet_as_other(ShmEnd& other_end) const {
    host->cards[1] = other_end.card();
    host->hosts[1] = other_end.host.card();
    host->stage = kOpen;
    return comes_true([&] { return host->stage >= kMeeting; }) &&
           other_end.meet({{.rank = 0, .card = host->hosts[0]}});
  }
  /// Rank 0 meets rank 1.
  void meet_other() {
    ASSERT_TRUE(comes_true([&] { return host->stage == kOpen; }));
    host->cards[0] = end->card();
    host->hosts[0] = end->host.card();
    host->stage = kMeeting;
    ASSERT_TRUE(end->meet({{.rank = 1, .card = host->hosts[1]}}));
  }
  void go_on() { host->stage = kConnected; }

  void expect_woken() const {
    pollfd fd = {.fd = end->messages().event_fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&fd, 1, 60'000), 1);
  }
  /// Polls without sleeping, as some threads do. Returns whether that finds the loss.
  [[nodiscard]] bool finds_the_loss() {
    for (int i = 0; i < 5000 && end->ended.empty(); ++i) end->poll();
    return !end->ended.empty();
  }
  void expect_lost_once() {
    ASSERT_TRUE(finds_the_loss());
    EXPECT_EQ(end->ended[0].cookie, 0U);
    EXPECT_EQ(end->ended[0].peer, 1);
    EXPECT_EQ(end->ended[0].status, RMA_ERR_PEER_LOST);
    for (int i = 0; i < 5000; ++i) end->poll();
    EXPECT_EQ(end->ended.size(), 1U);
    EXPECT_EQ(end->send(1, 1U), RMA_ERR_PEER_LOST);
    EXPECT_EQ(end->messages().post_message_write(1, {host->cards[1].base + (1U << 20U), 0}, {}, 1, {}),
              RMA_ERR_PEER_LOST);
    EXPECT_TRUE(end->messages().arm(transport::MessageEndpoint::Events::all))
        << "there is nothing more to say";
    EXPECT_EQ(end->transport->connect(1, bytes_of(host->cards[1])).code(), RMA_ERR_PEER_LOST);
  }

  const SharedWithForked<Host> host;
  std::optional<Forked> other;
  std::optional<ShmEnd> end;
};

TEST_F(ShmFailure, ASleeperIsWokenByTheEndOfAPeer) {
  open([](ShmEnd& /*other_end*/, const MappedSegment& /*raw*/) {});
  ASSERT_TRUE(end->messages().arm(transport::MessageEndpoint::Events::all));
  EXPECT_FALSE(end->has_event());
  other->end();
  expect_woken();
  expect_lost_once();
  EXPECT_FALSE(end->has_event());
}

TEST_F(ShmFailure, WhoPollsFindsTheEndOfAPeer) {
  open([](ShmEnd& /*other_end*/, const MappedSegment& /*raw*/) {});
  EXPECT_EQ(end->send(1, 1U), RMA_SUCCESS);
  other->end();
  expect_lost_once();
}

TEST_F(ShmFailure, WhatWasSentBeforeTheEndComesFirst) {
  open([](ShmEnd& other_end, const MappedSegment& /*raw*/) {
    for (std::uint32_t i = 0; i < 6; ++i) EXPECT_EQ(other_end.send(0, i), RMA_SUCCESS);
  });
  go_on();
  ASSERT_TRUE(other->ended_well());
  EXPECT_FALSE(end->messages().arm(transport::MessageEndpoint::Events::all));
  ASSERT_TRUE(finds_the_loss());
  EXPECT_EQ(end->numbers(), (Numbers{0, 1, 2, 3, 4, 5}));
  expect_lost_once();
}

TEST_F(ShmFailure, WhoEndsInTheMiddleOfAMessageHasNotSentIt) {
  open([](ShmEnd& other_end, const MappedSegment& raw) {
    EXPECT_EQ(other_end.send(0, 1U), RMA_SUCCESS);
    const Seat& seat = raw.seat(1);
    const auto slot = raw.range(seat.queue + seat.shape.slot_bytes, seat.shape.slot_bytes);
    std::memset(slot->data() + QueueShape::kWordBytes, 0x55, 100);
  });
  go_on();
  ASSERT_TRUE(other->ended_well());
  ASSERT_TRUE(finds_the_loss());
  EXPECT_EQ(end->numbers(), Numbers{1});
  expect_lost_once();
}

TEST_F(ShmFailure, WhoEndsBeforeItRingsHasSentItAllTheSame) {
  open([](ShmEnd& /*other_end*/, const MappedSegment& raw) {
    const Seat& seat = raw.seat(1);
    QueueSender queue(seat.shape, *raw.range(seat.queue, seat.shape.bytes()), seat.taken);
    auto bytes = ShmEnd::bytes_of(17);
    const Local piece = {bytes.data(), bytes.size(), 0};
    queue.put({&piece, 1}, bytes.size());
  });
  ASSERT_TRUE(end->messages().arm(transport::MessageEndpoint::Events::all));
  go_on();
  expect_woken();  // by the end of the process
  ASSERT_TRUE(finds_the_loss());
  EXPECT_EQ(end->numbers(), Numbers{17});
  expect_lost_once();
}

TEST_F(ShmFailure, WhoHasEndedIsNotConnectedTo) {
  Forked child([this] {
    ShmEnd gone(1, kBothRanks);
    return meet_as_other(gone);
  });
  end.emplace(0, kBothRanks);
  meet_other();
  ASSERT_TRUE(child.ended_well());
  EXPECT_EQ(end->transport->connect(1, bytes_of(host->cards[1])).code(), RMA_ERR_PEER_LOST);
}

TEST_F(ShmFailure, WhoEndsInsteadOfAnsweringIsLostAtOnce) {
  other.emplace([this] {
    ShmEnd silent(1, kBothRanks);
    if (!meet_as_other(silent)) return false;
    const MappedSegment raw = silent.own_segment();
    const bool called = comes_true([&] { return raw.head().calls.load() != 0; });
    if (called) _exit(0);  // without closing anything
    return false;
  });
  end.emplace(0, kBothRanks, 4, 2, std::chrono::hours(1));
  meet_other();
  const Status status = end->transport->connect(1, bytes_of(host->cards[1]));
  EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
  EXPECT_NE(status.text().find("has ended"), std::string_view::npos) << status.text();
  EXPECT_TRUE(other->ended_well());
  ASSERT_TRUE(finds_the_loss());
}

TEST_F(ShmFailure, WhoCallsAndEndsIsRefusedAndOthersAreNot) {
  const std::vector<int> ranks = {0, 1, 2};
  end.emplace(0, ranks);
  ShmEnd third(2, ranks);
  {
    Forked child([&, this] {
      ShmEnd caller(1, ranks);
      if (!meet_as_other(caller)) return false;
      auto met = ShmPeer::meet(host->cards[0], 0, *caller.host.find(0));
      if (!met.ok()) return false;
      met.value()->call(1, caller.card());
      _exit(0);
    });
    ASSERT_TRUE(comes_true([&] { return host->stage == kOpen; }));
    host->cards[0] = end->card();
    host->hosts[0] = end->host.card();
    host->stage = kMeeting;
    std::thread meeting([&] { EXPECT_TRUE(third.meet({{.rank = 0, .card = host->hosts[0]}})); });
    EXPECT_TRUE(end->meet({{.rank = 1, .card = host->hosts[1]}, {.rank = 2, .card = third.host.card()}}));
    meeting.join();
    ASSERT_TRUE(child.ended_well());
  }
  EXPECT_TRUE(end->has_event());
  end->poll();
  ASSERT_TRUE(connect(third, *end, 0).ok());
  EXPECT_EQ(third.send(0, 4), RMA_SUCCESS);
  end->poll();
  EXPECT_EQ(end->numbers(), Numbers{4});
  EXPECT_TRUE(end->ended.empty());
}

TEST_F(ShmFailure, WhoNeverAnswersIsLostInTheEndAndMayAnswerLater) {
  end.emplace(0, kBothRanks, 4, 2, std::chrono::milliseconds(10));
  ShmEnd silent(1, kBothRanks);
  meet({&*end, &silent});
  const Status status = end->transport->connect(1, silent.transport->card());
  EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
  EXPECT_NE(status.text().find("does not answer"), std::string_view::npos) << status.text();
  EXPECT_TRUE(silent.has_event()) << "it was signaled";
  silent.poll();
  EXPECT_TRUE(end->transport->connect(1, silent.transport->card()).ok());
  EXPECT_EQ(end->send(1, 4U), RMA_SUCCESS);
}

TEST_F(ShmFailure, WhoLeavesIsLostAfterItsMessages) {
  end.emplace(0, kBothRanks);
  auto leaving = std::make_unique<ShmEnd>(1, kBothRanks);
  host->cards[1] = leaving->card();
  meet({&*end, leaving.get()});
  ASSERT_TRUE(connect(*end, *leaving, 1).ok());
  while (end->poll() != 0) {
  }
  static_cast<void>(end->messages().arm(transport::MessageEndpoint::Events::all));
  ASSERT_TRUE(end->messages().arm(transport::MessageEndpoint::Events::all));
  leaving.reset();
  EXPECT_TRUE(end->has_event());
  EXPECT_EQ(end->send(1, 4U), RMA_ERR_PEER_LOST) << "before anybody has looked";
  expect_lost_once();
}

TEST_F(ShmFailure, WhoIsGivenUpIsHeardNoMore) {
  end.emplace(0, kBothRanks);
  ShmEnd peer(1, kBothRanks);
  meet({&*end, &peer});
  ASSERT_TRUE(connect(*end, peer, 1).ok());
  EXPECT_EQ(peer.send(0, 1), RMA_SUCCESS);
  end->transport->fail(1);
  EXPECT_EQ(end->send(1, 4U), RMA_ERR_PEER_LOST);
  for (int i = 0; i < 5000; ++i) end->poll();
  EXPECT_TRUE(end->arrived.empty());
  EXPECT_TRUE(end->ended.empty());
  EXPECT_TRUE(end->messages().arm(transport::MessageEndpoint::Events::all));
  EXPECT_EQ(end->transport->connect(1, peer.transport->card()).code(), RMA_ERR_PEER_LOST);
}

}  // namespace
}  // namespace librma::transport
