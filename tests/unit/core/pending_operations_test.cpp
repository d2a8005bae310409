#include "core/completion/pending_operations.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <semaphore>
#include <thread>
#include <utility>

#include "../../multi/failing_new.hpp"

namespace librma {
namespace {

/// A progress source whose completions come from another thread, which signals an event if the source has
/// one.
class FakeProgressSource final : public ProgressSource {
 public:
  explicit FakeProgressSource(PendingOperations& pending, bool with_event = false) : pending_(pending) {
    if (with_event) fds_.push_back(eventfd(0, EFD_NONBLOCK));
  }
  ~FakeProgressSource() override {
    for (const int fd : fds_) close(fd);
  }

  /// Lets a part of `operation` end at the next progress.
  void finish_later(int rank, rma_request_t operation, rma_status_t status) {
    {
      const std::lock_guard guard(lock_);
      over_.push_back({rank, operation, status});
    }
    wake();
  }
  void wake() {
    const std::uint64_t one = 1;
    for (const int fd : fds_) ASSERT_EQ(write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  bool progress() override {
    EXPECT_EQ(in_progress_.fetch_add(1), 0) << "one thread at a time";
    std::vector<Over> over;
    {
      const std::lock_guard guard(lock_);
      over.swap(over_);
    }
    for (const auto& [rank, operation, status] : over) {
      if (operation != RMA_REQUEST_NULL) {
        pending_.end(rank, operation, status);
      } else {
        pending_.end(rank, pending_.contexts().default_context(), status);
      }
    }
    in_progress_.fetch_sub(1);
    return !over.empty();
  }
  void flush(int rank, CompletionContext& context) override {
    ++flushes;
    context.failed(rank, fails_at_flush);
  }
  void give_up(int rank) override {
    ++given_up;
    for (; unanswered > 0; --unanswered) {
      pending_.end(rank, pending_.contexts().default_context(), RMA_ERR_PEER_LOST);
    }
  }
  void arm() override {
    std::uint64_t events = 0;
    for (const int fd : fds_) static_cast<void>(read(fd, &events, sizeof events) == 0);
  }
  void disarm() override {
    if (slept) std::exchange(slept, nullptr)();
  }
  [[nodiscard]] std::span<const int> event_fds() const override { return fds_; }
  [[nodiscard]] std::string explain(rma_status_t /*code*/, int rank) const override {
    return "rank " + std::to_string(rank);
  }

  std::function<void()> slept;  ///< called once, after the first sleep
  std::atomic<int> flushes = 0;
  std::atomic<int> given_up = 0;
  std::atomic<int> unanswered = 0;  ///< parts that end when the rank is given up
  rma_status_t fails_at_flush = RMA_SUCCESS;

 private:
  struct Over {
    int rank;
    rma_request_t operation;
    rma_status_t status;
  };
  PendingOperations& pending_;
  std::vector<int> fds_;
  std::atomic<int> in_progress_ = 0;
  std::mutex lock_;
  std::vector<Over> over_;
};

constexpr std::chrono::seconds kPatience{60};

class PendingOperationsTest : public testing::TestWithParam<bool> {
 protected:
  PendingOperationsTest() { use(pending, source); }
  static void use(PendingOperations& to, FakeProgressSource& added) {
    to.engine().add(added);
    for (int rank = 0; rank < 4; ++rank) to.set_progress_source(rank, added);
  }
  [[nodiscard]] rma_request_t open_with_part(int rank) {
    const rma_request_t operation = pending.open(rank);
    pending.begin(rank, operation);
    return operation;
  }

  PendingOperations pending{4, {.spins = 0, .yields = 0}, kPatience};
  FakeProgressSource source{pending, GetParam()};
};

TEST_P(PendingOperationsTest, AConditionThatHeldIsNotAskedAgain) {
  // The second look is the one right before the sleep.
  for (int holds_at = 1; holds_at <= 4; ++holds_at) {
    int asked = 0;
    pending.engine().wait_until(1, [&] { return ++asked >= holds_at; });
    EXPECT_EQ(asked, holds_at);
  }
}

TEST_P(PendingOperationsTest, ThreadsThatTakeWhatTheyWaitForTakeItOnce) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  std::atomic<int> available = 0;
  std::atomic<int> taken = 0;
  std::atomic<int> left = kThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        pending.engine().wait_until(1, [&] {
          int seen = available.load();
          while (seen > 0 && !available.compare_exchange_weak(seen, seen - 1)) {
          }
          if (seen > 0) ++taken;
          return seen > 0;
        });
      }
      --left;
    });
  }
  while (left.load() > 0) {
    if (available.load() < kThreads) ++available;
    source.wake();
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.load(), kThreads * kRounds);
}

