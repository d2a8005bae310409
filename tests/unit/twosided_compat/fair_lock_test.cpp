#include "twosided_compat/windows/fair_lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include "../seed.hpp"

// Processes that take one step at a time, each step an atomic operation or a pause, in an order that a seed
// gives. So the numbers of those that get a lock between a request and its grant are exact.

namespace librma::mpi {
namespace {

using fair_lock::Kind;
using Word = fair_lock::Word;

/// Lets one of several threads run at a time.
class Turns {
 public:
  Turns(std::size_t processes, std::uint64_t seed) : random_(seed) {
    for (std::size_t i = 0; i < processes; ++i)
      may_run_.push_back(std::make_unique<std::binary_semaphore>(0));
  }
  /// Runs `body(process)` for every process until all have ended. They take at most `most` steps together.
  void run(const std::function<void(std::size_t)>& body, std::size_t most) {
    left_ = most;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < may_run_.size(); ++i) {
      running_.push_back(i);
      threads.emplace_back([this, i, &body] {
        may_run_[i]->acquire();
        body(i);
        std::erase(running_, i);
        if (!running_.empty()) pass_on();
      });
    }
    pass_on();
    for (std::thread& thread : threads) thread.join();
  }
  /// Lets another process run, or the same one. Returns false if the processes took too many steps.
  [[nodiscard]] bool step(std::size_t process) {
    ++now_;
    if (left_ == 0) return false;
    --left_;
    pass_on();
    may_run_[process]->acquire();
    return true;
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  [[nodiscard]] std::uint64_t draw(std::uint64_t below) { return random_() % below; }

 private:
  void pass_on() { may_run_[running_[random_() % running_.size()]]->release(); }

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<std::binary_semaphore>> may_run_;
  std::vector<std::size_t> running_;
  std::size_t left_ = 0;
  std::uint64_t now_ = 0;
};

/// A lock, and what its processes do with it.
struct Watched {
  struct Request {
    Kind kind = {};
    bool nested = false;
    bool tried = false;
    bool passes = false;  ///< is about to pass the queue
    bool waits = false;   ///< counted as waiting
    bool granted = false;
    std::uint64_t asked = 0;  ///< when the first step was taken
    std::uint64_t drawn = 0;  ///< when it drew its ticket, or 0
  };
  explicit Watched(std::size_t processes) : requests(processes) {}

  FairLock words;
  std::vector<Request> requests;
  int holders_a = 0;
  int holders_b = 0;
  int overtaken =
      0;  ///< grants to those that asked after the head had drawn its ticket, since the turn before
  int most_overtaken = 0;  ///< the most of them in one turn
  int grants = 0;
  bool excludes = true;

  void grant(std::size_t process) {
    Request& request = requests[process];
    request.granted = true;
    ++grants;
    if (request.waits) overtaken = 0;
    const bool overtakes = std::ranges::any_of(requests, [&](const Request& other) {
      return other.drawn != 0 && !other.granted && other.drawn < request.asked;
    });
    if (overtakes && !request.nested) most_overtaken = std::max(most_overtaken, ++overtaken);
    const bool is_a = request.kind.unit == fair_lock::kOneA;
    excludes = excludes && ((request.kind.excluding & fair_lock::kAllA) == 0 || holders_a == 0) &&
               ((request.kind.excluding & fair_lock::kAllB) == 0 || holders_b == 0);
    ++(is_a ? holders_a : holders_b);
  }
  void leave(std::size_t process) {
    --(requests[process].kind.unit == fair_lock::kOneA ? holders_a : holders_b);
    requests[process] = {};
  }
};

constexpr int kStuck = MPI_ERR_LASTCODE;

/// What fair_lock asks for, for one process and one lock.
class Words {
 public:
  static constexpr Word kOvertakings = 3;
  struct Wait {
    explicit Wait(Words& words) : words_(words) {}
    [[nodiscard]] int pause() {
      if (words_.fails != nullptr && *words_.fails) return MPI_ERR_PROC_ABORTED;
      return words_.turns_.step(words_.process_) ? MPI_SUCCESS : kStuck;
    }
    Words& words_;
  };

