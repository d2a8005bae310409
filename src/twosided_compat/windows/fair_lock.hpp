#pragma once

#include <cstdint>

#include "mpi.h"
#include "util/try.hpp"

// A fair lock of two kinds of holders, in words that processes share. The locks of windows are made of it
// (window_locks.cpp).
//
//   state      the numbers of holders of kind A and of kind B, and of processes that wait in the queue
//   next       the ticket that the next process draws
//   serving    the ticket of the process at the head of the queue
//   overtaken  how many processes have passed the queue since its head came there
//
// A process counts itself as a holder. If no other one excludes it, and nobody waits, it has the lock: one
// atomic operation. If nobody excludes it, but others wait, it counts in `overtaken` and has the lock, too,
// unless there were kOvertakings before it: a lock that must pass to a process which does not run now is
// slow, so that those who run take turns first. Otherwise it takes the count back and counts as waiting, in
// one step, and draws a ticket. The head of the queue tries again whenever nobody excludes it, and once it
// has the lock, it makes the next one the head.
//
// The bound: once a process has drawn its ticket, which its third atomic operation does, the processes in
// front of it get the lock in their order, and between two of these turns at most 2 * kOvertakings that asked
// later. This holds whatever the kinds are: sharers do not keep a writer waiting for longer, nor do writers a
// sharer.
//
// One exception keeps processes from waiting in a circle. A process that holds another lock, for which the
// holders of this one may wait, does not queue: it lets those that wait go first for a bounded number of
// pauses, and then needs only that nobody excludes it.
//
// A process that ends while it holds the lock or waits for it blocks those behind it. Their pauses then fail.

namespace librma::mpi {

struct FairLock {
  std::uint64_t state = 0;
  std::uint64_t next = 0;
  std::uint64_t serving = 0;
  std::uint64_t overtaken = 0;
};

namespace fair_lock {

using Word = std::uint64_t;

inline constexpr Word kOneA = 1;
inline constexpr Word kOneB = Word{1} << 21U;
inline constexpr Word kOneWaiting = Word{1} << 42U;
inline constexpr Word kAllA = kOneB - kOneA;
inline constexpr Word kAllB = kOneWaiting - kOneB;
inline constexpr Word kAllWaiting = ~(kAllA | kAllB);

constexpr Word minus(Word value) { return ~value + 1; }

/// How a process holds a lock.
struct Kind {
  Word unit;
  Word excluding;  ///< the holders that exclude it
};
inline constexpr Kind kShared = {.unit = kOneA, .excluding = kAllB};
inline constexpr Kind kExclusive = {.unit = kOneB, .excluding = kAllA | kAllB};
/// The lock has two groups of holders. A holder excludes the members of the other group only.
inline constexpr Kind kGroupA = {.unit = kOneA, .excluding = kAllB};
inline constexpr Kind kGroupB = {.unit = kOneB, .excluding = kAllA};

/// A process that holds another lock lets those that wait go first for this many pauses.
inline constexpr int kPatience = 64;

/// Waits until load(word) gives a value of which `ends(value)` is true.
template <typename Words, typename Ends>
int wait_until(Words& words, std::uint64_t FairLock::*word, const Ends& ends) {
  Word value = 0;
  if (const int code = words.load(word, value); code != MPI_SUCCESS || ends(value)) return code;
  typename Words::Wait wait(words);
  while (!ends(value)) {
    RMA_TRY(wait.pause());
    RMA_TRY(words.load(word, value));
  }
  return MPI_SUCCESS;
}

/// Waits until nobody excludes this process, and gets the lock.
template <typename Words>
int enter(Words& words, const Kind& kind) {
  while (true) {
    Word old = 0;
    RMA_TRY(words.add(&FairLock::state, kind.unit, old));
    if ((old & kind.excluding) == 0) return MPI_SUCCESS;
    RMA_TRY(words.add(&FairLock::state, minus(kind.unit), old));
    RMA_TRY(wait_until(words, &FairLock::state, [&](Word value) { return (value & kind.excluding) == 0; }));
  }
}

/// Waits for a ticket. The wait begins anew, without long pauses, whenever the queue moves.
template <typename Words>
int wait_for_turn(Words& words, Word ticket) {
  Word head = 0;
  RMA_TRY(words.load(&FairLock::serving, head));
  while (head != ticket) {
    const Word before = head;
    RMA_TRY(wait_until(words, &FairLock::serving, [&](Word value) {
      head = value;
      return value != before;
    }));
  }
  return MPI_SUCCESS;
}

/// Lets others pass the queue again.
template <typename Words>
int reopen(Words& words) {
  Word overtaken = 0;
  Word ignored = 0;
  RMA_TRY(words.load(&FairLock::overtaken, overtaken));
  return overtaken == 0 ? MPI_SUCCESS : words.add(&FairLock::overtaken, minus(overtaken), ignored);
}

/// Gets the lock in the order of tickets. This process is counted as waiting.
template <typename Words>
int enter_in_order(Words& words, const Kind& kind) {
  Word ticket = 0;
  Word ignored = 0;
  int code = words.add(&FairLock::next, 1, ticket);
  bool is_head = false;
  if (code == MPI_SUCCESS) code = wait_for_turn(words, ticket);
  if (code == MPI_SUCCESS) {
    is_head = true;
    code = enter(words, kind);
  }
  if (code == MPI_SUCCESS) code = reopen(words);
  const int counted = words.add(&FairLock::state, minus(kOneWaiting), ignored);
  // A process that fails passes its turn on, too, so that the one behind it finds out by itself.
  const int passed = is_head ? words.add(&FairLock::serving, 1, ignored) : MPI_SUCCESS;
  RMA_TRY(code);
  return counted != MPI_SUCCESS ? counted : passed;
}

/// Gets the lock, or returns the error of a pause or of the words. `holds_another`: this process holds
/// another lock.
///
/// `words` has add(word, operand, old) and load(word, value), sequentially consistent atomic operations on
/// the members of a FairLock that return MPI_SUCCESS or an error, a type Wait, made of `words`, with pause(),
/// and a constant kOvertakings.
template <typename Words>
int acquire(Words& words, const Kind& kind, bool holds_another) {
  Word old = 0;
  RMA_TRY(words.add(&FairLock::state, kind.unit, old));
  if ((old & (kind.excluding | kAllWaiting)) == 0) return MPI_SUCCESS;
  if ((old & kind.excluding) == 0) {
    Word before = 0;
    RMA_TRY(words.add(&FairLock::overtaken, 1, before));
    if (before < Words::kOvertakings) return MPI_SUCCESS;
  }
  if (!holds_another) {
    RMA_TRY(words.add(&FairLock::state, kOneWaiting - kind.unit, old));
    return enter_in_order(words, kind);
  }
  RMA_TRY(words.add(&FairLock::state, minus(kind.unit), old));
  typename Words::Wait wait(words);
  for (int pauses = 0; pauses < kPatience && (old & kAllWaiting) != 0; ++pauses) {
    RMA_TRY(wait.pause());
    RMA_TRY(words.load(&FairLock::state, old));
  }
  return enter(words, kind);
}

template <typename Words>
int release(Words& words, const Kind& kind) {
  Word ignored = 0;
  return words.add(&FairLock::state, minus(kind.unit), ignored);
}

}  // namespace fair_lock
}  // namespace librma::mpi