TEST_P(PendingOperationsTest, ThreadsThatSleepAreWokenByTheNewsThatEachWaitsFor) {
  constexpr int kRounds = 200;
  std::array<std::atomic<rma_request_t>, 2> posted = {RMA_REQUEST_NULL, RMA_REQUEST_NULL};
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) {
        const rma_request_t operation = open_with_part(static_cast<int>(i));
        posted[i].store(operation, std::memory_order_release);
        if (!pending.finish(operation).ok()) ++wrong;
      }
    });
  }
  for (int left = 2 * kRounds; left > 0;) {
    for (std::size_t i = 0; i < 2; ++i) {
      const rma_request_t operation = posted[i].exchange(RMA_REQUEST_NULL, std::memory_order_acquire);
      if (operation == RMA_REQUEST_NULL) continue;
      source.finish_later(static_cast<int>(i), operation, RMA_SUCCESS);
      --left;
    }
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(source.given_up, 0);
}

TEST_P(PendingOperationsTest, AConditionThatAnotherThreadMakesTrueIsSeen) {
  std::atomic<bool> condition = false;
  std::thread waiter([&] { pending.engine().wait_until(1, [&] { return condition.load(); }); });
  std::thread other([&] { pending.engine().wait_until(2, [&] { return condition.load(); }); });
  condition = true;
  source.wake();
  waiter.join();
  other.join();
}

