#include <algorithm>
#include <cstring>
#include <numeric>

#include "loopback_pair.hpp"

namespace librma::transport {
namespace {

class Loopback : public LoopbackPair {};

TEST_F(Loopback, AWriteGathersIntoThePeersMemory) {
  const std::array<Local, 2> pieces = {local(3, 5), local(20, 7)};
  ASSERT_EQ(mine_end->post_write(1, remote(10), pieces, 77, {}), RMA_SUCCESS);
  const auto completions = poll(*mine_end);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].cookie, 77U);
  EXPECT_EQ(completions[0].peer, 1);
  EXPECT_EQ(completions[0].status, RMA_SUCCESS);
  std::array<std::byte, kBytes> expected = {};
  std::copy_n(&mine[3], 5, &expected[10]);
  std::copy_n(&mine[20], 7, &expected[15]);
  EXPECT_EQ(theirs, expected);
}

TEST_F(Loopback, AReadScattersFromThePeersMemory) {
  for (std::size_t i = 0; i < kBytes; ++i) theirs[i] = static_cast<std::byte>(200 - i);
  auto expected = mine;
  std::copy_n(&theirs[4], 6, &expected[30]);
  std::copy_n(&theirs[10], 2, &expected[0]);
  const std::array<Local, 2> pieces = {local(30, 6), local(0, 2)};
  ASSERT_EQ(mine_end->post_read(1, pieces, remote(4), 78, {}), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 78), RMA_SUCCESS);
  EXPECT_EQ(mine, expected);
}

TEST_F(Loopback, CompletionsComeInTheOrderOfPostingAsManyAsThereIsRoomFor) {
  for (const Cookie cookie : {5U, 3U, 9U}) ASSERT_EQ(write(1, cookie), RMA_SUCCESS);
  EXPECT_EQ(cookies(poll(*mine_end, 2)), (std::vector<Cookie>{5, 3}));
  EXPECT_EQ(cookies(poll(*mine_end, 2)), (std::vector<Cookie>{9}));
  EXPECT_TRUE(poll(*mine_end, 2).empty());
  EXPECT_EQ(mine_end->posts(), 3U);
}

TEST_F(Loopback, WithASeedTheyComeInAnotherOrderThatRepeats) {
  constexpr Limits kWide = {.max_message = 8, .max_gather = 1, .max_inline = 0, .max_outstanding = 32};
  std::vector<Cookie> posted(32);
  std::iota(posted.begin(), posted.end(), Cookie{0});
  const auto order = [&](std::uint64_t seed) {
    LoopbackFabric shuffled(seed);
    const auto one = shuffled.open(0, kWide, LoopbackKeys::ignored);
    EXPECT_TRUE(one->connect(0, one->card()).ok());
    const Local piece = {.address = mine.data(), .bytes = 1, .key = 0};
    for (const Cookie cookie : posted) {
      EXPECT_EQ(one->post_write(0, {.address = reinterpret_cast<std::uintptr_t>(theirs.data()), .key = 0},
                                {&piece, 1}, cookie, {}),
                RMA_SUCCESS);
    }
    return cookies(poll(*one, 64));
  };
  const auto first = order(1);
  EXPECT_NE(first, posted);
  EXPECT_NE(first, order(2));
  EXPECT_EQ(first, order(1));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, posted);
}

TEST_F(Loopback, WhatExceedsALimitIsRefusedAndHasNoCompletion) {
  EXPECT_EQ(write(kLimits.max_message, 1), RMA_SUCCESS);
  EXPECT_EQ(write(kLimits.max_message + 1, 2), RMA_ERR_SIZE);
  EXPECT_EQ(read(kLimits.max_message + 1, 3), RMA_ERR_SIZE);
  EXPECT_EQ(write(kLimits.max_inline + 1, 4, {.inline_data = true}), RMA_ERR_SIZE);
  const std::array<Local, 3> pieces = {local(0, 1), local(1, 1), local(2, 1)};
  EXPECT_EQ(mine_end->post_write(1, remote(0), pieces, 5, {}), RMA_ERR_ARGUMENT);
  EXPECT_EQ(cookies(poll(*mine_end)), (std::vector<Cookie>{1}));
}

