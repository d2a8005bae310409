#include "atomics/remote_mutexes.hpp"

#include <array>
#include <optional>

#include "../helper_thread/helper_world.hpp"
#include "atomics/mutexes.hpp"

namespace rma {
namespace {

/// Rank 1 has mutexes, and the others request them. No rank waits for an answer.
class RemoteMutex : public HelperWorld {
 protected:
  void SetUp() override {
    open(3);
    for (int rank = 0; rank < 3; ++rank) {
      sets.at(static_cast<std::size_t>(rank))
          .emplace(rank, settings, *at(rank).pending, *at(rank).network, channel(rank), client(rank),
                   server(rank));
    }
    sets[1]->add(mutexes.data(), mutexes.size());
    start();
  }
  std::shared_ptr<Outcome> ask_for(RequestKind kind, int rank, const TicketMutex& mutex) {
    const std::array<std::uint64_t, 3> body = {reinterpret_cast<std::uintptr_t>(&mutex),
                                               (static_cast<std::uint64_t>(rank) + 1) << 32U, 7};
    auto outcome = ask(rank, 1, kind, bytes_of_wire(body), kind == RequestKind::lock ? 8 : 0);
    EXPECT_TRUE(settle());
    return outcome;
  }

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

}  // namespace
}  // namespace rma
