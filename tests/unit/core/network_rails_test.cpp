// Failing rails, and the order of arrival.

#include "core/network/keyed_transfers.hpp"
#include "fabric/rail_match.hpp"
#include "network_world.hpp"

namespace librma {
namespace {

class NetworkRails : public NetworkWorld {
 protected:
  /// Connects both rails by a divided transfer.
  void open_and_use_both() {
    open(2);
    ASSERT_TRUE(put(0, own.data(), 2 * kExtent).ok());
    ASSERT_GT(rails[1]->done(), 0U);
  }
};

TEST_F(NetworkRails, ASmallPutIsThereBeforeADividedOneToTheSamePlace) {
  open_and_use_both();
  std::fill_n(outside.data(), 300, std::byte{0xee});
  for (const std::size_t small : {std::size_t{8}, std::size_t{200}}) {
    fill(own.data(), kExtent, static_cast<unsigned>(small));
    rails[0]->do_at_most(0);  // the first rail is slow
    ASSERT_TRUE(put(0, outside.data(), small).ok());
    ASSERT_TRUE(put(kExtent - small, outside.data(), small).ok());
    EXPECT_EQ(rails[0]->waiting(), 2U);
    rails[0]->do_at_most(1);
    ASSERT_TRUE(put(0, own.data(), kExtent).ok());
    EXPECT_TRUE(same(theirs.data(), own.data(), kExtent)) << small;
  }
}

TEST_F(NetworkRails, AGetSeesThePutsBefore) {
  open_and_use_both();
  std::byte back[200] = {};
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{200}}) {
    rails[0]->do_at_most(0);
    fill(outside.data(), bytes, 17);
    ASSERT_TRUE(put(0, outside.data(), bytes).ok());
    rails[0]->do_at_most(1);
    ASSERT_TRUE(get(back, 0, bytes).ok());
    EXPECT_TRUE(same(back, outside.data(), bytes));
    ASSERT_TRUE(put(0, outside.data() + 1, bytes).ok());
    ASSERT_TRUE(get(own.data(), 0, kExtent).ok()) << "divided";
    EXPECT_TRUE(same(own.data(), outside.data() + 1, bytes));
  }
}

// As messages between hosts use them. A handler of a message starts them, so it cannot connect the second
// rail.
TEST_F(NetworkRails, KeyedTransfersAreDividedWhenAllRailsAreConnected) {
  open(2);
  ASSERT_TRUE(put(0, own.data(), 8).ok());
  KeyedTransfers& transfers = network->keyed_transfers();
  ASSERT_TRUE(transfers.connected(1));
  for (const bool both : {false, true}) {
    EXPECT_TRUE(transfers.wants_rails(1, kExtent));
    EXPECT_FALSE(transfers.wants_rails(1, settings.stripe_bytes - 1)) << "not worth dividing";
    if (both) {
      transfers.connect_rails(1);
      EXPECT_FALSE(transfers.wants_rails(1, kExtent));
    }
    fill(theirs.data() + kUser, kExtent, both ? 5 : 6);
    const auto memory = transfers.prepare(own.data(), kExtent, true);
    ASSERT_TRUE(memory.ok());
    const rma_request_t operation = pending.open(1);
    ASSERT_TRUE(transfers
                    .start(transport::Direction::read, 1,
                           reinterpret_cast<std::uintptr_t>(theirs.data() + kUser), user.remote, own.data(),
                           kExtent, memory.value(), operation)
                    .ok());
    pending.detach(operation);
    ASSERT_TRUE(pending.wait(operation).ok());
    EXPECT_TRUE(same(theirs.data() + kUser, own.data(), kExtent));
    EXPECT_EQ(rails[1]->done() > 0, both);
  }
}

TEST_F(NetworkRails, TheOtherRailTakesOverTheShareOfOneThatFails) {
  open_and_use_both();
  const std::uint64_t failovers = counted(Counter::rail_failover);
  fill(own.data(), 2 * kExtent, 8);
  for (SlowRail* const rail : rails) rail->do_at_most(2);
  rails[1]->break_after(3);
  const Status status = put(0, own.data(), 2 * kExtent);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_TRUE(pending.fence(1).ok()) << "nothing was lost";
  EXPECT_TRUE(same(theirs.data(), own.data(), 2 * kExtent));
  EXPECT_GT(counted(Counter::rail_failover), failovers);
  fill(own.data(), 2 * kExtent, 9);
  ASSERT_TRUE(put(0, own.data(), 2 * kExtent).ok()) << "by the other rail alone";
  EXPECT_TRUE(same(theirs.data(), own.data(), 2 * kExtent));
  std::fill_n(own.data(), 2 * kExtent, std::byte{0});
  ASSERT_TRUE(get(own.data(), 0, 2 * kExtent).ok());
  EXPECT_TRUE(same(theirs.data(), own.data(), 2 * kExtent));
}