  Words(Turns& turns, Watched& lock, std::size_t process) : turns_(turns), lock_(lock), process_(process) {}

  [[nodiscard]] int add(std::uint64_t FairLock::*word, Word operand, Word& old) {
    if (!turns_.step(process_)) return kStuck;
    old = lock_.words.*word;
    lock_.words.*word += operand;
    Watched::Request& request = lock_.requests[process_];
    if (word == &FairLock::next) request.drawn = turns_.now();
    if (word == &FairLock::overtaken && request.passes) {
      request.passes = false;
      if (old < kOvertakings) lock_.grant(process_);
    }
    if (word != &FairLock::state) return MPI_SUCCESS;
    if (operand == request.kind.unit) {
      if (!request.tried) request.asked = turns_.now();
      const bool queue_counts = !request.waits && !request.tried && (old & fair_lock::kAllWaiting) != 0;
      request.tried = true;
      request.passes = (old & request.kind.excluding) == 0 && queue_counts;
      if ((old & request.kind.excluding) == 0 && !queue_counts) lock_.grant(process_);
    } else if (operand == fair_lock::kOneWaiting - request.kind.unit) {
      request.waits = true;
    }
    return MPI_SUCCESS;
  }
  [[nodiscard]] int load(std::uint64_t FairLock::*word, Word& value) {
    if (!turns_.step(process_)) return kStuck;
    value = lock_.words.*word;
    return MPI_SUCCESS;
  }
  [[nodiscard]] int acquire(const Kind& kind, bool nested = false) {
    lock_.requests[process_] = {.kind = kind, .nested = nested};
    return fair_lock::acquire(*this, kind, nested);
  }
  [[nodiscard]] int release() {
    const Kind kind = lock_.requests[process_].kind;
    lock_.leave(process_);
    return fair_lock::release(*this, kind);
  }

  const bool* fails = nullptr;  ///< pauses fail while it is true

