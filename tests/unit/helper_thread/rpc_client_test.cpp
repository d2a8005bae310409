#include "helper_thread/rpc_client.hpp"

#include <random>

#include "../seed.hpp"
#include "helper_world.hpp"

namespace librma {
namespace {

class RpcClientTest : public HelperWorld {
 protected:
  /// Starts ranks that echo puts and note accumulates. The test answers atomics.
  void open_all(int count) {
    open(count);
    noted.resize(static_cast<std::size_t>(count));
    for (int rank = 0; rank < count; ++rank) {
      server(rank).serve(RequestKind::put, [](const Served& request) { return echo(request); });
      server(rank).serve(RequestKind::accumulate, [this](const Served& request) -> Answer {
        noted[static_cast<std::size_t>(request.asker.rank)].push_back(bytes_of(request.body));
        return {};
      });
      server(rank).serve(RequestKind::atomic, [this](const Served& request) -> std::optional<Answer> {
        later.push_back(request.asker);
        return std::nullopt;
      });
      server(rank).serve(RequestKind::get, [](const Served& request) -> Answer {
        return {.status = RMA_ERR_ADDRESS, .bytes = request.room.size()};
      });
    }
    start();
  }
  /// Returns sizes on both sides of every limit.
  [[nodiscard]] std::vector<std::size_t> sizes() {
    const RpcClient& asker = client(0);
    return {0,
            1,
            asker.most_in_message() - 1,
            asker.most_in_message(),
            asker.most_in_message() + 1,
            asker.most_in_reply(),
            asker.most_in_reply() + 1,
            asker.buffer_bytes() - 1,
            asker.buffer_bytes()};
  }
  void expect_echo(const Outcome& outcome, const Bytes& body, std::size_t room) {
    EXPECT_EQ(outcome.answers, 1);
    EXPECT_EQ(outcome.status, RMA_SUCCESS);
    EXPECT_EQ(outcome.body, bytes_of(std::span(body).first(std::min(body.size(), room))));
  }

  std::vector<std::vector<Bytes>> noted;  ///< by asker
  std::vector<Asker> later;
};

TEST_F(RpcClientTest, BodiesAndAnswersOfAllSizes) {
  open_all(2);
  for (const std::size_t size : sizes()) {
    for (const std::size_t room : sizes()) {
      SCOPED_TRACE(testing::Message() << size << " bytes, room for " << room);
      const Bytes body = random_bytes(size + room, size);
      const auto outcome = ask(0, 1, RequestKind::put, body, room);
      ASSERT_TRUE(settle());
      expect_echo(*outcome, body, room);
      EXPECT_TRUE(at(0).pending->fence(1).ok());
    }
  }
}

TEST_F(RpcClientTest, ManyAtOnceWithFewBuffers) {
  settings.helper_buffers = 2;
  open_all(3);
  std::mt19937_64 random(test_seed());
  struct Asked {
    std::shared_ptr<Outcome> outcome;
    Bytes body;
    std::size_t room;
  };
  std::vector<Asked> asked;
  const std::vector<std::size_t> some = sizes();
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const int from = static_cast<int>(random() % 3);
    const int to = static_cast<int>((static_cast<std::uint64_t>(from) + 1 + random() % 2) % 3);
    Bytes body = random_bytes(i, some[random() % some.size()]);
    const std::size_t room = some[random() % some.size()];
    if (random() % 8 == 0)
      at(to).endpoint->messages().set_faults({.refused_messages = 2, .refused_transfers = 3});
    auto outcome = ask(from, to, RequestKind::put, body, room);
    asked.push_back({.outcome = std::move(outcome), .body = std::move(body), .room = room});
  }
  ASSERT_TRUE(settle());
  for (const Asked& one : asked) expect_echo(*one.outcome, one.body, one.room);
  for (int rank = 0; rank < 3; ++rank) EXPECT_TRUE(at(rank).pending->fence_all().ok());
}

TEST_F(RpcClientTest, EachAskersRequestsAreExecutedInTheirOrder) {
  open_all(3);
  std::mt19937_64 random(test_seed());
  const std::vector<std::size_t> some = sizes();
  std::array<std::vector<Bytes>, 2> asked;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto from = static_cast<std::size_t>(random() % 2);
    const Bytes body = random_bytes(i, std::max<std::size_t>(8, some[random() % some.size()]));
    asked[from].push_back(body);
    if (random() % 8 == 0) at(2).endpoint->messages().set_faults({.refused_transfers = 3});
    ask(static_cast<int>(from), 2, RequestKind::accumulate, body, random() % 2 == 0 ? 0 : 4000);
  }
  ASSERT_TRUE(settle());
  EXPECT_EQ(noted[0], asked[0]);
  EXPECT_EQ(noted[1], asked[1]);
}