TEST_F(Loopback, AFullQueueRefusesUntilItIsPolled) {
  for (Cookie cookie = 0; cookie < kLimits.max_outstanding; ++cookie)
    ASSERT_EQ(write(1, cookie), RMA_SUCCESS);
  EXPECT_EQ(write(1, 99), RMA_ERR_STATE);
  EXPECT_EQ(poll(*mine_end, 1).size(), 1U);
  EXPECT_EQ(write(1, 100), RMA_SUCCESS);
  EXPECT_EQ(write(1, 101), RMA_ERR_STATE);
}

TEST_F(Loopback, UnsignalledSuccessIsSilentButTakesItsPlaceInTheQueueUntilPolled) {
  for (Cookie cookie = 0; cookie < kLimits.max_outstanding; ++cookie) {
    ASSERT_EQ(write(8, cookie, {.unsignaled = true}), RMA_SUCCESS);
  }
  EXPECT_EQ(write(8, 9), RMA_ERR_STATE);
  EXPECT_TRUE(mine_end->arm());
  EXPECT_TRUE(poll(*mine_end).empty());
  EXPECT_EQ(std::memcmp(theirs.data(), mine.data(), 8), 0);
  ASSERT_EQ(write(8, 10), RMA_SUCCESS);
  EXPECT_FALSE(mine_end->arm()) << "there is a completion already";
  EXPECT_EQ(outcome(*mine_end, 10), RMA_SUCCESS);
}

TEST_F(Loopback, InlineDataNeedsNoRegistration) {
  std::array<std::byte, 8> anywhere = {std::byte{42}};
  const Local piece = {.address = anywhere.data(), .bytes = anywhere.size(), .key = 0};
  ASSERT_EQ(mine_end->post_write(1, remote(0), {&piece, 1}, 1, {}), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 1), RMA_ERR_ADDRESS);
  EXPECT_EQ(theirs[0], std::byte{0});
  ASSERT_EQ(mine_end->post_write(1, remote(0), {&piece, 1}, 2, {.inline_data = true}), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 2), RMA_SUCCESS);
  EXPECT_EQ(theirs[0], std::byte{42});
}

TEST_F(Loopback, AMessageGoesIntoTheOldestReceive) {
  std::array<std::byte, 16> first = {};
  std::array<std::byte, 4> second = {};
  auto one = their_end->register_memory(first.data(), first.size());
  auto two = their_end->register_memory(second.data(), second.size());
  ASSERT_TRUE(one.ok() && two.ok());
  ASSERT_EQ(their_end->messages().post_buffer({first.data(), first.size(), one->local}, 11), RMA_SUCCESS);
  ASSERT_EQ(their_end->messages().post_buffer({second.data(), second.size(), two->local}, 12), RMA_SUCCESS);
  EXPECT_EQ(their_end->messages().post_buffer({second.data(), second.size(), 999}, 13), RMA_ERR_ADDRESS);

  const std::array<Local, 2> pieces = {local(0, 3), local(8, 2)};
  ASSERT_EQ(mine_end->messages().post_message(1, pieces, 1, {}), RMA_SUCCESS);
  EXPECT_EQ(lane_outcome(*mine_end, 1), RMA_SUCCESS);
  auto arrived = poll_messages(*their_end);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0].cookie, 11U);
  EXPECT_EQ(arrived[0].peer, 0);
  EXPECT_EQ(arrived[0].status, RMA_SUCCESS);
  EXPECT_EQ(arrived[0].bytes, 5U);
  EXPECT_EQ(std::memcmp(&first[0], &mine[0], 3), 0);
  EXPECT_EQ(std::memcmp(&first[3], &mine[8], 2), 0);

  ASSERT_EQ(mine_end->messages().post_message(1, pieces, 2, {}), RMA_SUCCESS);
  EXPECT_EQ(lane_outcome(*mine_end, 2), RMA_ERR_SIZE) << "too long for the second";
  arrived = poll_messages(*their_end);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0].cookie, 12U);
  EXPECT_EQ(arrived[0].status, RMA_ERR_SIZE);
  EXPECT_EQ(second, (std::array<std::byte, 4>{}));

  ASSERT_EQ(mine_end->messages().post_message(1, pieces, 3, {}), RMA_SUCCESS);
  EXPECT_EQ(lane_outcome(*mine_end, 3), RMA_ERR_STATE) << "no buffer is left";
}

