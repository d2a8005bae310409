#include <random>

#include "../counted.hpp"
#include "../seed.hpp"
#include "core/network/request_order.hpp"
#include "helper_world.hpp"

namespace librma {
namespace {

/// Requests for which no rank waits: accumulates, which are noted, and puts, which are refused.
class UnacknowledgedRequests : public HelperWorld {
 protected:
  void SetUp() override {
    settings.peer_receives = 40;  // credits for all requests of a test at once
    open(2);
    server(1).serve(RequestKind::accumulate, [this](const Served& request) -> Answer {
      noted.push_back(bytes_of(request.body));
      return {};
    });
    server(1).serve(RequestKind::put,
                    [](const Served& /*request*/) -> Answer { return {.status = RMA_ERR_ADDRESS}; });
    server(1).serve(RequestKind::get, [](const Served& request) { return echo(request); });
    start();
  }
  static std::uint64_t messages() { return counted(Counter::message); }

  std::vector<Bytes> noted;
};

TEST_F(UnacknowledgedRequests, AreAcknowledgedTogether) {
  constexpr std::size_t kRequests = 30;
  const std::uint64_t before = messages();
  std::vector<std::shared_ptr<Outcome>> outcomes;
  for (std::size_t i = 0; i < kRequests; ++i) {
    outcomes.push_back(ask(0, 1, RequestKind::accumulate, random_bytes(i, 8), 0));
  }
  ASSERT_TRUE(settle());
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome->answers, 1);
    EXPECT_EQ(outcome->status, RMA_SUCCESS);
  }
  EXPECT_EQ(noted.size(), kRequests);
  EXPECT_TRUE(at(0).pending->fence(1).ok());
  // One message acknowledges all of them; a few more return credits.
  EXPECT_LE(messages() - before, kRequests + 4);
}

TEST_F(UnacknowledgedRequests, FailTheNextFenceWhenRefused) {
  const auto good = ask(0, 1, RequestKind::accumulate, random_bytes(1, 8), 0);
  const auto bad = ask(0, 1, RequestKind::put, random_bytes(2, 8), 0);
  const auto after = ask(0, 1, RequestKind::accumulate, random_bytes(3, 8), 0);
  EXPECT_EQ(at(0).pending->fence(1).code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(good->status, RMA_SUCCESS);
  EXPECT_EQ(bad->status, RMA_ERR_ADDRESS);
  EXPECT_EQ(after->status, RMA_SUCCESS);
  EXPECT_TRUE(at(0).pending->fence(1).ok());
}

TEST_F(UnacknowledgedRequests, AnswersWithABodyComeBesideAcknowledgements) {
  std::mt19937_64 random(test_seed());
  std::vector<std::pair<Bytes, std::shared_ptr<Outcome>>> asked;
  for (int i = 0; i < 300; ++i) {
    const bool get = random() % 3 == 0;
    // Some bodies and answers are too long for a message.
    const Bytes body = random_bytes(random(), random() % 4 == 0 ? 2000 : random() % 100);
    asked.emplace_back(get ? body : Bytes{}, ask(0, 1, get ? RequestKind::get : RequestKind::accumulate, body,
                                                 get ? body.size() : 0));
  }
  EXPECT_TRUE(at(0).pending->fence(1).ok());
  for (const auto& [body, outcome] : asked) {
    EXPECT_EQ(outcome->answers, 1);
    EXPECT_EQ(outcome->status, RMA_SUCCESS);
    EXPECT_EQ(outcome->body, body);
  }
}

/// Requests are served in the order of their issue. A transfer that is no request waits for their end.
TEST_F(UnacknowledgedRequests, AreOverBeforeATransferBegins) {
  const auto outcome = ask(0, 1, RequestKind::accumulate, random_bytes(1, 3000), 0);
  EXPECT_EQ(outcome->answers, 0);
  const std::uint64_t before = counted(Counter::drain);
  at(0).network->requests().settle_requests(1);
  EXPECT_EQ(outcome->answers, 1);
  EXPECT_EQ(counted(Counter::drain), before + 1);
  at(0).network->requests().settle_requests(1);
  EXPECT_EQ(counted(Counter::drain), before + 1);
}

}  // namespace
}  // namespace librma
