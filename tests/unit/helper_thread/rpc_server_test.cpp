#include "helper_thread/rpc_server.hpp"

#include <array>
#include <deque>

#include "helper_world.hpp"

namespace librma {
namespace {

constexpr int kServer = 0;
constexpr int kRanks = 5;

/// Each of these ranks always has more long requests open at rank 0 than rank 0 has buffers.
class Scarce : public HelperWorld {
 protected:
  struct Form {
    std::size_t body;
    std::size_t room;
  };

  void open_all() {
    for (int rank = 0; rank < kRanks; ++rank) {
      settings.helper_buffers = rank == kServer ? 3 : 8;
      open_one(rank, kRanks);
    }
    server(kServer).serve(RequestKind::put, [this](const Served& request) {
      ++served[static_cast<std::size_t>(request.asker.rank)];
      return echo(request);
    });
    start();
  }
  void ask_more(int rank, const Form& form) {
    auto& mine = open_requests[static_cast<std::size_t>(rank)];
    while (!mine.empty() && mine.front()->answers > 0) {
      EXPECT_EQ(mine.front()->status, RMA_SUCCESS);
      mine.pop_front();
    }
    while (mine.size() < settings.helper_buffers) {
      mine.push_back(ask(rank, kServer, RequestKind::put, random_bytes(1, form.body), form.room));
    }
  }
  void expect_equal_service(const std::array<Form, kRanks>& forms) {
    open_all();
    int total = 0;
    for (int round = 0; round < 1000; ++round) {
      for (int rank = 1; rank < kRanks; ++rank) ask_more(rank, forms[static_cast<std::size_t>(rank)]);
      step();
    }
    ASSERT_TRUE(settle());
    for (int rank = 1; rank < kRanks; ++rank) total += served[static_cast<std::size_t>(rank)];
    for (int rank = 1; rank < kRanks; ++rank) {
      EXPECT_GE(served[static_cast<std::size_t>(rank)], total / kRanks * 3 / 4) << "rank " << rank;
    }
    EXPECT_GT(total, 100);
  }

  std::array<int, kRanks> served = {};
  std::array<std::deque<std::shared_ptr<Outcome>>, kRanks> open_requests;
};

TEST_F(Scarce, BuffersGoToEveryRankInTurn) {
  constexpr Form kLong = {.body = 2000, .room = 0};
  expect_equal_service({kLong, kLong, kLong, kLong, kLong});
}

TEST_F(Scarce, ARequestForTwoBuffersIsNotPassedByThoseForOne) {
  constexpr Form kOne = {.body = 2000, .room = 0};
  constexpr Form kTwo = {.body = 2000, .room = 2000};
  expect_equal_service({kOne, kOne, kOne, kOne, kTwo});
}

TEST_F(Scarce, WhoIsLostWhileItWaitsIsPassedOver) {
  constexpr Form kLong = {.body = 2000, .room = 0};
  open_all();
  for (int round = 0; round < 100; ++round) {
    for (int rank = 1; rank < kRanks; ++rank) {
      if (round < 50 || rank != 2) ask_more(rank, kLong);
    }
    if (round == 50) channel(kServer).fail(2);
    step();
  }
  ASSERT_TRUE(settle());
  for (int rank : {1, 3, 4}) {
    for (const auto& outcome : open_requests[static_cast<std::size_t>(rank)]) {
      EXPECT_EQ(outcome->answers, 1) << "rank " << rank;
      EXPECT_EQ(outcome->status, RMA_SUCCESS);
    }
  }
}

}  // namespace
}  // namespace librma
