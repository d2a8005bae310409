// Where other processes say that they have made rings, they may say anything.

#include "messages/rings/inbox.hpp"

#include <gtest/gtest.h>

#include <random>

#include "../seed.hpp"
#include "messages_job.hpp"

namespace librma {
namespace {

class InboxAddresses : public MessagesJob {
 protected:
  void announce(std::uint64_t address) const {
    block->rings[0].store(address);
    block->calls.fetch_add(1);
  }
  [[nodiscard]] std::byte* ring() const {
    auto memory =
        job->memory().allocator().allocate(MemoryKind::internal, kSizes.memory(), alignof(RingLine));
    EXPECT_TRUE(memory.ok());
    std::fill_n(memory.value(), kSizes.memory(), std::byte{0});
    return memory.value();
  }
};

TEST_F(InboxAddresses, ForgedOnesAreIgnoredAndARightOneIsTakenLater) {
  std::byte* const right = ring();
  const auto address = reinterpret_cast<std::uintptr_t>(right);
  const auto outside = reinterpret_cast<std::uintptr_t>(this) & ~std::uintptr_t{63};
  std::uintptr_t last = address;  // the last address at which a ring would lie in the heap
  for (std::uintptr_t step = std::uintptr_t{1} << 40U; step >= 64; step /= 2) {
    if (job->direct(reinterpret_cast<void*>(last + step), kSizes.memory(), 0) != nullptr) last += step;
  }
  for (const std::uint64_t forged :
       {std::uint64_t{1}, std::uint64_t{64}, outside, address + 1, address + 32, last + 64, ~std::uint64_t{0},
        ~std::uint64_t{63}, ~std::uint64_t{0} - kSizes.memory()}) {
    announce(forged);
    EXPECT_TRUE(inbox->rings().empty()) << std::hex << forged;
    EXPECT_FALSE(inbox->waiting());
    EXPECT_EQ(inbox->of(0), nullptr);
  }
  announce(address);
  ASSERT_EQ(inbox->rings().size(), 1U);
  EXPECT_EQ(inbox->rings()[0]->sender, 0);
  EXPECT_EQ(inbox->of(0), inbox->rings()[0]);
}

TEST_F(InboxAddresses, RandomOnesAreIgnored) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 10; ++i) {  // each one is logged
    announce(random() | 1U);
    ASSERT_TRUE(inbox->rings().empty());
  }
}

TEST_F(InboxAddresses, ASecondRingOfTheSameSenderIsIgnored) {
  std::byte* const first = ring();
  announce(reinterpret_cast<std::uintptr_t>(first));
  const Inbox::Ring* const found = inbox->of(0);
  ASSERT_NE(found, nullptr);
  for (int i = 0; i < 3; ++i) {
    announce(reinterpret_cast<std::uintptr_t>(ring()));
    ASSERT_EQ(inbox->rings().size(), 1U);
    ASSERT_EQ(inbox->of(0), found);
  }
  LineCursor cursor;
  LineSender sender(first, kSizes, cursor);
  EXPECT_TRUE(sender.send(MessageType::eager, {}, {}, {}));
  EXPECT_TRUE(inbox->waiting());
}

TEST_F(InboxAddresses, AnAnnouncementWithoutARingIsIgnored) {
  announce(0);
  EXPECT_TRUE(inbox->rings().empty());
}

}  // namespace
}  // namespace librma
