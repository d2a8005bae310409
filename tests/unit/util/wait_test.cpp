#include "util/waiting/wait.hpp"
#include "../counted.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace librma {
namespace {

constexpr WaitPolicy kSleepAtOnce = {.spins = 0, .yields = 0};

std::uint64_t sleeps() { return counted(Counter::sleep); }

/// After a lost wake-up a thread sleeps for ever. The alarm then ends the program.
class Wait : public testing::Test {
 protected:
  void SetUp() override { alarm(120); }
  void TearDown() override { alarm(0); }
};

TEST_F(Wait, AConditionThatHoldsIsNotWaitedFor) {
  Doorbell doorbell;
  const std::uint64_t before = sleeps();
  wait_until(doorbell, kSleepAtOnce, [] { return true; });
  wait_until(doorbell, {.spins = 5, .yields = 5}, [] { return true; });
  EXPECT_EQ(sleeps(), before);
  EXPECT_EQ(doorbell.sleepers, 0U);
}

TEST_F(Wait, PollsAsOftenAsThePolicySaysBeforeItSleeps) {
  Doorbell doorbell;
  const std::uint64_t before = sleeps();
  std::uint64_t looks = 0;
  // The 8th look is the last one before a sleep: 7 polls, and one more. A thread yields at most so many times
  // as the policy says. How often it does depends on the other threads of the machine.
  wait_until(doorbell, {.spins = 7, .yields = 0}, [&looks] { return ++looks == 8; });
  EXPECT_EQ(sleeps(), before);
  // The 9th look comes after the thread has announced its sleep. It then sleeps, and looks again by itself.
  looks = 0;
  wait_until(
      doorbell, {.spins = 7, .yields = 0}, [&looks] { return ++looks == 10; }, Waker::sometimes);
  EXPECT_EQ(sleeps(), before + 1);
  EXPECT_EQ(doorbell.sleepers, 0U);
}

TEST_F(Wait, SlowPollsEndEarlier) {
  constexpr std::uint64_t kSpins = 1000;
  std::uint64_t polls = 0;
  const bool holds = poll_and_yield(
      {.spins = kSpins, .yields = 0},
      [&] {
        ++polls;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        return false;
      },
      [](std::uint64_t) {}, [] { return false; });
  EXPECT_FALSE(holds);
  EXPECT_LT(polls, kSpins / 2);
}

TEST_F(Wait, NobodyIsRungForWhoDoesNotSleep) {
  Doorbell doorbell;
  doorbell.wake();
  doorbell.wake_ordered();
  EXPECT_EQ(doorbell.wakeups, 0U);
}

TEST_F(Wait, ASleeperIsWokenByTheRing) {
  Doorbell doorbell;
  std::atomic<bool> ready = false;
  const std::uint64_t before = sleeps();
  std::thread sleeper(
      [&] { wait_until(doorbell, kSleepAtOnce, [&] { return ready.load(std::memory_order_acquire); }); });
  while (sleeps() == before) std::this_thread::yield();
  ready.store(true, std::memory_order_release);
  doorbell.wake();
  sleeper.join();
  EXPECT_EQ(doorbell.sleepers, 0U);
}

TEST_F(Wait, OneOfTheStoresWakesASleeperThatAwaitsThem) {
  Doorbell doorbell;
  doorbell.wake_for_store();
  EXPECT_EQ(doorbell.wakeups, 0U) << "nobody awaits stores";
  std::atomic<int> word = 0;
  std::thread sleeper([&] {
    wait_until(
        doorbell, kSleepAtOnce, [&] { return word.load(std::memory_order_acquire) == 2; }, Waker::stores);
  });
  for (int value = 1; value <= 2; ++value) {
    while (doorbell.awaits_stores == 0) std::this_thread::yield();
    word.store(value, std::memory_order_release);
    doorbell.wake_for_store();
    EXPECT_EQ(doorbell.wakeups, static_cast<unsigned>(value));
  }
  sleeper.join();
  doorbell.wake_for_store();
  EXPECT_EQ(doorbell.wakeups, 2U) << "the sleeper announces itself again only if it sleeps again";
}

/// Two threads hand a number back and forth, each asleep at its own doorbell whenever it is not its turn.
void ping_pong(const WaitPolicy& policy, bool ordered) {
  constexpr std::uint64_t kRounds = 8000;
  Doorbell doorbells[2];
  std::atomic<std::uint64_t> turn = 0;
  const auto play = [&](std::uint64_t me) {
    for (std::uint64_t round = me; round < kRounds; round += 2) {
      wait_until(doorbells[me], policy, [&] { return turn.load(std::memory_order_acquire) == round; });
      if (ordered) {
        turn.fetch_add(1, std::memory_order_seq_cst);
        doorbells[1 - me].wake_ordered();
      } else {
        turn.store(round + 1, std::memory_order_release);
        doorbells[1 - me].wake();
      }
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn, kRounds);
  EXPECT_EQ(doorbells[0].sleepers, 0U);
  EXPECT_EQ(doorbells[1].sleepers, 0U);
}

TEST_F(Wait, NoWakeUpIsLostOverManyRounds) { ping_pong(kSleepAtOnce, false); }
TEST_F(Wait, NoWakeUpIsLostAfterAnOrderedStep) { ping_pong(kSleepAtOnce, true); }
TEST_F(Wait, NoWakeUpIsLostBetweenPollingAndSleeping) { ping_pong({.spins = 20, .yields = 1}, false); }

TEST_F(Wait, OneRingWakesAllWhoseConditionHolds) {
  constexpr std::uint64_t kRounds = 500;
  constexpr std::uint64_t kSleepers = 3;
  Doorbell doorbell;
  Doorbell back;
  std::atomic<std::uint64_t> round = 0;
  std::atomic<std::uint64_t> arrived = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kSleepers; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t mine = 1; mine <= kRounds; ++mine) {
        wait_until(doorbell, kSleepAtOnce, [&] { return round.load(std::memory_order_acquire) >= mine; });
        arrived.fetch_add(1, std::memory_order_acq_rel);
        back.wake();
      }
    });
  }
  for (std::uint64_t now = 1; now <= kRounds; ++now) {
    round.store(now, std::memory_order_release);
    doorbell.wake();
    wait_until(back, kSleepAtOnce,
               [&] { return arrived.load(std::memory_order_acquire) == now * kSleepers; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arrived, kRounds * kSleepers);
}

TEST(YieldPatience, EndsForAPauseWhenLongYieldsTakeMostOfAWhile) {
  YieldPatience patience;
  constexpr std::int64_t kYield = 5'000'000;
  std::int64_t now = 1'000'000'000;
  const auto yield = [&](std::int64_t lasts) {
    patience.yielded(now, now + lasts);
    now += lasts;
  };
  // Short ones never count, and neither do a few long ones.
  for (int i = 0; i < 10'000; ++i) yield(YieldPatience::kLong);
  EXPECT_TRUE(patience.yields(now));
  for (int i = 0; i < 100; ++i) {
    yield(kYield);
    now += YieldPatience::kWhile / 4;
    EXPECT_TRUE(patience.yields(now)) << i;
  }
  now += 4 * YieldPatience::kWhile;
  for (std::int64_t lost = 0; lost + kYield < YieldPatience::kWhile; lost += kYield) {
    yield(kYield);
    ASSERT_TRUE(patience.yields(now)) << lost;
  }
  yield(kYield);
  EXPECT_FALSE(patience.yields(now));
  EXPECT_FALSE(patience.yields(now + YieldPatience::kPause - 1));
  now += YieldPatience::kPause;
  EXPECT_TRUE(patience.yields(now));
  // After the pause it begins again.
  yield(kYield);
  EXPECT_TRUE(patience.yields(now));
}

TEST(Nap, IsAnEighthOfTheWaitSoFarWithinBounds) {
  EXPECT_EQ(nap_after(0), 50'000);
  EXPECT_EQ(nap_after(400'000), 50'000);
  EXPECT_EQ(nap_after(1'600'000), 200'000);
  EXPECT_EQ(nap_after(80'000'000), 10'000'000);
  EXPECT_EQ(nap_after(60'000'000'000), 10'000'000);
}

TEST_F(Wait, AConditionMadeTrueByAPlainStoreIsNoticedWhereThatIsAskedFor) {
  Doorbell doorbell;
  std::atomic<bool> ready = false;
  const std::uint64_t before = sleeps();
  std::thread sleeper([&] {
    wait_until(
        doorbell, kSleepAtOnce, [&] { return ready.load(std::memory_order_acquire); }, Waker::sometimes);
  });
  while (sleeps() == before) std::this_thread::yield();
  ready.store(true, std::memory_order_release);
  sleeper.join();
  EXPECT_EQ(doorbell.wakeups, 0U);
}

TEST_F(Wait, WhoIsLostIsWaitedForNoLongerUnlessItCameBefore) {
  Doorbell doorbell;
  int asked = 0;
  const auto lost = [&asked] { return ++asked == 3; };
  // It does not ask while it polls.
  int looks = 0;
  EXPECT_TRUE(wait_unless(
      doorbell, {.spins = 100, .yields = 0}, [&looks] { return ++looks == 100; }, lost));
  EXPECT_EQ(asked, 0);
  const std::uint64_t before = sleeps();
  EXPECT_FALSE(wait_unless(
      doorbell, kSleepAtOnce, [] { return false; }, lost));
  EXPECT_EQ(asked, 3);
  EXPECT_GE(sleeps(), before + 3) << "it sleeps before it asks";
  // The call that it made last makes the condition true.
  bool came = false;
  EXPECT_TRUE(wait_unless(
      doorbell, kSleepAtOnce, [&came] { return came; }, [&came] { return came = true; }));
  EXPECT_EQ(doorbell.sleepers, 0U);
}

}  // namespace
}  // namespace librma
