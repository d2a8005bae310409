#include "malloc/registered_backing.hpp"

#include <cstring>
#include <vector>

#include "../limited_registrar.hpp"

namespace librma {
namespace {

constexpr std::size_t kExtent = std::size_t{1} << 20U;

class RegisteredBackingTest : public testing::Test {
 protected:
  void open(std::size_t registrable, std::size_t capacity = 64) {
    registrar.set_limit(registrable);
    directory.assign(RegionTable::directory_bytes(capacity) / sizeof(Line), Line{});
    regions = std::make_unique<RegionTable>(std::as_writable_bytes(std::span(directory)), capacity);
    window = std::make_unique<Window>(Window::create({.limit = 64 * kExtent}).value());
    backing = std::make_unique<RegisteredBacking>(*window, *regions, registrar, kExtent);
  }
  [[nodiscard]] std::optional<Registered> at(std::size_t offset) const {
    return backing->find(window->base() + offset);
  }
  [[nodiscard]] std::optional<Region> listed(std::size_t offset, std::size_t bytes = 1) const {
    return RegionView(std::as_bytes(std::span(directory)))
        .find(reinterpret_cast<std::uintptr_t>(window->base() + offset), bytes);
  }
  /// Checks that the memory exists, independent of its registration.
  void expect_usable(std::size_t offset, std::size_t bytes) const {
    std::memset(window->base() + offset, 0x5a, bytes);
    EXPECT_EQ(window->base()[offset + bytes - 1], std::byte{0x5a});
  }