TEST_P(PendingOperationsTest, TheFirstFailureIsReportedByTheNextFenceOnce) {
  pending.begin(1, pending.contexts().current());
  pending.begin(1, pending.contexts().current());
  pending.begin(2, pending.contexts().current());
  source.finish_later(1, RMA_REQUEST_NULL, RMA_ERR_ADDRESS);
  source.finish_later(1, RMA_REQUEST_NULL, RMA_ERR_PEER_LOST);
  source.finish_later(2, RMA_REQUEST_NULL, RMA_SUCCESS);
  const Status first = pending.fence(1);
  EXPECT_EQ(first.code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(first.text(), "rank 1");
  EXPECT_TRUE(pending.fence(1).ok());
  EXPECT_TRUE(pending.fence(2).ok());
  EXPECT_TRUE(pending.fence_all().ok());
}

TEST_P(PendingOperationsTest, AFenceAsksForWhatIsNotReportedOnce) {
  ASSERT_TRUE(pending.fence_all().ok());
  EXPECT_EQ(source.flushes, 0);
  pending.issued(1);
  pending.issued(1);
  source.fails_at_flush = RMA_ERR_PEER_LOST;
  EXPECT_EQ(pending.fence_all().code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(source.flushes, 1);
  source.fails_at_flush = RMA_SUCCESS;
  EXPECT_TRUE(pending.fence(1).ok());
  EXPECT_TRUE(pending.fence_all().ok());
  EXPECT_EQ(source.flushes, 1);
}

TEST_P(PendingOperationsTest, AnOperationThatIsLeftFailsTheFence) {
  const rma_request_t operation = open_with_part(3);
  pending.leave(operation);
  source.finish_later(3, operation, RMA_ERR_ADDRESS);
  EXPECT_EQ(pending.fence_all().code(), RMA_ERR_ADDRESS);
  EXPECT_FALSE(pending.known(operation));
  EXPECT_TRUE(pending.fence_all().ok());
}

/// Lets the calling thread use a new context, and the default one after the scope.
class OwnContext {
 public:
  explicit OwnContext(PendingOperations& pending) : pending_(pending), context_(pending.contexts().take()) {
    pending.contexts().use(context_);
  }
  ~OwnContext() { pending_.contexts().use(pending_.contexts().default_context()); }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;

 private:
  PendingOperations& pending_;
  CompletionContext& context_;
};

TEST_P(PendingOperationsTest, AFenceWaitsForTheOperationsOfItsContextAlone) {
  // A fence that waited for the other context's operation would give the rank up after its patience.
  PendingOperations impatient(4, {.spins = 0, .yields = 0}, std::chrono::milliseconds(5));
  FakeProgressSource silent(impatient, GetParam());
  use(impatient, silent);
  const auto begin = [&] {
    const rma_request_t operation = impatient.open(1);
    impatient.begin(1, operation);
    impatient.leave(operation);
    return operation;
  };
  const rma_request_t by_default = begin();
  rma_request_t apart = RMA_REQUEST_NULL;
  {
    const OwnContext own(impatient);
    EXPECT_TRUE(impatient.fence(1).ok());
    EXPECT_TRUE(impatient.fence_all().ok());
    apart = begin();
    silent.finish_later(1, apart, RMA_ERR_ADDRESS);
    EXPECT_EQ(impatient.fence(1).code(), RMA_ERR_ADDRESS);
    EXPECT_TRUE(impatient.fence_all().ok());
    apart = begin();
  }
  silent.finish_later(1, by_default, RMA_SUCCESS);
  EXPECT_TRUE(impatient.fence(1).ok());
  EXPECT_EQ(silent.given_up, 0);
  // The operation of the other context is still under way, and a fence of all contexts waits for it.
  silent.finish_later(1, apart, RMA_ERR_SIZE);
  EXPECT_EQ(impatient.fence_all_contexts().code(), RMA_ERR_SIZE);
  EXPECT_TRUE(impatient.fence_all_contexts().ok());
}

TEST_P(PendingOperationsTest, EachContextAsksForItsUnreportedPuts) {
  pending.issued(1);
  {
    const OwnContext own(pending);
    EXPECT_TRUE(pending.fence_all().ok());
    EXPECT_EQ(source.flushes, 0);
    pending.issued(1);
    EXPECT_TRUE(pending.fence(1).ok());
    EXPECT_EQ(source.flushes, 1);
  }
  EXPECT_TRUE(pending.fence_all().ok());
  EXPECT_EQ(source.flushes, 2);
  EXPECT_TRUE(pending.fence_all_contexts().ok());
  EXPECT_EQ(source.flushes, 2);
}

TEST_P(PendingOperationsTest, TheFailureOfAnUnreportedPutReachesEveryContext) {
  const OwnContext own(pending);
  pending.unsignaled_failed(2, RMA_ERR_PEER_LOST);
  EXPECT_EQ(pending.fence_all().code(), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(pending.fence_all().ok());
  pending.contexts().use(pending.contexts().default_context());
  EXPECT_EQ(pending.fence(2).code(), RMA_ERR_PEER_LOST);
  EXPECT_TRUE(pending.fence(2).ok());
}

TEST_P(PendingOperationsTest, AThreadThatHasChosenNoContextUsesTheDefaultOne) {
  const OwnContext own(pending);
  const CompletionContext* seen = nullptr;
  std::thread([&] { seen = &pending.contexts().current(); }).join();
  EXPECT_EQ(seen, &pending.contexts().default_context());
  EXPECT_NE(&pending.contexts().current(), seen);
  // The next job's contexts are others, even at the same addresses.
  PendingOperations next(4, {.spins = 0, .yields = 0}, kPatience);
  static_cast<void>(next.contexts().take());
  EXPECT_EQ(&next.contexts().current(), &next.contexts().default_context());
}

TEST_P(PendingOperationsTest, AFailureWithoutMemoryForItsTextKeepsItsCode) {
  for (const rma_status_t code : {RMA_ERR_CANCELED, RMA_ERR_TRUNCATED, RMA_ERR_SYSTEM}) {
    const rma_request_t operation = pending.open(ProgressEngine::kNoRank);
    pending.settle(operation, code, ProgressEngine::kNoRank);
    let_fail(0, true);
    const Status status = pending.wait(operation);
    EXPECT_TRUE(end_failing());
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.text(), Status::kNoMemoryLeft);
  }
}

TEST_P(PendingOperationsTest, ASilentRankIsGivenUp) {
  PendingOperations impatient(4, {.spins = 0, .yields = 0}, std::chrono::milliseconds(5));
  FakeProgressSource silent(impatient, GetParam());
  use(impatient, silent);
  silent.unanswered = 2;
  impatient.begin(1, impatient.contexts().current());
  impatient.begin(1, impatient.contexts().current());
  EXPECT_EQ(impatient.fence(1).code(), RMA_ERR_PEER_LOST);
  EXPECT_GE(silent.given_up, 1);
  EXPECT_TRUE(impatient.fence(1).ok());
}

TEST_P(PendingOperationsTest, ARankIsNotGivenUpForTimeInWhichItsWaiterDidNotRun) {
  PendingOperations impatient(4, {.spins = 0, .yields = 0}, std::chrono::milliseconds(5));
  FakeProgressSource late(impatient, GetParam());
  use(impatient, late);
  const rma_request_t operation = impatient.open(1);
  impatient.begin(1, operation);
  late.slept = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // without a processor, it may seem
    late.finish_later(1, operation, RMA_SUCCESS);
  };
  EXPECT_TRUE(impatient.finish(operation).ok());
  EXPECT_EQ(late.given_up, 0);
}

/// A progress source of puts whose end is not reported. A flush asks whether they are complete, and is over
/// at the next progress.
class UnreportedPuts final : public ProgressSource {
 public:
  explicit UnreportedPuts(PendingOperations& pending) : pending_(pending) {
    pending.engine().add(*this);
    for (int rank = 0; rank < 4; ++rank) pending.set_progress_source(rank, *this);
  }
  /// Returns the put's number.
  int put(int rank) {
    const int number = posted_.fetch_add(1) + 1;
    pending_.issued(rank);
    return number;
  }
  /// Returns whether the put with this number is over.
  [[nodiscard]] bool over(int number) const { return over_.load() >= number; }

  void flush(int rank, CompletionContext& context) override {
    if (before_flush) before_flush();
    pending_.begin(rank, context);
    const std::lock_guard guard(lock_);
    asked_.push_back({rank, posted_.load(), &context});
  }
  bool progress() override {
    if (before_progress) before_progress();
    std::vector<Asked> asked;
    {
      const std::lock_guard guard(lock_);
      asked.swap(asked_);
    }
    for (const auto& [rank, last, context] : asked) {
      int before = over_.load();
      while (before < last && !over_.compare_exchange_weak(before, last)) {
      }
      pending_.end(rank, *context, RMA_SUCCESS);
    }
    return !asked.empty();
  }
  void give_up(int /*rank*/) override { ADD_FAILURE() << "given up"; }
  void arm() override {}
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t /*code*/, int /*rank*/) const override { return ""; }

  std::function<void()> before_flush;
  std::function<void()> before_progress;

 private:
  struct Asked {
    int rank;
    int last;  ///< the last put that was posted before
    CompletionContext* context;
  };
  PendingOperations& pending_;
  std::atomic<int> posted_ = 0;
  std::atomic<int> over_ = 0;
  std::mutex lock_;
  std::vector<Asked> asked_;
};