TEST_F(NetworkRails, TheFirstRailsWorkGoesOnOverTheSecond) {
  open_and_use_both();
  fill(own.data(), 2 * kExtent, 8);
  rails[0]->break_after(2);
  ASSERT_TRUE(put(0, own.data(), 2 * kExtent).ok());
  EXPECT_TRUE(same(theirs.data(), own.data(), 2 * kExtent));
  EXPECT_TRUE(pending.fence(1).ok());
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{200}, std::size_t{9000}}) {
    fill(own.data(), bytes, 33);
    ASSERT_TRUE(put(0, own.data(), bytes).ok());
    ASSERT_TRUE(pending.fence(1).ok());
    EXPECT_TRUE(same(theirs.data(), own.data(), bytes));
  }
  auto* const word = reinterpret_cast<std::uint64_t*>(theirs.data());
  EXPECT_EQ(network->words().atomic(RMA_FETCH_ADD, word, 1, 0, 1).status().code(), RMA_ERR_PEER_LOST)
      << "atomics are the first rail's: those of two devices do not see each other";
}

TEST_F(NetworkRails, AGetOnItsWayIsTakenOver) {
  open_and_use_both();
  fill(theirs.data(), kExtent, 21);
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{9000}}) {
    if (bytes == 100) rails[0]->break_after(0);
    const Status status = get(outside.data(), 0, bytes);
    ASSERT_TRUE(status.ok()) << status.text();
    EXPECT_TRUE(same(theirs.data(), outside.data(), bytes));
  }
  EXPECT_TRUE(pending.fence(1).ok());
}