 private:
  Turns& turns_;
  Watched& lock_;
  const std::size_t process_;
};

constexpr std::size_t kMostSteps = 100'000;

/// Processes that ask again and again for one lock, each for one kind or, with 2, for either.
void contend(const std::array<Kind, 2>& kinds, const std::vector<int>& wants, int rounds,
             std::uint64_t seed) {
  Turns turns(wants.size(), seed);
  Watched lock(wants.size());
  turns.run(
      [&](std::size_t process) {
        Words words(turns, lock, process);
        for (int i = 0; i < rounds; ++i) {
          const int kind = wants[process] == 2 ? static_cast<int>(turns.draw(2)) : wants[process];
          ASSERT_EQ(words.acquire(kinds[static_cast<std::size_t>(kind)]), MPI_SUCCESS);
          for (std::uint64_t held = turns.draw(4); held > 0; --held) ASSERT_TRUE(turns.step(process));
          ASSERT_EQ(words.release(), MPI_SUCCESS);
        }
      },
      kMostSteps);
  EXPECT_TRUE(lock.excludes);
  EXPECT_LE(lock.most_overtaken, 2 * static_cast<int>(Words::kOvertakings));
  EXPECT_EQ(lock.grants, static_cast<int>(wants.size()) * rounds);
  EXPECT_EQ(lock.words.state, 0U) << "nobody is counted any more";
  EXPECT_EQ(lock.words.next, lock.words.serving);
}

TEST(FairLockTest, FewPassOneThatWaits) {
  const std::uint64_t seed = test_seed();
  for (std::uint64_t run = 0; run < 4; ++run) {
    // Writers against one reader, readers against one writer, and all mixtures.
    contend({fair_lock::kShared, fair_lock::kExclusive}, {1, 1, 1, 1, 0}, 12, seed + run);
    contend({fair_lock::kShared, fair_lock::kExclusive}, {0, 0, 0, 0, 1}, 12, seed + run);
    contend({fair_lock::kShared, fair_lock::kExclusive}, {2, 2, 2, 2, 2}, 12, seed + run);
    contend({fair_lock::kGroupA, fair_lock::kGroupB}, {1, 1, 1, 1, 0}, 12, seed + run);
    contend({fair_lock::kGroupA, fair_lock::kGroupB}, {2, 2, 2, 2, 2}, 12, seed + run);
  }
}

TEST(FairLockTest, WithoutOthersItTakesOneOperation) {
  Turns turns(1, test_seed());
  Watched lock(1);
  turns.run(
      [&](std::size_t process) {
        Words words(turns, lock, process);
        for (const Kind& kind :
             {fair_lock::kShared, fair_lock::kExclusive, fair_lock::kGroupA, fair_lock::kGroupB}) {
          const std::uint64_t before = turns.now();
          ASSERT_EQ(words.acquire(kind), MPI_SUCCESS);
          EXPECT_EQ(turns.now() - before, 1U);
          ASSERT_EQ(words.release(), MPI_SUCCESS);
          EXPECT_EQ(turns.now() - before, 2U);
        }
      },
      kMostSteps);
}

TEST(FairLockTest, ThoseThatHoldAnotherLockDoNotWaitInACircle) {
  // Two processes share both locks, in opposite orders, while a writer waits for each lock.
  const std::uint64_t seed = test_seed();
  for (std::uint64_t run = 0; run < 8; ++run) {
    Turns turns(4, seed + run);
    std::array<Watched, 2> locks = {Watched(4), Watched(4)};
    turns.run(
        [&](std::size_t process) {
          Words first(turns, locks[process % 2], process);
          Words second(turns, locks[1 - process % 2], process);
          for (int i = 0; i < 12; ++i) {
            if (process >= 2) {
              ASSERT_EQ(first.acquire(fair_lock::kExclusive), MPI_SUCCESS);
              ASSERT_TRUE(turns.step(process));
              ASSERT_EQ(first.release(), MPI_SUCCESS);
              continue;
            }
            ASSERT_EQ(first.acquire(fair_lock::kShared), MPI_SUCCESS);
            ASSERT_EQ(second.acquire(fair_lock::kShared, true), MPI_SUCCESS);
            ASSERT_EQ(second.release(), MPI_SUCCESS);
            ASSERT_EQ(first.release(), MPI_SUCCESS);
          }
        },
        kMostSteps);
    for (const Watched& lock : locks) {
      EXPECT_TRUE(lock.excludes);
      EXPECT_LE(lock.most_overtaken, 2 * static_cast<int>(Words::kOvertakings));
      EXPECT_EQ(lock.grants, 36);
      EXPECT_EQ(lock.words.state, 0U);
    }
  }
}

TEST(FairLockTest, AfterTheLossOfOneThatWaitsTheOthersFail) {
  const std::uint64_t seed = test_seed();
  for (std::uint64_t run = 0; run < 8; ++run) {
    Turns turns(4, seed + run);
    Watched lock(4);
    bool lost = false;
    int failed = 0;
    turns.run(
        [&](std::size_t process) {
          Words words(turns, lock, process);
          words.fails = process == 0 ? nullptr : &lost;
          for (int i = 0; i < 20; ++i) {
            if (process == 0 && i == 5) {
              // Is counted, draws a ticket, and never uses it.
              Word ignored = 0;
              ASSERT_EQ(words.add(&FairLock::state, fair_lock::kOneWaiting, ignored), MPI_SUCCESS);
              ASSERT_EQ(words.add(&FairLock::next, 1, ignored), MPI_SUCCESS);
              lost = true;
              return;
            }
            const int code = words.acquire(process % 2 == 0 ? fair_lock::kShared : fair_lock::kExclusive);
            if (code == MPI_ERR_PROC_ABORTED) {
              ++failed;
              lock.requests[process] = {};
              return;
            }
            ASSERT_EQ(code, MPI_SUCCESS);
            ASSERT_EQ(words.release(), MPI_SUCCESS);
          }
        },
        kMostSteps);
    EXPECT_TRUE(lock.excludes);
    EXPECT_EQ(lock.words.state / fair_lock::kOneWaiting, 1U) << "the lost one is still counted";
    EXPECT_EQ(lock.words.state % fair_lock::kOneWaiting, 0U);
    EXPECT_GE(failed, 1);
  }
}

}  // namespace
}  // namespace librma::mpi