using Fence = std::function<Status(PendingOperations&)>;

/// A second fence begins after the first one has taken over the flush, but before it has started it.
void expect_to_wait_for_anothers_flush(const Fence& first, const Fence& second) {
  PendingOperations pending(4, {.spins = 0, .yields = 0}, kPatience);
  UnreportedPuts puts(pending);
  std::binary_semaphore flushing(0);
  std::binary_semaphore may_flush(0);
  puts.before_flush = [&] {
    flushing.release();
    may_flush.acquire();
  };
  const int mine = puts.put(1);
  std::thread other([&] { EXPECT_TRUE(first(pending).ok()); });
  flushing.acquire();
  // A fence that waits, as it must, calls progress().
  bool waited = false;
  const auto let_flush = [&] {
    if (!std::exchange(waited, true)) may_flush.release();
  };
  puts.before_progress = let_flush;
  EXPECT_TRUE(second(pending).ok());
  EXPECT_TRUE(puts.over(mine)) << "the fence returned before this thread's put was over";
  EXPECT_TRUE(waited);
  puts.before_progress = nullptr;
  let_flush();
  other.join();
}

TEST(Fences, OneWaitsForTheFlushOfAnotherThatHasNotBegunYet) {
  const Fence fence = [](PendingOperations& pending) { return pending.fence(1); };
  const Fence fence_all = [](PendingOperations& pending) { return pending.fence_all(); };
  expect_to_wait_for_anothers_flush(fence, fence);
  expect_to_wait_for_anothers_flush(fence_all, fence);
  expect_to_wait_for_anothers_flush(fence, fence_all);
}

/// Several threads put and fence. With two contexts, each is used by every other thread.
void expect_no_early_fence(bool all, bool two_contexts) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 15000;
  PendingOperations pending(4, {.spins = 10, .yields = 10}, kPatience);
  UnreportedPuts puts(pending);
  CompletionContext& common = pending.contexts().default_context();
  CompletionContext& other = two_contexts ? pending.contexts().take() : common;
  std::atomic<int> early = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      pending.contexts().use(t % 2 == 0 ? common : other);
      for (int round = 0; round < kRounds; ++round) {
        const int mine = puts.put(1);
        if (!(all ? pending.fence_all() : pending.fence(1)).ok()) ++early;
        if (!puts.over(mine)) ++early;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(early, 0) << (all ? "fence_all" : "fence") << (two_contexts ? ", two contexts" : "");
}

TEST(Fences, NoneReturnsBeforeItsOwnThreadsPutsAreOver) {
  for (const bool all : {false, true}) {
    for (const bool two_contexts : {false, true}) expect_no_early_fence(all, two_contexts);
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutEvents, PendingOperationsTest, testing::Bool());

}  // namespace
}  // namespace librma
