#include <functional>
#include <limits>

#include "loopback_pair.hpp"

namespace librma::transport {
namespace {

class LoopbackFault : public LoopbackPair {};

TEST_F(LoopbackFault, RegistrationsRunOut) {
  mine_end->set_faults({.registrations = 2});
  const auto one = mine_end->register_memory(mine.data(), 1);
  const auto two = mine_end->register_memory(mine.data(), 1);
  const auto three = mine_end->register_memory(mine.data(), 1);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one.value().local, two.value().local);
  ASSERT_FALSE(three.ok());
  EXPECT_EQ(three.status().code(), RMA_ERR_NO_MEMORY);
}

TEST_F(LoopbackFault, TheKthPostFailsAndMovesNothing) {
  mine_end->set_faults({.failing_post = 3, .failing_status = RMA_ERR_PEER_LOST});
  for (Cookie cookie = 1; cookie <= 4; ++cookie) {
    theirs.fill(std::byte{0});
    // The failure is also reported for an unsignaled post.
    ASSERT_EQ(write(8, cookie, {.unsignaled = cookie == 3}), RMA_SUCCESS);
    EXPECT_EQ(outcome(*mine_end, cookie), cookie == 3 ? RMA_ERR_PEER_LOST : RMA_SUCCESS);
    EXPECT_EQ(theirs[0] == std::byte{0}, cookie == 3);
  }
}

TEST_F(LoopbackFault, AFailingReadOrAtomicMovesNothing) {
  const auto mine_before = mine;
  theirs.fill(std::byte{0});
  mine_end->set_faults({.failing_post = 1});
  ASSERT_EQ(read(8, 1), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 1), RMA_ERR_SYSTEM);
  mine_end->set_faults({.failing_post = 1});
  ASSERT_EQ(mine_end->post_atomic(1, RMA_FETCH_ADD, remote(0), 5, 0, local(0, 8), 2), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 2), RMA_ERR_SYSTEM);
  EXPECT_EQ(mine, mine_before);
  EXPECT_EQ(theirs, (std::array<std::byte, kBytes>{}));
}

TEST_F(LoopbackFault, RefusalsLastForTheirNumberOrUntilAPoll) {
  mine_end->set_faults({.refused_posts = 2});
  EXPECT_EQ(write(1, 1), RMA_ERR_STATE);
  EXPECT_EQ(write(1, 2), RMA_ERR_STATE);
  EXPECT_EQ(write(1, 3), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 3), RMA_SUCCESS);
  mine_end->set_faults({.refused_posts = 1000});
  EXPECT_EQ(write(1, 4), RMA_ERR_STATE);
  EXPECT_TRUE(poll(*mine_end).empty());
  EXPECT_EQ(write(1, 5), RMA_SUCCESS);
}

TEST_F(LoopbackFault, ADelayedCompletionTakesThatManyPolls) {
  mine_end->set_faults({.delay = 3});
  ASSERT_EQ(write(8, 1), RMA_SUCCESS);
  mine_end->set_faults({});
  ASSERT_EQ(write(8, 2), RMA_SUCCESS);
  EXPECT_EQ(cookies(poll(*mine_end)), (std::vector<Cookie>{2}));
  EXPECT_TRUE(poll(*mine_end).empty());
  EXPECT_TRUE(poll(*mine_end).empty());
  EXPECT_EQ(cookies(poll(*mine_end)), (std::vector<Cookie>{1}));
}

TEST_F(LoopbackFault, ALostPeerIsLostAndOthersAreNot) {
  ASSERT_TRUE(mine_end->connect(2, their_end->card()).ok());
  mine_end->set_faults({.lost = 1});
  EXPECT_EQ(write(1, 1), RMA_ERR_PEER_LOST);
  EXPECT_EQ(read(1, 2), RMA_ERR_PEER_LOST);
  const Local piece = local(0, 1);
  EXPECT_EQ(mine_end->messages().post_message(1, {&piece, 1}, 3, {}), RMA_ERR_PEER_LOST);
  EXPECT_EQ(mine_end->post_atomic(1, RMA_FETCH_ADD, remote(0), 1, 0, local(0, 8), 4), RMA_ERR_PEER_LOST);
  EXPECT_EQ(mine_end->post_write(2, remote(0), {&piece, 1}, 5, {}), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 5), RMA_SUCCESS);
}

TEST_F(LoopbackFault, APeerThatIsClosedOrWasNeverConnectedIsLost) {
  const Local piece = local(0, 1);
  EXPECT_EQ(mine_end->post_write(7, remote(0), {&piece, 1}, 1, {}), RMA_ERR_PEER_LOST);
  const std::vector<std::byte> card(their_end->card().begin(), their_end->card().end());
  their_end.reset();
  EXPECT_EQ(write(1, 2), RMA_ERR_PEER_LOST);
  EXPECT_EQ(mine_end->connect(1, card).code(), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(poll(*mine_end).empty());
}

TEST_F(LoopbackFault, ACardOfAnotherSizeIsRefused) {
  const std::vector<std::byte> card(5);
  EXPECT_EQ(mine_end->connect(1, card).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(mine_end->connect(1, {}).code(), RMA_ERR_LAUNCH);
}

TEST_F(LoopbackFault, BadKeysAndRangesAreErrorCompletions) {
  const auto theirs_before = theirs;
  const auto wrote = [this](Local from, Remote to) {
    EXPECT_EQ(mine_end->post_write(1, to, {&from, 1}, 1, {}), RMA_SUCCESS);
    return outcome(*mine_end, 1);
  };
  const auto got = [this](Local to, Remote from) {
    EXPECT_EQ(mine_end->post_read(1, {&to, 1}, from, 2, {}), RMA_SUCCESS);
    return outcome(*mine_end, 2);
  };
  const Local good = local(0, 8);
  const Local bad_key = {.address = good.address, .bytes = 8, .key = 1234};
  const Remote far_key = {.address = their_registration.base, .key = 1234};
  const Remote wraps = {.address = std::numeric_limits<std::uintptr_t>::max() - 3,
                        .key = their_registration.remote};
  for (const auto& move :
       {std::function<rma_status_t(Local, Remote)>(wrote), std::function<rma_status_t(Local, Remote)>(got)}) {
    EXPECT_EQ(move(bad_key, remote(0)), RMA_ERR_ADDRESS);
    EXPECT_EQ(move(good, far_key), RMA_ERR_ADDRESS);
    EXPECT_EQ(move(good, remote(kBytes - 7)), RMA_ERR_ADDRESS) << "one byte past the end";
    EXPECT_EQ(move(good, {.address = their_registration.base - 1, .key = their_registration.remote}),
              RMA_ERR_ADDRESS);
    EXPECT_EQ(move(good, wraps), RMA_ERR_ADDRESS);
    EXPECT_EQ(move(local(kBytes - 7, 8), remote(0)), RMA_ERR_ADDRESS);
  }
  EXPECT_EQ(theirs, theirs_before);
  EXPECT_EQ(wrote(good, remote(kBytes - 8)), RMA_SUCCESS) << "up to the end";
  their_end->deregister_memory(their_registration);
  EXPECT_EQ(wrote(good, remote(0)), RMA_ERR_ADDRESS);
}

}  // namespace
}  // namespace librma::transport