  struct alignas(64) Line {
    std::array<std::uint64_t, 8> words;
  };
  LimitedRegistrar registrar;
  std::vector<Line> directory;
  std::unique_ptr<RegionTable> regions;
  std::unique_ptr<Window> window;
  std::unique_ptr<RegisteredBacking> backing;
};

TEST_F(RegisteredBackingTest, RegistersAndListsWhatItTakes) {
  open(64 * kExtent);
  EXPECT_EQ(backing->granule(), kExtent);
  ASSERT_TRUE(backing->back(2 * kExtent, 3 * kExtent).ok());
  EXPECT_EQ(registrar.live(), 1U);
  EXPECT_FALSE(at(2 * kExtent - 1));
  EXPECT_FALSE(at(5 * kExtent));
  for (const std::size_t inside : {2 * kExtent, 5 * kExtent - 1}) {
    ASSERT_TRUE(at(inside));
    EXPECT_EQ(at(inside)->address, window->base() + 2 * kExtent);
    EXPECT_EQ(at(inside)->bytes, 3 * kExtent);
  }
  const auto region = listed(2 * kExtent, 3 * kExtent);
  ASSERT_TRUE(region);
  EXPECT_EQ(region->flags, kRegionExtent);
  EXPECT_EQ(region->keys, at(2 * kExtent)->remote);
  EXPECT_EQ(backing->backed(), 3 * kExtent);
  EXPECT_EQ(backing->refused(), 0U);
  expect_usable(2 * kExtent, 3 * kExtent);
}

TEST_F(RegisteredBackingTest, ZeroesWhatItKeptIfToldTo) {
  open(64 * kExtent);
  ASSERT_TRUE(backing->back(kExtent, 2 * kExtent).ok());
  expect_usable(kExtent, 2 * kExtent);
  backing->release(kExtent, 2 * kExtent);
  ASSERT_TRUE(backing->back_zeroed(2 * kExtent, 2 * kExtent).ok());
  const std::byte* const zeros = window->base() + 2 * kExtent;
  EXPECT_EQ(std::count(zeros, zeros + 2 * kExtent, std::byte{0}), static_cast<std::ptrdiff_t>(2 * kExtent));
  EXPECT_EQ(window->base()[2 * kExtent - 1], std::byte{0x5a}) << "outside the range";
}

TEST_F(RegisteredBackingTest, KeepsWhatIsReleasedAndTakesOnlyTheGaps) {
  open(64 * kExtent);
  ASSERT_TRUE(backing->back(kExtent, kExtent).ok());
  ASSERT_TRUE(backing->back(3 * kExtent, kExtent).ok());
  backing->release(kExtent, kExtent);
  EXPECT_TRUE(at(kExtent));
  EXPECT_EQ(registrar.live(), 2U);
  const transport::Key key = at(kExtent)->remote[0];
  ASSERT_TRUE(backing->back(0, 5 * kExtent).ok());
  EXPECT_EQ(registrar.live(), 5U) << "three gaps";
  EXPECT_EQ(at(kExtent)->remote[0], key) << "others remember it";
  EXPECT_EQ(backing->backed(), 5 * kExtent);
  ASSERT_TRUE(backing->back(0, 5 * kExtent).ok());
  EXPECT_EQ(registrar.adds(), 5U) << "all of it is there";
  expect_usable(0, 5 * kExtent);
}

TEST_F(RegisteredBackingTest, AdoptsWhatIsThereAlready) {
  open(64 * kExtent);
  ASSERT_TRUE(window->back(0, kExtent / 2).ok());
  backing->adopt(0, kExtent / 2);
  EXPECT_TRUE(at(0));
  EXPECT_TRUE(listed(0, kExtent / 2));
  EXPECT_FALSE(at(kExtent / 2));
  ASSERT_TRUE(backing->back(0, kExtent).ok()) << "the rest of it";
  EXPECT_TRUE(at(kExtent / 2));
  EXPECT_EQ(backing->backed(), kExtent);
}

TEST_F(RegisteredBackingTest, GivesOutWhatCannotBeRegistered) {
  open(0);
  ASSERT_TRUE(backing->back(0, 2 * kExtent).ok());
  expect_usable(0, 2 * kExtent);
  EXPECT_FALSE(at(0));
  EXPECT_FALSE(listed(0));
  EXPECT_EQ(backing->refused(), 2 * kExtent);
  EXPECT_EQ(backing->backed(), 2 * kExtent);
  EXPECT_EQ(registrar.live(), 0U);
}

TEST_F(RegisteredBackingTest, RegistersHalvesWhereTheWholeIsTooMuch) {
  open(kExtent + kExtent / 2);
  ASSERT_TRUE(backing->back(0, 2 * kExtent).ok());
  EXPECT_TRUE(at(0));
  EXPECT_TRUE(at(kExtent - 1));
  EXPECT_TRUE(at(kExtent + kExtent / 2 - 1)) << "half of the second half";
  EXPECT_FALSE(at(2 * kExtent - 1));
  EXPECT_EQ(backing->refused(), kExtent / 2);
  expect_usable(0, 2 * kExtent);
}

TEST_F(RegisteredBackingTest, WithAFullDirectoryRegistersNothingMore) {
  open(64 * kExtent, 2);
  for (std::size_t i = 0; i < 4; ++i) ASSERT_TRUE(backing->back(2 * i * kExtent, kExtent).ok());
  EXPECT_EQ(registrar.live(), 2U) << "what is not listed is of no use";
  EXPECT_TRUE(at(2 * kExtent));
  EXPECT_FALSE(at(4 * kExtent));
  EXPECT_EQ(backing->refused(), 2 * kExtent);
  expect_usable(4 * kExtent, kExtent);
}

TEST_F(RegisteredBackingTest, TakesNoMoreThanTheWindowsLimit) {
  open(1000 * kExtent);
  EXPECT_EQ(backing->back(0, 65 * kExtent).code(), RMA_ERR_NO_MEMORY);
  EXPECT_EQ(registrar.live(), 0U);
  EXPECT_EQ(backing->backed(), 0U);
}

TEST_F(RegisteredBackingTest, DeregistersAndUnlistsEverythingAtTheEnd) {
  open(64 * kExtent);
  ASSERT_TRUE(window->back(0, kExtent).ok());
  backing->adopt(0, kExtent);
  ASSERT_TRUE(backing->back(3 * kExtent, kExtent).ok());
  EXPECT_EQ(regions->size(), 2U);
  backing.reset();
  EXPECT_EQ(registrar.live(), 0U);
  EXPECT_EQ(regions->size(), 0U);
}

}  // namespace
}  // namespace librma
