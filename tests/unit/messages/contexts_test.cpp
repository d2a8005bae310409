#include "messages/matching/contexts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "../seed.hpp"

namespace librma {
namespace {

TEST(ContextTable, AContextStaysUntilItIsDropped) {
  ContextTable table;
  MessageContext& one = table.of(7);
  EXPECT_EQ(one.number(), 7U);
  EXPECT_EQ(&table.of(7), &one);
  EXPECT_EQ(table.find(7 + 1024), nullptr) << "in the same bucket";
  MessageContext& other = table.of(7 + 1024);
  EXPECT_NE(&other, &one);
  table.drop(7);
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_EQ(table.find(7 + 1024), &other);
  table.drop(7);
  table.drop(12345);
}

TEST(ContextTable, DroppedContextsAreUsedAgainUnderAnyNumber) {
  ContextTable table;
  for (std::uint32_t number = 0; number < 100'000; ++number) {
    EXPECT_TRUE(table.of(number).matcher.idle());
    if (number >= 10) table.drop(number - 10);
  }
  EXPECT_LE(table.made(), 11U);
}

TEST(ContextTable, OneThatIsStillNeededIsNotDropped) {
  ContextTable table;
  PostedReceive receive = {.source = 1, .tag = 2};
  table.of(1).matcher.post(receive);
  UnexpectedMessage message = {.source = 3, .tag = 4};
  table.of(2).matcher.add(message);
  table.of(3).revoke(1, MessageContext::kNobody);
  for (const std::uint32_t number : {1U, 2U, 3U}) {
    MessageContext& context = table.of(number);
    table.drop(number);
    EXPECT_EQ(table.find(number), &context);
  }
  table.of(1).matcher.withdraw(receive);
  table.of(2).matcher.take(message);
  for (const std::uint32_t number : {1U, 2U, 3U}) table.drop(number);
  EXPECT_EQ(table.find(1), nullptr);
  EXPECT_EQ(table.find(2), nullptr);
  EXPECT_NE(table.find(3), nullptr) << "it was revoked";
}

TEST(ContextTable, OnlyAnAnnouncementMakesTheContextOfARetiredNumberAgain) {
  ContextTable table;
  constexpr std::uint32_t kNumber = 77;
  constexpr std::uint32_t kOther = 78;
  for (const std::uint32_t context : contexts_of(kNumber)) {
    EXPECT_EQ(drawn_number_of(context), kNumber);
    table.of(context).revoke(1, MessageContext::kNobody);
  }
  ASSERT_TRUE(table.retire(kNumber)) << "revocations end with the number";
  for (const std::uint32_t context : contexts_of(kNumber)) {
    EXPECT_EQ(table.find(context), nullptr);
    EXPECT_EQ(table.locked_unless_retired(context), nullptr);
    MessageContext& revived = table.locked(context);
    EXPECT_TRUE(revived.revived());
    EXPECT_FALSE(revived.revoked());
    revived.lock.unlock();
  }
  for (const std::uint32_t context : contexts_of(kOther)) {
    MessageContext* const made = table.locked_unless_retired(context);
    ASSERT_NE(made, nullptr);
    EXPECT_FALSE(made->revived());
    made->lock.unlock();
  }
  EXPECT_TRUE(table.renew(kNumber));
  EXPECT_FALSE(table.renew(kNumber));
  for (const std::uint32_t context : contexts_of(kNumber)) {
    EXPECT_EQ(table.find(context), nullptr);
    EXPECT_FALSE(table.of(context).revived());
  }
}

TEST(ContextTable, ANumberThatIsStillNeededIsNotRetired) {
  for (const std::uint32_t context : contexts_of(5)) {
    ContextTable table;
    PostedReceive receive = {.source = 1, .tag = 2};
    UnexpectedMessage message = {.source = 3, .tag = 4};
    table.of(context).matcher.post(receive);
    EXPECT_FALSE(table.retire(5));
    table.of(context).matcher.withdraw(receive);
    table.of(context).matcher.add(message);
    EXPECT_FALSE(table.retire(5));
    table.of(context).matcher.take(message);
    table.of(context).hold();
    EXPECT_FALSE(table.retire(5));
    MessageContext* const made = table.locked_unless_retired(contexts_of(5).front());
    ASSERT_NE(made, nullptr);
    made->lock.unlock();
    table.of(context).let_go();
    EXPECT_TRUE(table.retire(5));
  }
}

TEST(ContextTable, ContextsBelongToOneNumberOrNone) {
  EXPECT_EQ(contexts_of(0).front(), kFirstDrawnContext);
  EXPECT_EQ(contexts_of(kDrawnNumbers - 1)[3], kFirstOwnContext - 1);
  EXPECT_EQ(contexts_of(kDrawnNumbers - 1).back(), 0xbfffffffU);
  for (const std::uint32_t none :
       {0U, RMA_CONTEXT_LAST, kFirstOwnContext, 0x9fffffffU, 0xc0000000U, 0xffffffffU})
    EXPECT_EQ(drawn_number_of(none), std::nullopt) << none;
}

TEST(ContextTable, AThreadThatTakesMessagesInGetsTheContextOfTheNumber) {
  ContextTable table;
  std::atomic<bool> over = false;
  constexpr std::uint32_t kNumbers = 4000;  // several in each bucket
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 random(test_seed() + i);
      UnexpectedMessage message = {.source = static_cast<int>(i), .tag = 0};
      while (!over.load(std::memory_order_relaxed)) {
        const auto number = static_cast<std::uint32_t>(random() % kNumbers);
        MessageContext& context = table.locked(number);
        const std::lock_guard guard(context.lock, std::adopt_lock);
        ASSERT_EQ(context.number(), number);
        // Not dropped while it has a message, and nothing of another context is here.
        context.matcher.add(message);
        ASSERT_EQ(context.matcher.unexpected(), 1U);
        context.matcher.take(message);
      }
    });
  }
  std::mt19937_64 random(test_seed() + 100);
  for (int step = 0; step < 300'000; ++step) table.drop(static_cast<std::uint32_t>(random() % kNumbers));
  over.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(table.made(), kNumbers + 3);
}

}  // namespace
}  // namespace librma
