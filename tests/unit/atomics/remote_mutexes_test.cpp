#include "atomics/remote_mutexes.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>

#include "../helper_thread/helper_world.hpp"
#include "atomics/mutexes.hpp"

namespace librma {
namespace {

/// Rank 1 has mutexes, and the others request them. No rank waits for an answer.
class RemoteMutex : public HelperWorld {
 protected:
  void SetUp() override {
    settings.peer_timeout = 1;  // a waiter looks four times in it
    open(3);
    for (int rank = 0; rank < 3; ++rank) {
      sets.at(static_cast<std::size_t>(rank))
          .emplace(rank, 3, settings, *at(rank).pending, *at(rank).network, channel(rank), client(rank),
                   server(rank),
                   [this, rank](std::uint64_t holder) { return rank == 1 && ended.contains(holder); });
    }
    sets[1]->add(mutexes.data(), mutexes.size());
    start();
  }
  std::shared_ptr<Outcome> ask_for(RequestKind kind, int rank, const TicketMutex& mutex) {
    const std::array<std::uint64_t, 3> body = {address(mutex), who(rank), 7};
    auto outcome = ask(rank, 1, kind, bytes_of_wire(body), kind == RequestKind::lock ? 8 : 0);
    EXPECT_TRUE(settle());
    return outcome;
  }
  static std::uintptr_t address(const TicketMutex& mutex) { return reinterpret_cast<std::uintptr_t>(&mutex); }
  static std::uint64_t who(int rank) { return (static_cast<std::uint64_t>(rank) + 1) << 32U; }
  /// Rank 2 waits for a mutex, whose holder is lost.
  void expect_lost(const TicketMutex& mutex, std::string_view word) {
    const Status status = sets[2]->lock(address(mutex), 1, who(2));
    EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
    EXPECT_NE(status.text().find(word), std::string_view::npos) << status.text();
  }

  std::set<std::uint64_t> ended;  ///< the holders on the owner's host that have ended, or 0
  std::array<TicketMutex, 3> mutexes = {};
  std::array<std::optional<RemoteMutexes>, 3> sets;
};

TEST_F(RemoteMutex, ThatIsGivenToALostRankGoesToTheNext) {
  ask_for(RequestKind::lock, 0, mutexes[1]);
  ask_for(RequestKind::lock, 2, mutexes[1]);
  channel(1).fail(2);
  ASSERT_TRUE(settle());
  EXPECT_EQ(mutexes[1].serving.load(), 0U);
  EXPECT_EQ(ask_for(RequestKind::unlock, 0, mutexes[1])->status, RMA_SUCCESS);
  EXPECT_EQ(mutexes[1].serving.load(), 2U);
}

TEST_F(RemoteMutex, ThatIsDestroyedIsNotTouchedWhenThoseWhoWaitedAreLost) {
  for (TicketMutex& mutex : mutexes) {
    ask_for(RequestKind::lock, 0, mutex);
    ask_for(RequestKind::lock, 2, mutex);
  }
  sets[1]->remove(mutexes.data());
  for (TicketMutex& mutex : mutexes) mutex.serving.store(1);  // other data by now
  channel(1).fail(2);
  ASSERT_TRUE(settle());
  for (const TicketMutex& mutex : mutexes) EXPECT_EQ(mutex.serving.load(), 1U);
  EXPECT_EQ(ask_for(RequestKind::unlock, 0, mutexes[0])->status, RMA_ERR_ADDRESS);
}

TEST_F(RemoteMutex, IsNotWaitedForIfItsHolderIsLost) {
  ask_for(RequestKind::lock, 0, mutexes[1]);
  at(2).endpoint->set_faults({.lost = 0});
  expect_lost(mutexes[1], "rank 0 holds it");
  expect_lost(mutexes[1], "rank 0 holds it");
  // Only rank 2 could not reach the holder. What it has left in the line keeps nobody waiting.
  EXPECT_EQ(ask_for(RequestKind::unlock, 0, mutexes[1])->status, RMA_SUCCESS);
  EXPECT_TRUE(mutexes[1].idle());
  EXPECT_TRUE(sets[2]->lock(address(mutexes[1]), 1, who(2)).ok());
}

TEST_F(RemoteMutex, IsNotWaitedForIfItsOwnerHasLostTheHolder) {
  ask_for(RequestKind::lock, 0, mutexes[1]);
  channel(1).fail(0);
  expect_lost(mutexes[1], "rank 0");
}

TEST_F(RemoteMutex, IsNotWaitedForIfAProcessOfItsHostHasEnded) {
  mutexes[1].next = 1;
  mutexes[1].holder = who(1) + 5;
  ended.insert(who(1) + 5);
  expect_lost(mutexes[1], "rank 1");
  // A process has ended whose turn it was.
  mutexes[2].next = 1;
  ended.insert(0);
  expect_lost(mutexes[2], "turn");
}

TEST_F(RemoteMutex, IsGivenToThoseBehindTicketsThatLocalThreadsHaveLeft) {
  ask_for(RequestKind::lock, 0, mutexes[1]);
  const std::uint32_t first = mutexes[1].next++;
  const std::uint32_t second = mutexes[1].next++;
  EXPECT_TRUE(sets[1]->leave(address(mutexes[1]), 1, second).ok());
  EXPECT_TRUE(sets[1]->leave(address(mutexes[1]), 1, first).ok());
  EXPECT_EQ(ask_for(RequestKind::unlock, 0, mutexes[1])->status, RMA_SUCCESS);
  EXPECT_TRUE(mutexes[1].idle());
  EXPECT_EQ(mutexes[1].remote.load(), 0U);
  // The turn may have come already.
  EXPECT_TRUE(sets[1]->leave(address(mutexes[1]), 1, mutexes[1].next++).ok());
  EXPECT_TRUE(mutexes[1].idle());
}

TEST_F(RemoteMutex, KeepsTheTicketsOfOthersInLine) {
  for (const int rank : {0, 2, 0}) ask_for(RequestKind::lock, rank, mutexes[1]);
  LeaveRequest request = {.mutex = {.address = address(mutexes[1]), .who = who(2)}, .holder = who(0)};
  const auto left = [&] {
    const auto outcome = ask(2, 1, RequestKind::leave, bytes_of_wire(request), sizeof(LeaveAnswer));
    EXPECT_TRUE(settle());
    EXPECT_EQ(outcome->status, RMA_SUCCESS);
    LeaveAnswer answer;
    if (outcome->body.size() == sizeof answer) std::memcpy(&answer, outcome->body.data(), sizeof answer);
    return answer.left;
  };
  request.ticket = 2;
  EXPECT_EQ(left(), 0U) << "a ticket of another rank";
  request.ticket = 1;
  request.holder = who(2);
  EXPECT_EQ(left(), 0U) << "another holder";
  request.holder = who(0);
  request.serving = 1;
  EXPECT_EQ(left(), 0U) << "another turn";
  request.serving = 0;
  EXPECT_EQ(left(), 1U);
  ask_for(RequestKind::unlock, 0, mutexes[1]);
  EXPECT_EQ(mutexes[1].serving.load(), 2U);
  EXPECT_EQ(mutexes[1].holder.load(), who(0));
}

}  // namespace
}  // namespace librma
