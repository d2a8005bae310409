#include "core/job/process_card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace librma {
namespace {

using testing::HasSubstr;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

const std::string kLongName = std::string(200, 'x') + ":255";

ProcessCard sample() {
  ProcessCard card;
  card.settings = JobSettings(read_settings({}).value());
  card.head.pid = 4711;
  card.head.base = 0x7f00'0000'0000;
  card.head.bytes = 1U << 20U;
  card.head.host.secret = {5, 9};
  for (std::size_t i = 0; i < kServices; ++i)
    card.head.services[i] = {.offset = 4096 * i, .bytes = 64 * (i + 1)};
  card.head.atomics_by_device = 1;
  for (std::size_t rail = 0; rail < 3; ++rail) {
    card.rails.push_back({.name = "mlx5_" + std::to_string(rail) + ":1",
                          .directory_key = (transport::Key{1} << 40U) + rail,
                          .card = std::vector<std::byte>(1000 * rail, static_cast<std::byte>(rail + 1))});
  }
  card.rails[1].name = kLongName;
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
  EXPECT_EQ(decoded.value().head.pid, 4711U);
  EXPECT_EQ(decoded.value().head.base, card.head.base);
  EXPECT_EQ(decoded.value().head.bytes, card.head.bytes);
  EXPECT_EQ(decoded.value().head.host, card.head.host);
  for (std::size_t i = 0; i < kServices; ++i) {
    EXPECT_EQ(decoded.value().head.services[i].offset, 4096 * i);
    EXPECT_EQ(decoded.value().head.services[i].bytes, 64 * (i + 1));
  }
  EXPECT_EQ(decoded.value().head.atomics_by_device, 1U);
  ASSERT_EQ(decoded.value().rails.size(), 3U);
  for (std::size_t rail = 0; rail < 3; ++rail) {
    EXPECT_EQ(decoded.value().rails[rail].name, card.rails[rail].name);
    EXPECT_EQ(decoded.value().rails[rail].directory_key, card.rails[rail].directory_key);
    EXPECT_EQ(decoded.value().rails[rail].card, card.rails[rail].card);
  }
}

TEST(ProcessCard, BringsTheSettingsOfTheJob) {
  ProcessCard card = sample();
  const std::string_view changed[] = {"RMA_HOST_RING=4K"};
  card.settings = JobSettings(read_settings(changed).value());
  const auto decoded = ProcessCard::decode(card.encode(), 3);
  ASSERT_TRUE(decoded.ok()) << decoded.status().text();
  EXPECT_TRUE(card.settings.agree(decoded.value().settings, 0, 3).ok());
  EXPECT_EQ(sample().settings.agree(decoded.value().settings, 0, 3).code(), RMA_ERR_SETTING);
  card.settings = JobSettings();
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "it tells none";
}

TEST(ProcessCard, WithImpossibleRailsIsRefused) {
  ProcessCard card = sample();
  card.rails.push_back({.name = "rxe0:1", .card = {}});
  EXPECT_TRUE(ProcessCard::decode(card.encode(), 3).ok()) << "the most";
  card.rails.push_back({.name = "rxe1:1", .card = {}});
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH);
  card = sample();
  card.rails[1].name.clear();
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH);
}

TEST(ProcessCard, OfAnotherVersionIsRefusedWithBothVersions) {
  ProcessCard card = sample();
  card.head.version = 77;
  const Status status = refused(card);
  EXPECT_EQ(status.code(), RMA_ERR_VERSION);
  EXPECT_THAT(std::string(status.text()), HasSubstr("rank 3"));
  EXPECT_THAT(std::string(status.text()), HasSubstr("format 77"));
  EXPECT_THAT(std::string(status.text()),
              HasSubstr("this is format " + std::to_string(std::uint32_t{ProcessCard::kVersion})));
  card = sample();
  card.head.magic ^= 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_VERSION);
}

