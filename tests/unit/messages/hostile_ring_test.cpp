// The ring when its other side is no honest process.

#include <gtest/gtest.h>

#include <random>

#include "../../sanitized.hpp"
#include "../seed.hpp"
#include "line_ring_world.hpp"
#include "rings/line_ring.hpp"

namespace librma {
namespace {

constexpr LineRingSizes kHostileSizes = {.lines = 16, .bytes = 4096};

/// Writes a line as a sender would, with any size and type.
void forge(LineRingWorld& world, std::uint64_t number, std::uint64_t bytes, std::uint64_t type) {
  world.line(number).control.store((type << 60U) | ((bytes & 0xfffffffU) << 32U) |
                                   static_cast<std::uint32_t>(number + 1));
}

TEST(HostileLine, ABodyThatIsTooLongIsRefused) {
  for (const std::uint64_t bytes : {std::uint64_t{1025}, std::uint64_t{4096}, std::uint64_t{0xfffffff}}) {
    LineRingWorld world(kHostileSizes);
    forge(world, 0, bytes, 1);
    world.line(1).control.store(0);  // as a sender does
    LineReceiver::Head head;
    EXPECT_TRUE(world.receiver.waiting());
    EXPECT_EQ(world.receiver.peek(head), LineReceiver::Found::broken) << bytes;
    EXPECT_TRUE(head.body.empty());
    world.receiver.pop(head, 0);
    EXPECT_EQ(world.receiver.peek(head), LineReceiver::Found::nothing) << "the line is gone";
    EXPECT_EQ(world.feedback().taken.load(), 1U);
  }
}

TEST(HostileLine, AShortBodyThatRestartsTheSlotsIsRefused) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{RingLine::kBody}}) {
    LineRingWorld world(kHostileSizes);
    forge(world, 0, bytes | line_ring_detail::kRestart, 1);
    LineReceiver::Head head;
    EXPECT_EQ(world.receiver.peek(head), LineReceiver::Found::broken) << bytes;
  }
}

TEST(HostileLine, AnyTypeIsHandedOver) {
  // Whoever takes the message in knows the types, and refuses the others.
  for (std::uint64_t type = 0; type < 16; ++type) {
    LineRingWorld world(kHostileSizes);
    forge(world, 0, 5, type);
    LineReceiver::Head head;
    ASSERT_EQ(world.receiver.peek(head), LineReceiver::Found::message);
    EXPECT_EQ(static_cast<std::uint64_t>(head.type), type);
  }
}

TEST(HostileLine, NoBodyLiesOutsideTheRing) {
  std::mt19937_64 random(test_seed());
  LineRingWorld world(kHostileSizes);
  const auto inside = [](std::span<const std::byte> part, std::span<const std::byte> all) {
    return part.data() >= all.data() && part.data() + part.size() <= all.data() + all.size();
  };
  int broken = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t bytes = random() % 3 == 0 ? random() : random() % 1100;
    forge(world, i, bytes | (random() % 2 == 0 ? line_ring_detail::kRestart : 0), random());
    LineReceiver::Head head;
    const LineReceiver::Found found = world.receiver.peek(head);
    ASSERT_NE(found, LineReceiver::Found::nothing);
    if (found == LineReceiver::Found::message) {
      ASSERT_TRUE(inside(head.body, world.lines()) || inside(head.body, world.slots())) << bytes;
    } else {
      head = {};
      ++broken;
    }
    world.receiver.pop(head, 0);
  }
  EXPECT_GT(broken, 0);
  EXPECT_TRUE(world.guards_are_intact());
}

TEST(HostileLine, ARandomControlWordIsTakenOnlyIfItsNumberIsTheNext) {
  std::mt19937_64 random(test_seed());
  LineRingWorld world(kHostileSizes);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t control = random();
    world.line(0).control.store(control);
    LineReceiver::Head head;
    ASSERT_EQ(world.receiver.peek(head) != LineReceiver::Found::nothing,
              static_cast<std::uint32_t>(control) == 1);
  }
}

/// Fills the lines of a ring, so that the next send looks at the feedback.
void fill_lines(LineRingWorld& world) {
  for (std::uint64_t i = 0; i < world.sizes.lines; ++i) ASSERT_TRUE(send(world.sender, i, 60));
}

TEST(HostileFeedback, MoreTakenThanSentBreaksTheRing) {
  for (const std::uint64_t taken : {std::uint64_t{17}, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
    LineRingWorld world(kHostileSizes);
    fill_lines(world);
    world.feedback().taken.store(taken);
    EXPECT_FALSE(send(world.sender, 16, 60)) << taken;
    EXPECT_TRUE(world.sender.broken());
    EXPECT_FALSE(send(world.sender, 16, 60)) << "and it stays broken";
  }
}

TEST(HostileFeedback, MoreBytesTakenThanSentBreakTheRing) {
  for (const std::uint64_t bytes : {kHostileSizes.bytes + 1, ~std::uint64_t{0}}) {
    LineRingWorld world(kHostileSizes);
    fill_lines(world);
    world.feedback().taken.store(1);
    world.feedback().taken_bytes.store(bytes);
    EXPECT_FALSE(send(world.sender, 16, 60));
    EXPECT_TRUE(world.sender.broken());
  }
}

TEST(HostileFeedback, CountsThatFallBreakTheRing) {
  LineRingWorld world(kHostileSizes);
  fill_lines(world);
  world.feedback().taken.store(1);
  world.feedback().taken_bytes.store(64);
  ASSERT_TRUE(send(world.sender, 16, 60));
  world.feedback().taken.store(0);
  EXPECT_FALSE(send(world.sender, 17, 60));
  EXPECT_TRUE(world.sender.broken());
}

TEST(HostileFeedback, NoFeedbackMakesTheSenderWriteOutsideTheRing) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < fewer_if_sanitized(2000); ++round) {
    LineRingWorld world(kHostileSizes);
    for (std::uint64_t i = 0; i < 200; ++i) {
      static_cast<void>(send(world.sender, i, random() % 1025));
      if (random() % 4 != 0) continue;
      world.feedback().taken.store(random() % (i + 2));
      world.feedback().taken_bytes.store(random() % (64 * i + 65));
      world.feedback().delivered.store(random());
      world.feedback().matched_later.store(random());
    }
    ASSERT_TRUE(world.guards_are_intact());
  }
}

}  // namespace
}  // namespace librma
