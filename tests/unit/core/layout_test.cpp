#include "core/one_sided/layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "../random_layout.hpp"
#include "../seed.hpp"

namespace librma {
namespace {

constexpr std::uintptr_t kMiddle = 1U << 20U;

template <typename Visited>
std::vector<std::uintptr_t> visited(const Visited& visit_with) {
  std::vector<std::uintptr_t> addresses;
  visit_with([&](std::uintptr_t address, std::size_t bytes) {
    EXPECT_NE(bytes, 0U) << "a part of nothing";
    for (std::size_t i = 0; i < bytes; ++i) addresses.push_back(address + i);
    return true;
  });
  return addresses;
}

TEST(Layout, VisitsTheBytesOfAnyPartInOrder) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE(i);
    const auto [layout, addresses] = random_layout(random, kMiddle, 1);
    ASSERT_EQ(layout.bytes(), addresses.size());
    const std::size_t from = random() % (layout.bytes() + 1);
    const std::size_t count = random() % (layout.bytes() - from + 1);
    const auto part = visited([&](const auto& visit) { EXPECT_TRUE(layout.visit(from, count, visit)); });
    ASSERT_EQ(part, std::vector(addresses.begin() + static_cast<std::ptrdiff_t>(from),
                                addresses.begin() + static_cast<std::ptrdiff_t>(from + count)));
  }
}

TEST(Layout, AVisitEndsWhenItIsToldTo) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 500; ++i) {
    const RandomLayout one = random_layout(random, kMiddle, 1);
    std::size_t parts = 0;
    static_cast<void>(one.layout.visit(0, one.layout.bytes(), [&](auto, auto) { return ++parts > 0; }));
    if (parts == 0) continue;
    const std::size_t last = 1 + random() % parts;
    std::size_t seen = 0;
    EXPECT_FALSE(one.layout.visit(0, one.layout.bytes(), [&](auto, auto) { return ++seen < last; }));
    EXPECT_EQ(seen, last);
  }
}

TEST(Layout, WhatIsEncodedIsDecoded) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE(i);
    const auto [layout, addresses] = random_layout(random, kMiddle, 1);
    const std::size_t from = random() % (layout.bytes() + 1);
    const std::size_t count = random() % (layout.bytes() - from + 1);
    std::vector<std::byte> wire(layout.encoded_bytes(from, count) + 5, std::byte{9});
    if (layout.bytes() != 0 && count == 0) continue;  // no caller encodes nothing of a nonempty layout
    ASSERT_EQ(layout.encode(from, count, wire), wire.size() - 5);
    std::span<const std::byte> rest = wire;
    const auto part = Layout::decode(rest);
    if (layout.bytes() == 0) continue;
    ASSERT_TRUE(part);
    EXPECT_EQ(rest.size(), 5U) << "no more than itself is taken off";
    EXPECT_EQ(part->bytes, count);
    const auto there = visited([&](const auto& visit) { EXPECT_TRUE(part->visit(visit)); });
    ASSERT_EQ(there, std::vector(addresses.begin() + static_cast<std::ptrdiff_t>(from),
                                 addresses.begin() + static_cast<std::ptrdiff_t>(from + count)));
  }
}

TEST(Layout, CutOffOrChangedItIsNoneOrAnother) {
  std::mt19937_64 random(test_seed());
  std::size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const RandomLayout one = random_layout(random, kMiddle, 1);
    std::vector<std::byte> wire(one.layout.encoded_bytes(0, one.layout.bytes()));
    one.layout.encode(0, one.layout.bytes(), wire);
    if (random() % 2 == 0) {
      wire.resize(random() % wire.size());
      std::span<const std::byte> rest = wire;
      EXPECT_FALSE(Layout::decode(rest));
      EXPECT_EQ(rest.size(), wire.size());
      continue;
    }
    for (std::uint64_t k = random() % 4; k <= 3; ++k)
      wire[random() % wire.size()] = static_cast<std::byte>(random());
    std::span<const std::byte> rest = wire;
    const auto part = Layout::decode(rest);
    refused += part ? 0U : 1U;
    if (!part) continue;
    std::size_t bytes = 0;
    std::size_t parts = 0;
    static_cast<void>(part->visit([&](std::uintptr_t address, std::size_t count) {
      EXPECT_LE(count, UINTPTR_MAX - address) << "beyond the last address";
      bytes += count;
      return ++parts < 10000;
    }));
    EXPECT_TRUE(parts == 10000 || bytes == part->bytes);
  }
  EXPECT_GT(refused, 0U);
}

TEST(Layout, AnyBytesAreNoneOrALayout) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> wire(random() % 300);
    for (std::byte& byte : wire) byte = random() % 3 == 0 ? static_cast<std::byte>(random()) : std::byte{0};
    std::span<const std::byte> rest = wire;
    const auto part = Layout::decode(rest);
    if (!part) continue;
    std::size_t parts = 0;
    static_cast<void>(part->visit([&](std::uintptr_t, std::size_t) { return ++parts < 1000; }));
  }
}

}  // namespace
}  // namespace librma
