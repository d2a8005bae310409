#include "fabric/bounce_pool.hpp"

#include <gtest/gtest.h>

#include <set>

namespace librma {
namespace {

/// Registers nothing. `late`: what a peer writes may come after it was given up.
class PlainRegistrar final : public Registrar {
 public:
  explicit PlainRegistrar(bool late) : late_(late) {}
  [[nodiscard]] Result<Registered> add(std::byte* address, std::size_t bytes) override {
    return Registered{.address = address, .bytes = bytes};
  }
  void remove(const Registered& /*registered*/) override {}
  [[nodiscard]] bool late_transfers() const override { return late_; }

 private:
  const bool late_;
};

constexpr std::size_t kBounceBytes = 4096;

TEST(BouncePool, ABufferOfALostPeerIsUsedAgainOnlyIfNothingCanWriteToItAnyMore) {
  for (const bool late : {false, true}) {
    PlainRegistrar registrar(late);
    auto created = BouncePool::create(registrar, kBounceBytes, 3);
    ASSERT_TRUE(created.ok());
    BouncePool& pool = *created.value();
    std::byte* const lost = pool.take();
    pool.give_lost(lost);
    EXPECT_EQ(pool.usable(), 3U) << "a spare one takes its place";
    std::set<std::byte*> taken;
    while (std::byte* const buffer = pool.take()) taken.insert(buffer);
    EXPECT_EQ(taken.count(lost), late ? 0U : 1U);
    EXPECT_EQ(taken.size(), pool.usable()) << "those in use count too";
  }
}

TEST(BouncePool, NobodyWaitsForABufferWhenAllAreLost) {
  PlainRegistrar registrar(true);
  auto created = BouncePool::create(registrar, kBounceBytes, 2);
  ASSERT_TRUE(created.ok());
  BouncePool& pool = *created.value();
  std::set<std::byte*> lost;
  while (std::byte* const buffer = pool.take()) {
    buffer[0] = buffer[kBounceBytes - 1] = std::byte{1};
    EXPECT_TRUE(lost.insert(buffer).second);
    pool.give_lost(buffer);
  }
  EXPECT_EQ(lost.size(), 8U);
  EXPECT_EQ(pool.usable(), 0U);
}

}  // namespace
}  // namespace librma