TEST_F(RpcClientTest, AnswersMayComeLaterAndInAnyOrder) {
  open_all(2);
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (int i = 0; i < 50; ++i) outcomes.push_back(ask(0, 1, RequestKind::atomic, {}, 8));
  ASSERT_TRUE(settle());
  ASSERT_EQ(later.size(), 50U);
  const auto after = ask(0, 1, RequestKind::put, random_bytes(1, 100), 100);
  ASSERT_TRUE(settle());
  EXPECT_EQ(after->answers, 1) << "those that wait hold nobody up";
  for (std::size_t i = 50; i-- > 0;) {
    EXPECT_EQ(outcomes[i]->answers, 0);
    server(1).answer(later[i], i % 2 == 0 ? RMA_SUCCESS : RMA_ERR_STATE, random_bytes(i, i % 9));
    ASSERT_TRUE(settle());
    EXPECT_EQ(outcomes[i]->answers, 1);
    EXPECT_EQ(outcomes[i]->status, i % 2 == 0 ? RMA_SUCCESS : RMA_ERR_STATE);
    EXPECT_EQ(outcomes[i]->body, random_bytes(i, i % 9));
  }
  EXPECT_EQ(at(0).pending->fence(1).code(), RMA_ERR_STATE) << "the first failure";
}

TEST_F(RpcClientTest, ARefusalIsTheAnswer) {
  open_all(2);
  for (const std::size_t room : sizes()) {
    const auto outcome = ask(0, 1, RequestKind::get, {}, room);
    ASSERT_TRUE(settle());
    EXPECT_EQ(outcome->answers, 1);
    EXPECT_EQ(outcome->status, RMA_ERR_ADDRESS);
    EXPECT_EQ(outcome->body.size(), std::min(room, Answer::kMostOfRefusal));
  }
}

TEST_F(RpcClientTest, ARankMayAskItself) {
  open_all(1);
  const Bytes body = random_bytes(3, 4000);
  const auto outcome = ask(0, 0, RequestKind::put, body, 4000);
  ASSERT_TRUE(settle());
  expect_echo(*outcome, body, 4000);
}

TEST_F(RpcClientTest, WhatWasAskedOfALostRankEnds) {
  open_all(3);
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (int i = 0; i < 20; ++i) outcomes.push_back(ask(0, 1, RequestKind::atomic, {}, 8));
  const auto another = ask(0, 2, RequestKind::atomic, {}, 8);
  ASSERT_TRUE(settle());
  at(0).helper->give_up(1);
  ASSERT_TRUE(settle());
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome->answers, 1);
    EXPECT_EQ(outcome->status, RMA_ERR_PEER_LOST);
  }
  EXPECT_EQ(another->answers, 0);
  Status refused;
  ask(0, 1, RequestKind::put, {}, 0, &refused);
  EXPECT_EQ(refused.code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(at(0).pending->fence(1).code(), RMA_ERR_PEER_LOST);
  server(2).answer(later.back(), RMA_SUCCESS);
  ASSERT_TRUE(settle());
  EXPECT_EQ(another->answers, 1);
  EXPECT_TRUE(at(0).pending->fence(2).ok());
}

TEST_F(RpcClientTest, BuffersOfALostRanksRequestsAreFreeAgain) {
  open_all(3);
  for (std::uint64_t i = 0; i < settings.helper_buffers; ++i) {
    ask(0, 1, RequestKind::atomic, random_bytes(i, 4000), 8);
  }
  ASSERT_TRUE(settle());
  helper(0).give_up(1);
  const Bytes body = random_bytes(7, 4000);
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (int i = 0; i < 10; ++i) outcomes.push_back(ask(0, 2, RequestKind::put, body, 4000));
  ASSERT_TRUE(settle());
  for (const auto& outcome : outcomes) expect_echo(*outcome, body, 4000);
}

/// The rank answers nothing until the maximum number of requests is open. Further requests wait for that.
TEST_F(RpcClientTest, MoreRequestsThanMayBeOpenWait) {
  open_all(2);
  std::size_t most = 0;
  channel(1).on_progress([this, &most] {
    most = std::max(most, later.size());
    if (later.size() < kMostOpenRequests) return false;
    for (const Asker& asker : later) server(1).answer(asker, RMA_SUCCESS);
    later.clear();
    return true;
  });
  constexpr std::size_t kRequests = 2 * kMostOpenRequests + 10;
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (std::size_t i = 0; i < kRequests; ++i) {
    outcomes.push_back(ask(0, 1, RequestKind::atomic, {}, 0));
    if (i % 64 == 0) step();
  }
  ASSERT_TRUE(settle());
  EXPECT_EQ(most, kMostOpenRequests);
  for (const Asker& asker : later) server(1).answer(asker, RMA_SUCCESS);
  ASSERT_TRUE(settle());
  for (const auto& outcome : outcomes) {
    ASSERT_EQ(outcome->answers, 1);
    ASSERT_EQ(outcome->status, RMA_SUCCESS);
  }
}

}  // namespace
}  // namespace librma