TEST_F(NetworkRails, APutThatIsLostAfterItReturnedFailsTheNextFenceOnce) {
  open_and_use_both();
  rails[0]->do_at_most(0);
  ASSERT_TRUE(put(0, outside.data(), 8).ok());
  ASSERT_TRUE(put(300, outside.data(), 200).ok());
  rails[0]->break_after(0);
  const Status first = pending.fence(1);
  EXPECT_EQ(first.code(), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(pending.fence(1).ok());
  ASSERT_TRUE(put(0, outside.data(), 8).ok()) << "by the other rail";
  EXPECT_TRUE(pending.fence(1).ok());
}

TEST_F(NetworkRails, AFlagDoesNotOvertakeDataThatIsLost) {
  open_and_use_both();
  // The flag lies in memory that the user registered. So a lookup over the network comes before the flag, and
  // notices the failure in the middle of the call.
  auto* const flag = reinterpret_cast<std::uint64_t*>(theirs.data() + kUser);
  ASSERT_TRUE(network->words().put_flag(flag, 1, 1).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  EXPECT_EQ(*flag, 1U);
  rails[0]->do_at_most(0);
  fill(outside.data(), 16, 1);
  ASSERT_TRUE(put(0, outside.data(), 16).ok());
  rails[0]->break_after(0);
  const Status told = network->words().put_flag(flag, 2, 1);
  const Status fenced = pending.fence(1);
  EXPECT_TRUE(told.code() == RMA_ERR_PEER_LOST || fenced.code() == RMA_ERR_PEER_LOST);
  EXPECT_EQ(*flag, 1U) << "the data is not there";
  ASSERT_TRUE(put(0, outside.data(), 16).ok());
  ASSERT_TRUE(network->words().put_flag(flag, 3, 1).ok());
  ASSERT_TRUE(pending.fence(1).ok());
  EXPECT_EQ(*flag, 3U);
  EXPECT_TRUE(same(theirs.data(), outside.data(), 16));
}

TEST_F(NetworkRails, WithoutAnyRailTheRankIsLostAndNothingHangs) {
  open_and_use_both();
  for (SlowRail* const rail : rails) rail->do_at_most(2);
  rails[0]->break_after(2);
  rails[1]->break_after(1);
  EXPECT_EQ(put(0, own.data(), 2 * kExtent).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(put(0, own.data(), 8).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(put(0, outside.data(), 200).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(put(0, outside.data(), 2 * kExtent).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(get(own.data(), 0, 8).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(network->words().put_flag(reinterpret_cast<std::uint64_t*>(theirs.data()), 1, 1).code(),
            RMA_ERR_PEER_LOST);
  EXPECT_EQ(network->probe(1).code(), RMA_ERR_PEER_LOST);
  static_cast<void>(pending.fence(1).ok());
  EXPECT_TRUE(pending.fence(1).ok()) << "what was lost has been told";
  EXPECT_TRUE(pending.fence_all().ok());
}

TEST_F(NetworkRails, ARankThatIsGivenUpLeavesNothingBehind) {
  open_and_use_both();
  for (SlowRail* const rail : rails) rail->do_at_most(0);
  for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(leave_put(i * 20000, own.data(), 20000).ok());
  const std::uint64_t lost = counted(Counter::peer_lost);
  network->give_up(1);
  network->give_up(1);
  EXPECT_EQ(counted(Counter::peer_lost) - lost, 1U);
  EXPECT_EQ(pending.fence(1).code(), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(pending.fence(1).ok());
}

TEST_F(NetworkRails, ARankAnswersAProbe) {
  open(1);
  EXPECT_TRUE(network->probe(1).ok());
  rails[0]->break_after(0);
  EXPECT_EQ(network->probe(1).code(), RMA_ERR_PEER_LOST);
}

/// Checks the rank's memory after a small put and a divided one, and after gets.
class NetworkRailPairs : public NetworkWorld {
 protected:
  void expect_transfers() {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{200}, 2 * kExtent}) {
      fill(own.data(), bytes, static_cast<unsigned>(bytes));
      const Status status = put(0, own.data(), bytes);
      ASSERT_TRUE(status.ok()) << status.text();
      ASSERT_TRUE(pending.fence(1).ok());
      EXPECT_TRUE(same(theirs.data(), own.data(), bytes));
      std::fill_n(own.data(), bytes, std::byte{0});
      ASSERT_TRUE(get(own.data(), 0, bytes).ok());
      EXPECT_TRUE(same(theirs.data(), own.data(), bytes));
    }
  }
  Result<std::uint64_t> add_one() {
    return network->words().atomic(RMA_FETCH_ADD, reinterpret_cast<std::uint64_t*>(theirs.data()), 1, 0, 1);
  }
};

TEST_F(NetworkRailPairs, AreOfOneNameAndNotOfOneNumber) {
  open_ports({0, 1, 2}, {2, 0, 1});
  expect_transfers();
  for (SlowRail* const rail : rails) EXPECT_GT(rail->done(), 0U);
  const std::uint64_t before = rails[2]->done();
  ASSERT_TRUE(add_one().ok());
  EXPECT_EQ(rails[2]->done(), before + 1) << "the rank's first device executes all atomics on its words";
}

TEST_F(NetworkRailPairs, LeaveOutAPortThatIsDownOnTheOtherSide) {
  open_ports({0, 1}, {1});
  expect_transfers();
  EXPECT_TRUE(add_one().ok());
  EXPECT_EQ(rails[0]->done(), 0U);
  EXPECT_TRUE(network->words().put_flag(reinterpret_cast<std::uint64_t*>(theirs.data()), 1, 1).ok());
}

TEST_F(NetworkRailPairs, LeaveOutAPortThatIsDownHere) {
  open_ports({1}, {0, 1});
  expect_transfers();
  const auto added = add_one();
  EXPECT_EQ(added.status().code(), RMA_ERR_UNSUPPORTED) << "the rank's first device is out of reach";
}

TEST_F(NetworkRailPairs, AnotherAnswersWhereTheFirstDoesNot) {
  open(2);
  rails[0]->connect_to_nobody();
  expect_transfers();
  EXPECT_EQ(rails[0]->done(), 0U);
  EXPECT_EQ(add_one().status().code(), RMA_ERR_PEER_LOST);
}

TEST_F(NetworkRailPairs, ARankThatAnswersOnNoneIsLost) {
  open(2);
  for (SlowRail* const rail : rails) rail->connect_to_nobody();
  EXPECT_EQ(put(0, own.data(), 8).code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(put(0, own.data(), 8).code(), RMA_ERR_PEER_LOST);
}

TEST(RailMatch, PairsWhatIsLeftInItsOrder) {
  const std::vector<std::string> mine = {"a", "b", "c"};
  const std::vector<std::string> theirs = {"c", "x"};
  const RailMatch here(mine, theirs);
  const RailMatch there(theirs, mine);
  EXPECT_EQ(here.theirs(0), 1U);
  EXPECT_FALSE(here.has(1));
  EXPECT_EQ(here.theirs(2), 0U);
  EXPECT_EQ(there.theirs(0), 2U);
  EXPECT_EQ(there.theirs(1), 0U);
  EXPECT_EQ(here.mine(0), 2U);
  EXPECT_EQ(here.mine(2), kMaxRails);
  EXPECT_EQ(here.by_mine({10, 11, 12, 13}), (RailKeys{11, 0, 10, 0}));
}

TEST(RailMatch, PairsRailsOfOneNameOnce) {
  const std::vector<std::string> same = {"a", "a"};
  const RailMatch match(same, same);
  EXPECT_EQ(match.theirs(0), 0U);
  EXPECT_EQ(match.theirs(1), 1U);
}

TEST(ReceiveCount, GrowsWithTheLogarithmOfTheRanks) {
  EXPECT_EQ(receive_count(1, 8, 16), 16U);
  EXPECT_EQ(receive_count(2, 8, 16), 24U);
  EXPECT_EQ(receive_count(3, 8, 16), 32U) << "rounded up";
  EXPECT_EQ(receive_count(4, 8, 16), 32U);
  EXPECT_EQ(receive_count(5, 8, 16), 40U);
  EXPECT_EQ(receive_count(1024, 8, 16), 96U);
  EXPECT_EQ(receive_count(1024, 0, 5), 5U);
}

}  // namespace
}  // namespace librma
