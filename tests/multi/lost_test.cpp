// A rank ends, and the launcher keeps the others alive. No rank may wait for it for ever.
//
// Each test forks the ranks of a job of its own, which find each other in memory that they share. The rank
// that ends kills itself where the test says. Each later call of the others then has one right result,
// wherever they are at that time.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "forked_job.hpp"
#include "rma/active_messages.h"
#include "rma/rma.h"
#include "rma/unchecked.h"

namespace {

/// The ways in which the members of a team communicate.
struct Algorithm {
  const char* name;
  int ranks;
  std::vector<std::pair<const char*, const char*>> settings;
  [[nodiscard]] bool by_p2p() const { return std::string(name).find("ByP2p") != std::string::npos; }
};

/// Returns whether the ranks reach each other by the network, as ofi.lost sets.
bool over_network() {
  const char* const shared = getenv("RMA_SHM");
  return shared != nullptr && std::string(shared) == "off";
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all = {
      {"Two", 2, {}},
      {"Four", 4, {}},
      {"FourByOneCounter", 4, {{"RMA_COLL_FLAT_RANKS", "1"}}},
      {"ThreeAsleepAtOnce", 3, {{"RMA_SPIN", "0"}, {"RMA_YIELDS", "0"}}},
      {"TwoByP2p", 2, {{"RMA_COLL_ALGORITHM", "p2p"}}},
      {"FiveByP2p", 5, {{"RMA_COLL_ALGORITHM", "p2p"}}},
  };
  return all;
}

class Lost : public testing::TestWithParam<std::tuple<std::size_t, bool>> {
 protected:
  /// Runs `body(rank, meet)` on all ranks of a job. One of them ends and does not return from it. `meet` is
  /// the test's own barrier.
  void run(const std::function<void(int, const std::function<void()>&)>& body) const {
    const SharedWithForked<Meeting> meeting;
    std::vector<Forked> processes;
    for (int rank = 0; rank < ranks_; ++rank) {
      processes.emplace_back([&, rank] {
        for (const auto& [name, value] : algorithm_.settings) setenv(name, value, 1);
        Member member = {&*meeting, rank, ranks_};
        const rma_bootstrap_t given = {rank, ranks_, allgather, barrier, nullptr, &member};
        EXPECT_EQ(rma_init_with(&given), RMA_SUCCESS) << rma_last_error();
        if (rma_initialized() == 0) return false;
        body(rank, [&] { barrier(&member); });
        // rma_finalize must not wait for the lost rank: it returns at once, and the process may end.
        EXPECT_EQ(rma_finalize(), RMA_ERR_PEER_LOST) << rma_last_error();
        return true;
      });
    }
    for (int rank = 0; rank < ranks_; ++rank) {
      EXPECT_EQ(processes[static_cast<std::size_t>(rank)].ended_well(), rank != victim_) << "rank " << rank;
    }
  }

  /// Ends in the middle of the program, as by a signal.
  [[noreturn]] static void end() {
    kill(getpid(), SIGKILL);
    std::abort();
  }

  [[nodiscard]] std::vector<int> all() const {
    std::vector<int> result;
    for (int rank = 0; rank < ranks_; ++rank) result.push_back(rank);
    return result;
  }
  [[nodiscard]] std::vector<int> survivors() const {
    std::vector<int> result = all();
    result.erase(result.begin() + victim_);
    return result;
  }

  /// A rank that ends cannot be reached by the network, whether it leaves the job or not.
  void leave_together() const;
  /// The memory of a rank of this host stays when the rank has ended.
  [[nodiscard]] bool out_of_reach(int rank) const { return rank == victim_ && over_network(); }

