#include "core/job/user_regions.hpp"

#include <array>
#include <vector>

#include "../limited_registrar.hpp"

namespace librma {
namespace {

class UserRegionsTest : public testing::Test {
 protected:
  [[nodiscard]] std::optional<Region> listed(std::size_t at, std::size_t bytes = 1) const {
    return RegionView(std::as_bytes(std::span(directory)))
        .find(reinterpret_cast<std::uintptr_t>(memory.data() + at), bytes);
  }

  static constexpr std::size_t kCapacity = 4;
  alignas(
      64) std::array<std::uint64_t, directory::Geometry::for_capacity(kCapacity).bytes() / 8> directory = {};
  std::vector<std::byte> memory = std::vector<std::byte>(1000);
  RegionTable table = RegionTable(std::as_writable_bytes(std::span(directory)), kCapacity);
  LimitedRegistrar registrar;
};

TEST_F(UserRegionsTest, AreListedWithTheirKeysUntilRemoved) {
  UserRegions regions(table, &registrar);
  ASSERT_TRUE(regions.add(memory.data() + 100, 50).ok());
  const auto region = listed(100, 50);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->flags, kRegionForeign);
  EXPECT_EQ(region->keys, (RailKeys{1, 1001, 0, 0}));
  EXPECT_FALSE(listed(99));
  EXPECT_FALSE(listed(150));
  ASSERT_TRUE(regions.remove(memory.data() + 100).ok());
  EXPECT_FALSE(listed(100));
  EXPECT_EQ(registrar.live(), 0U);
  EXPECT_EQ(regions.remove(memory.data() + 100).code(), RMA_ERR_ADDRESS);
}

TEST_F(UserRegionsTest, TheSameAgainIsCountedAndRegisteredOnce) {
  UserRegions regions(table, &registrar);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(regions.add(memory.data(), 50).ok());
  EXPECT_EQ(registrar.adds(), 1U);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(regions.remove(memory.data()).ok());
  EXPECT_TRUE(listed(0, 50));
  EXPECT_EQ(registrar.live(), 1U);
  ASSERT_TRUE(regions.remove(memory.data()).ok());
  EXPECT_EQ(registrar.live(), 0U);
}

TEST_F(UserRegionsTest, OfSeveralAtOneAddressTheShortestGoesFirst) {
  UserRegions regions(table, &registrar);
  ASSERT_TRUE(regions.add(memory.data(), 300).ok());
  ASSERT_TRUE(regions.add(memory.data(), 100).ok());
  ASSERT_TRUE(regions.remove(memory.data()).ok());
  ASSERT_TRUE(listed(0, 300));
  EXPECT_EQ(listed(0, 300)->keys[0], 1U) << "the first that was registered";
  EXPECT_EQ(registrar.live(), 1U);
}

TEST_F(UserRegionsTest, WhatTheNetworkRefusesIsListedWithoutKeys) {
  registrar.set_limit(100);
  UserRegions regions(table, &registrar);
  ASSERT_TRUE(regions.add(memory.data(), 101).ok());
  ASSERT_TRUE(listed(0, 101));
  EXPECT_EQ(listed(0, 101)->keys, RailKeys{});
  ASSERT_TRUE(regions.remove(memory.data()).ok());
}

TEST_F(UserRegionsTest, WhatTheDirectoryHasNoRoomForIsNotRegistered) {
  UserRegions regions(table, &registrar);
  for (std::size_t i = 0; i < kCapacity; ++i) ASSERT_TRUE(regions.add(memory.data() + 100 * i, 100).ok());
  EXPECT_EQ(regions.add(memory.data() + 900, 100).code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(registrar.live(), kCapacity);
  EXPECT_EQ(regions.remove(memory.data() + 900).code(), RMA_ERR_ADDRESS);
}

TEST_F(UserRegionsTest, WithoutANetworkAreListedOnly) {
  UserRegions regions(table, nullptr);
  ASSERT_TRUE(regions.add(memory.data(), 10).ok());
  EXPECT_TRUE(listed(0, 10));
  ASSERT_TRUE(regions.remove(memory.data()).ok());
  EXPECT_FALSE(listed(0));
}

TEST_F(UserRegionsTest, WhatIsLeftIsDeregisteredAtTheEnd) {
  {
    UserRegions regions(table, &registrar);
    ASSERT_TRUE(regions.add(memory.data(), 10).ok());
    ASSERT_TRUE(regions.add(memory.data(), 20).ok());
    ASSERT_TRUE(regions.add(memory.data() + 5, 20).ok());
    EXPECT_EQ(registrar.live(), 3U);
  }
  EXPECT_EQ(registrar.live(), 0U);
}

}  // namespace
}  // namespace librma