TEST(ProcessCard, OfAnyOtherLengthIsRefused) {
  ProcessCard card = sample();
  card.rails.resize(1);
  const std::size_t with_one_rail = card.encode().size();
  card.rails.clear();
  const std::size_t without_rails = card.encode().size();
  card = sample();
  std::vector<std::byte> bytes = card.encode();
  card.rails.resize(2);
  const std::size_t with_two_rails = card.encode().size();
  bytes.push_back(std::byte{0});
  EXPECT_EQ(ProcessCard::decode(bytes, 0).status().code(), RMA_ERR_LAUNCH);
  bytes.pop_back();
  while (!bytes.empty()) {
    bytes.pop_back();
    // An exact copy on the heap, so that reading past its end is seen by a sanitizer.
    const std::vector<std::byte> cut(bytes.begin(), bytes.end());
    const auto decoded = ProcessCard::decode(cut, 0);
    // A card with one rail more or less is valid too.
    const bool whole =
        cut.size() == without_rails || cut.size() == with_one_rail || cut.size() == with_two_rails;
    ASSERT_EQ(decoded.ok(), whole) << cut.size();
    if (whole) continue;
    EXPECT_EQ(decoded.status().code(), RMA_ERR_LAUNCH) << cut.size();
  }
}

TEST(ProcessCard, WithBlocksOutsideItsWindowIsRefused) {
  const std::uint64_t window = sample().head.bytes;
  const ServiceBlock damaged[] = {{.offset = window, .bytes = 1},     {.offset = window - 63, .bytes = 64},
                                  {.offset = 0, .bytes = window + 1}, {.offset = kMost, .bytes = 2},
                                  {.offset = 2, .bytes = kMost},      {.offset = kMost, .bytes = kMost}};
  for (std::size_t i = 0; i < kServices; ++i) {
    for (const ServiceBlock& block : damaged) {
      ProcessCard card = sample();
      card.head.services[i] = block;
      const Status status = refused(card);
      EXPECT_EQ(status.code(), RMA_ERR_LAUNCH) << i << ": " << block.offset << ", " << block.bytes;
      EXPECT_THAT(std::string(status.text()), HasSubstr("rank 3"));
    }
    ProcessCard card = sample();
    card.head.services[i] = {.offset = 60, .bytes = 64};
    EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "its words would not be aligned";
    card.head.services[i] = {.offset = window - 64, .bytes = 64};
    EXPECT_TRUE(ProcessCard::decode(card.encode(), 3).ok()) << "up to the end";
  }
}

TEST(ProcessCard, OfAnotherNetworkIsRefusedWithBothNames) {
  ProcessCard mine = sample();
  ProcessCard theirs = sample();
  mine.head.network = NetworkSetting::verbs;
  EXPECT_TRUE(mine.check_network(theirs, 2, 3).ok()) << "the other has none open, which is said elsewhere";
  theirs.head.network = NetworkSetting::verbs;
  EXPECT_TRUE(mine.check_network(theirs, 2, 3).ok());
  theirs.head.network = NetworkSetting::ofi;
  const Status status = mine.check_network(theirs, 2, 3);
  EXPECT_EQ(status.code(), RMA_ERR_SETTING);
  EXPECT_THAT(std::string(status.text()), HasSubstr("network of rank 2 is verbs, and that of rank 3 is ofi"));
  EXPECT_THAT(std::string(status.text()), HasSubstr("RMA_NETWORK=ofi"));
}

TEST(ProcessCard, OfANetworkThatDoesNotExistIsRefused) {
  ProcessCard card = sample();
  card.head.network = static_cast<NetworkSetting>(kNetworkNames.size());
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH);
}

TEST(ProcessCard, WithAnImpossibleWindowIsRefused) {
  ProcessCard card = sample();
  card.head.base = 0;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH);
  card = sample();
  card.head.base = kMost - card.head.bytes + 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "past the last address";
  card = sample();
  card.head.process_heap_bytes = kMost - card.head.base - card.head.bytes + 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "the process heap goes past the last address";
  card = sample();
  card.head.alias_bytes = card.head.bytes + 1;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "the aliased memory goes past the window";
  card = sample();
  card.head.bytes = 0;
  EXPECT_EQ(refused(card).code(), RMA_ERR_LAUNCH) << "its blocks lie nowhere";
}

}  // namespace
}  // namespace librma