  const Algorithm& algorithm_ = algorithms()[std::get<0>(GetParam())];
  const int ranks_ = algorithm_.ranks;
  const int victim_ = std::get<1>(GetParam()) ? 0 : ranks_ - 1;
};

#define EXPECT_LOST(call) EXPECT_EQ(call, RMA_ERR_PEER_LOST) << rma_last_error()
#define EXPECT_GOOD(call) EXPECT_EQ(call, RMA_SUCCESS) << rma_last_error()

rma_team_t team_of(const std::vector<int>& ranks) {
  rma_team_t team = nullptr;
  EXPECT_GOOD(rma_team_create(ranks.data(), static_cast<int>(ranks.size()), &team));
  return team;
}

void Lost::leave_together() const {
  rma_team_t left = team_of(survivors());
  EXPECT_GOOD(rma_barrier(left));
  EXPECT_GOOD(rma_team_free(&left));
}

TEST_P(Lost, EveryCallOfItsTeamFailsAndOthersMakeOneOfTheirOwn) {
  run([this](int rank, const auto& meet) {
    EXPECT_GOOD(rma_barrier(rma_team_world()));
    meet();
    if (rank == victim_) end();
    EXPECT_LOST(rma_barrier(rma_team_world()));
    EXPECT_LOST(rma_barrier(rma_team_world()));
    std::array<int, kMostRanks> each = {};
    EXPECT_LOST(rma_allgather(rma_team_world(), each.data(), &rank, sizeof rank));
    EXPECT_LOST(rma_broadcast(rma_team_world(), each.data(), sizeof each, 0));
    EXPECT_LOST(rma_allreduce(rma_team_world(), each.data(), &rank, 1, RMA_INT, RMA_SUM));
    rma_team_t team = nullptr;
    EXPECT_LOST(rma_team_split(rma_team_world(), 0, 0, &team));
    void* block = nullptr;
    EXPECT_LOST(rma_malloc(rma_team_world(), 64, 0, nullptr, &block));

    const std::vector<int> left = survivors();
    team = team_of(left);
    EXPECT_GOOD(rma_barrier(team));
    EXPECT_GOOD(rma_allgather(team, each.data(), &rank, sizeof rank));
    EXPECT_TRUE(std::equal(left.begin(), left.end(), each.begin()));
    EXPECT_GOOD(rma_team_free(&team));
  });
}

TEST_P(Lost, TheShortWaysLeaveTheAnswerToTheGeneralOne) {
  run([this](int rank, const auto& meet) {
    EXPECT_GOOD(rma_barrier(rma_team_world()));
    const rma_meeting_t meeting = rma_team_meeting(rma_team_world());
    EXPECT_EQ(meeting == nullptr, algorithm_.by_p2p() || over_network());
    meet();
    if (rank == victim_) end();
    if (meeting != nullptr) {
      long sum = 0;
      const rma_reducer_t reducer = {.combine = [](const void*, void*, std::size_t, void*) {},
                                     .context = nullptr,
                                     .element_bytes = sizeof sum,
                                     .commutes = 1};
      EXPECT_EQ(rma_try_barrier(meeting), 0);
      EXPECT_EQ(rma_try_allreduce(meeting, &sum, &sum, 1, &reducer), 0);
    }
    EXPECT_LOST(rma_barrier(rma_team_world()));
  });
}

TEST_P(Lost, ActiveMessagesToItFailAndOthersAreHandled) {
  run([this](int rank, const auto& meet) {
    static std::atomic<std::uint64_t> answers = 0;
    static int ask = -1;
    static int answer = -1;
    const auto reply = [](void*, rma_am_token_t* token, const rma_am_message_t*) {
      EXPECT_GOOD(rma_am_reply(token, answer, nullptr, 0));
    };
    const auto take = [](void*, rma_am_token_t*, const rma_am_message_t*) { ++answers; };
    EXPECT_GOOD(rma_am_register(take, nullptr, &answer));
    EXPECT_GOOD(rma_am_register(reply, nullptr, &ask));
    const auto ask_all = [](const std::vector<int>& ranks) {
      static std::uint64_t wanted = 0;
      wanted = answers + ranks.size();
      for (const int each : ranks) EXPECT_GOOD(rma_am_request(each, ask, nullptr, 0));
      EXPECT_GOOD(rma_am_wait([](void*) { return answers >= wanted ? 1 : 0; }, nullptr, -1));
    };
    ask_all(all());
    meet();
    if (rank == victim_) end();
    EXPECT_LOST(rma_am_wait([](void*) { return 0; }, nullptr, victim_));
    EXPECT_LOST(rma_am_request(victim_, ask, nullptr, 0));
    rma_team_t left = team_of(survivors());
    ask_all(survivors());
    // A rank that has all its answers may end only when nobody asks it any more.
    EXPECT_GOOD(rma_barrier(left));
    EXPECT_GOOD(rma_team_free(&left));
    EXPECT_LOST(rma_barrier(rma_team_world()));
  });
}

TEST_P(Lost, TheTextNamesIt) {
  run([this](int rank, const auto& /*meet*/) {
    if (rank == victim_) end();
    EXPECT_LOST(rma_barrier(rma_team_world()));
    const std::string text = rma_last_error();
    // The network does not know processes.
    const std::string name = "rank " + std::to_string(victim_) + (over_network() ? ", " : ", process ");
    EXPECT_NE(text.find(name), std::string::npos) << text;
  });
}

TEST_P(Lost, ATeamWithItIsNotMade) {
  run([this](int rank, const auto& /*meet*/) {
    if (rank == victim_) end();
    const std::vector<int> ranks = all();
    for (int attempt = 0; attempt < 2; ++attempt) {
      rma_team_t team = nullptr;
      EXPECT_LOST(rma_team_create(ranks.data(), ranks_, &team));
      EXPECT_EQ(team, nullptr);
    }
    rma_team_t left = team_of(survivors());
    EXPECT_GOOD(rma_team_free(&left));
  });
}

TEST_P(Lost, ItsTeamsCanBeFreed) {
  run([this](int rank, const auto& meet) {
    rma_team_t team = team_of(all());
    meet();
    if (rank == victim_) end();
    rma_team_t other = team;
    EXPECT_LOST(rma_team_free(&team));
    EXPECT_EQ(team, nullptr);
    EXPECT_EQ(rma_barrier(other), RMA_ERR_ARGUMENT) << "it is gone all the same";
  });
}

TEST_P(Lost, WhatItHeldStaysLockedAndIsNotWaitedFor) {
  run([this](int rank, const auto& meet) {
    rma_mutexes_t mutexes = nullptr;
    EXPECT_GOOD(rma_mutexes_create(rma_team_world(), 2, &mutexes));
    for (int owner = 0; rank == victim_ && owner < ranks_; ++owner) {
      EXPECT_GOOD(rma_lock(mutexes, 1, owner));
    }
    meet();
    if (rank == victim_) end();
    for (int owner = 0; owner < ranks_; ++owner) {
      if (out_of_reach(owner)) continue;  // or it will be in a moment
      EXPECT_GOOD(rma_lock(mutexes, 0, owner));
      EXPECT_GOOD(rma_unlock(mutexes, 0, owner));
    }
    const int another = survivors().front();
    for (const int owner : {victim_, another, another}) {
      EXPECT_LOST(rma_lock(mutexes, 1, owner));
      EXPECT_EQ(rma_unlock(mutexes, 1, owner), RMA_ERR_STATE);
    }
    EXPECT_LOST(rma_mutexes_destroy(&mutexes));
    leave_together();
  });
}

TEST_P(Lost, InsideAnAccumulateKeepsNobodyWaiting) {
  run([this](int rank, const auto& meet) {
    constexpr std::size_t kElements = std::size_t{1} << 15U;  // 16 stripes: a lock is nearly always held
    std::array<void*, kMostRanks> blocks = {};
    void* mine = nullptr;
    EXPECT_GOOD(rma_malloc(rma_team_world(), kElements * sizeof(long), 0, blocks.data(), &mine));
    const std::vector<long> ones(kElements, 1);
    const auto add_to = [&](int owner) {
      void* const block = blocks[static_cast<std::size_t>(owner)];
      return rma_acc(block, ones.data(), kElements, RMA_LONG, nullptr, owner);
    };
    meet();
    const int another = survivors().front();
    if (rank == victim_) {
      std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        end();
      }).detach();
      for (;;) EXPECT_GOOD(add_to(another));
    }
    EXPECT_LOST(rma_barrier(rma_team_world()));
    EXPECT_GOOD(add_to(another));
    rma_status_t status = add_to(victim_);
    if (status == RMA_SUCCESS) status = rma_fence(victim_);
    EXPECT_EQ(status, out_of_reach(victim_) ? RMA_ERR_PEER_LOST : RMA_SUCCESS) << rma_last_error();
    leave_together();
  });
}