TEST_F(Loopback, AGatherGoesIntoTheOldestScatterOfItsPeer) {
  ASSERT_EQ(mine_end->messages().post_gather(1, {}, 1, {}), RMA_SUCCESS);
  EXPECT_EQ(lane_outcome(*mine_end, 1), RMA_ERR_STATE) << "there is no scatter";
  std::array<Local, 2> into = {Local{&theirs[0], 3, their_registration.local},
                               Local{&theirs[20], 4, their_registration.local}};
  ASSERT_EQ(their_end->messages().post_scatter(0, into, 11), RMA_SUCCESS);
  const std::array<Local, 2> pieces = {local(0, 5), local(30, 2)};
  ASSERT_EQ(mine_end->messages().post_gather(1, pieces, 2, {}), RMA_SUCCESS);
  EXPECT_EQ(lane_outcome(*mine_end, 2), RMA_SUCCESS);
  const auto arrived = poll_messages(*their_end);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0].cookie, 11U);
  EXPECT_EQ(arrived[0].bytes, 7U);
  EXPECT_EQ(std::memcmp(&theirs[0], &mine[0], 3), 0);
  EXPECT_EQ(std::memcmp(&theirs[20], &mine[3], 2), 0);
  EXPECT_EQ(std::memcmp(&theirs[22], &mine[30], 2), 0);
}

TEST_F(Loopback, AtomicsReturnWhatWasThere) {
  std::uint64_t word = 40;
  std::memcpy(&theirs[8], &word, 8);
  const auto there = [this] {
    std::uint64_t value = 0;
    std::memcpy(&value, &theirs[8], 8);
    return value;
  };
  const auto old = [this] {
    std::uint64_t value = 0;
    std::memcpy(&value, mine.data(), 8);
    return value;
  };
  ASSERT_EQ(mine_end->post_atomic(1, RMA_FETCH_ADD, remote(8), 2, 0, local(0, 8), 1), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 1), RMA_SUCCESS);
  EXPECT_EQ(old(), 40U);
  EXPECT_EQ(there(), 42U);
  ASSERT_EQ(mine_end->post_atomic(1, RMA_COMPARE_SWAP, remote(8), 7, 41, local(0, 8), 2), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 2), RMA_SUCCESS);
  EXPECT_EQ(old(), 42U);
  EXPECT_EQ(there(), 42U);
  ASSERT_EQ(mine_end->post_atomic(1, RMA_COMPARE_SWAP, remote(8), 7, 42, local(0, 8), 3), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 3), RMA_SUCCESS);
  EXPECT_EQ(old(), 42U);
  EXPECT_EQ(there(), 7U);

  EXPECT_EQ(mine_end->post_atomic(1, RMA_SWAP, remote(8), 1, 0, local(0, 8), 4), RMA_ERR_UNSUPPORTED);
  ASSERT_EQ(mine_end->post_atomic(1, RMA_FETCH_ADD, remote(9), 1, 0, local(0, 8), 5), RMA_SUCCESS);
  EXPECT_EQ(outcome(*mine_end, 5), RMA_ERR_ADDRESS) << "not aligned";
  EXPECT_EQ(there(), 7U);
  Limits without = kLimits;
  without.atomics64 = false;
  open(without);
  EXPECT_EQ(mine_end->post_atomic(1, RMA_FETCH_ADD, remote(8), 1, 0, local(0, 8), 6), RMA_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace librma::transport
