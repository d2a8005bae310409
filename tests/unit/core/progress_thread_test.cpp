#include "core/completion/progress_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "core/completion/pending_operations.hpp"

namespace librma {
namespace {

/// Counts how often it is polled, and remembers by whom.
class CountingSource final : public ProgressSource {
 public:
  bool progress() override {
    polled_by = std::this_thread::get_id();
    ++polls;
    return false;
  }
  void flush(int /*rank*/, CompletionContext& /*context*/) override {}
  void give_up(int /*rank*/) override {}
  void arm() override {}
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t /*code*/, int /*rank*/) const override { return {}; }

  std::atomic<std::uint64_t> polls = 0;
  std::atomic<std::thread::id> polled_by;
};

class ProgressThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    pending.engine().add(source);
    pending.engine().stand_in(&thread);
    ASSERT_TRUE(thread.start().ok());
  }
  void wait_for_a_poll() {
    const std::uint64_t before = source.polls;
    while (source.polls == before) std::this_thread::yield();
  }

  CountingSource source;
  PendingOperations pending{1, WaitPolicy{.spins = 10}, std::chrono::seconds(60)};
  ProgressThread thread{pending.engine(), 0};
};

TEST_F(ProgressThreadTest, ItDrivesWhileAnOperationIsPendingAndNobodyWaits) {
  thread.begin();
  thread.hand_over();
  wait_for_a_poll();
  thread.end();
}

TEST_F(ProgressThreadTest, ItTakesOverWhenTheLastWaitIsOver) {
  for (int round = 0; round < 100; ++round) {
    thread.enter();
    thread.enter();
    thread.begin();
    thread.hand_over();
    thread.leave();
    thread.leave();
    wait_for_a_poll();
    thread.end();
  }
}

TEST_F(ProgressThreadTest, AThreadThatWaitsPollsItself) {
  thread.begin();
  thread.hand_over();
  wait_for_a_poll();
  const std::thread::id me = std::this_thread::get_id();
  const ProgressEngine::Attendance attendance(pending.engine());
  while (source.polled_by != me) static_cast<void>(pending.engine().progress());
  thread.end();
}

TEST_F(ProgressThreadTest, ItEndsWhileAnOperationIsPending) {
  thread.begin();
  thread.hand_over();
}

}  // namespace
}  // namespace librma