TEST_P(Lost, InTheMiddleOfCollectives) {
  // In shared memory all calls have the same result on the others: the last call in which the lost rank took
  // part is the last that succeeds. By point-to-point messages, the others must have left that call when the
  // rank ends.
  static constexpr int kCalls = 20;
  run([this](int rank, const auto& meet) {
    std::array<long, 4096> mine = {};
    std::array<long, 4096> sum = {};
    int good = 0;
    for (int call = 0; call < 2 * kCalls; ++call) {
      if (call == kCalls && (algorithm_.by_p2p() || over_network())) meet();
      if (call == kCalls && rank == victim_) end();
      mine.fill(call);
      const rma_status_t status =
          rma_allreduce(rma_team_world(), sum.data(), mine.data(), mine.size(), RMA_LONG, RMA_SUM);
      if (status != RMA_SUCCESS) {
        EXPECT_EQ(status, RMA_ERR_PEER_LOST) << rma_last_error();
        continue;
      }
      ++good;
      EXPECT_EQ(std::count(sum.begin(), sum.end(), long{call} * ranks_),
                static_cast<std::ptrdiff_t>(sum.size()));
    }
    EXPECT_EQ(good, kCalls);
  });
}

TEST_P(Lost, InTheMiddleOfLongMessages) {
  // Each collective has a team of its own, because a team that has failed stays so. Other members wait for
  // the lost one, for members that have given up, or for one of these to take what they send.
  static constexpr std::size_t kLongs = std::size_t{1} << 17;
  run([this](int rank, const auto& meet) {
    std::array<rma_team_t, 4> teams = {};
    for (rma_team_t& team : teams) team = team_of(all());
    std::vector<long> mine(kLongs, rank);
    std::vector<long> theirs(kLongs * kMostRanks);
    meet();
    if (rank == victim_) end();
    for (std::size_t what = 0; what < teams.size(); ++what) {
      rma_team_t team = teams[what];
      rma_status_t status = RMA_SUCCESS;
      if (what == 0) status = rma_broadcast(team, mine.data(), kLongs * sizeof(long), ranks_ / 2);
      if (what == 1)
        status = rma_reduce(team, theirs.data(), mine.data(), kLongs, RMA_LONG, RMA_SUM, ranks_ / 2);
      if (what == 2) status = rma_allreduce(team, theirs.data(), mine.data(), kLongs, RMA_LONG, RMA_SUM);
      if (what == 3) status = rma_allgather(team, theirs.data(), mine.data(), kLongs * sizeof(long));
      // A member that needs nothing of the lost one may succeed.
      if (status == RMA_SUCCESS) status = rma_barrier(team);
      EXPECT_EQ(status, RMA_ERR_PEER_LOST) << what << ": " << rma_last_error();
      EXPECT_LOST(rma_team_free(&team));
    }
    leave_together();
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, Lost,
                         testing::Combine(testing::Range(std::size_t{0}, algorithms().size()),
                                          testing::Bool()),
                         [](const auto& each) {
                           return std::string(algorithms()[std::get<0>(each.param)].name) +
                                  (std::get<1>(each.param) ? "First" : "Last");
                         });

}  // namespace
