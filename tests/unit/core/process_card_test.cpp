#include "core/process_card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace rma {
namespace {

using testing::HasSubstr;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

const std::string kLongestName = std::string(63, 'x') + ":255";

ProcessCard sample() {
  ProcessCard card;
  card.pid = 4711;
  card.base = 0x7f00'0000'0000;
  card.bytes = 1U << 20U;
  card.window_fd = 9;
  for (std::size_t i = 0; i < kServices; ++i) card.services[i] = {.offset = 4096 * i, .bytes = 64 * (i + 1)};
  card.rails = 3;
  card.atomics_by_device = 1;
  card.rail_card_bytes = 60;
  for (std::size_t rail = 0; rail < kMaxRails; ++rail) {
    card.directory_keys[rail] = static_cast<std::uint32_t>(rail + 50);
    card.rail_cards[rail].fill(static_cast<std::byte>(rail + 1));
    card.name_rail(rail, "mlx5_" + std::to_string(rail) + ":1");
  }
  card.name_rail(3, kLongestName);
  return card;
}

Status refused(const ProcessCard& card) {
  auto decoded = ProcessCard::decode(card.encode(), 3);
  EXPECT_FALSE(decoded.ok());
  return std::move(decoded).status();
}

TEST(ProcessCard, ComesBackAsItWas) {
  const ProcessCard card = sample();
  const auto decoded = ProcessCard::decode(card.encode(), 0);
  ASSERT_TRUE(decoded.ok()) << decoded.status().text();
  EXPECT_EQ(decoded.value().pid, 4711U);
  EXPECT_EQ(decoded.value().base, card.base);
  EXPECT_EQ(decoded.value().bytes, card.bytes);
  EXPECT_EQ(decoded.value().window_fd, 9U);
  for (std::size_t i = 0; i < kServices; ++i) {
    EXPECT_EQ(decoded.value().services[i].offset, 4096 * i);
    EXPECT_EQ(decoded.value().services[i].bytes, 64 * (i + 1));
  }
  EXPECT_EQ(decoded.value().rails, 3U);
  EXPECT_EQ(decoded.value().atomics_by_device, 1U);
  EXPECT_EQ(decoded.value().rail_card_bytes, 60U);
  EXPECT_EQ(decoded.value().directory_keys, card.directory_keys);
  EXPECT_EQ(decoded.value().rail_cards, card.rail_cards);
  EXPECT_EQ(decoded.value().rail_name(2), "mlx5_2:1");
  EXPECT_EQ(decoded.value().rail_name(3), kLongestName) << "whole, or it would match no other";
}

TEST(ProcessCard, WithImpossibleRailsIsRefused) {
  ProcessCard card = sample();
  card.rails = kMaxRails;
  card.rail_card_bytes = ProcessCard::kRailCardBytes;
  EXPECT_TRUE(ProcessCard::decode(card.encode(), 3).ok()) << "the most";
  card.rails = kMaxRails + 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH);
  card = sample();
  card.rail_card_bytes = ProcessCard::kRailCardBytes + 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH);
}

TEST(ProcessCard, OfAnotherVersionIsRefusedWithBothVersions) {
  ProcessCard card = sample();
  card.version = 77;
  const Status status = refused(card);
  EXPECT_EQ(status.code(), RMA_ERR_VERSION);
  EXPECT_THAT(std::string(status.text()), HasSubstr("rank 3"));
  EXPECT_THAT(std::string(status.text()), HasSubstr("format 77"));
  EXPECT_THAT(std::string(status.text()),
              HasSubstr("this is format " + std::to_string(std::uint32_t{ProcessCard::kVersion})));
  card = sample();
  card.magic ^= 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_VERSION);
}

TEST(ProcessCard, OfAnyOtherLengthIsRefused) {
  std::vector<std::byte> bytes = sample().encode();
  bytes.push_back(std::byte{0});
  EXPECT_EQ(ProcessCard::decode(bytes, 0).status().code(), RMA_ERR_VERSION);
  bytes.pop_back();
  while (!bytes.empty()) {
    bytes.pop_back();
    // An exact copy on the heap, so that reading past its end is seen by a sanitizer.
    const std::vector<std::byte> cut(bytes.begin(), bytes.end());
    const auto decoded = ProcessCard::decode(cut, 0);
    ASSERT_FALSE(decoded.ok()) << cut.size();
    EXPECT_EQ(decoded.status().code(), cut.size() < 12 ? RMA_ERR_LAUNCH : RMA_ERR_VERSION) << cut.size();
  }
}

TEST(ProcessCard, WithBlocksOutsideItsWindowIsRefused) {
  const std::uint64_t window = sample().bytes;
  const ServiceBlock damaged[] = {{.offset = window, .bytes = 1},     {.offset = window - 63, .bytes = 64},
                                  {.offset = 0, .bytes = window + 1}, {.offset = kMost, .bytes = 2},
                                  {.offset = 2, .bytes = kMost},      {.offset = kMost, .bytes = kMost}};
  for (std::size_t i = 0; i < kServices; ++i) {
    for (const ServiceBlock& block : damaged) {
      ProcessCard card = sample();
      card.services[i] = block;
      const Status status = refused(card);
      EXPECT_EQ(status.code(), RMA_ERR_LAUNCH) << i << ": " << block.offset << ", " << block.bytes;
      EXPECT_THAT(std::string(status.text()), HasSubstr("rank 3"));
    }
    ProcessCard card = sample();
    card.services[i] = {.offset = 60, .bytes = 64};
    EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "its words would not be aligned";
    card.services[i] = {.offset = window - 64, .bytes = 64};
    EXPECT_TRUE(ProcessCard::decode(card.encode(), 3).ok()) << "up to the end";
  }
}

TEST(ProcessCard, WithAnImpossibleWindowIsRefused) {
  ProcessCard card = sample();
  card.base = 0;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH);
  card = sample();
  card.base = kMost - card.bytes + 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "past the last address";
  card = sample();
  card.bytes = 0;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "its blocks lie nowhere";
}

}  // namespace
}  // namespace rma
