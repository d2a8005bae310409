// Locks and critical sections, as queues: J. Mellor-Crummey and M. Scott, Algorithms for scalable
// synchronization on shared-memory multiprocessors, ACM TOCS 9(1), 1991, section 2.4.
//
// rma_lock has no attempt that fails if the lock is taken (acquired_lock=), and does not say who holds it
// (the values of stat=), so locks are made of atomics here. The word of a lock in the coarray names the last
// place of its queue: the rank, and which of that image's places. A place says which place is behind it, and
// whether its image still waits.
//
// An image may fail while it holds a lock or waits for it. A place therefore also says which place is in
// front of it (Meeting::fronts), from before it is in the queue on: it enters by a compare-and-swap,
// unlike in the paper, which swaps and then knows the place in front. An image that waits looks from time
// to time whether the image in front has failed. If that one held the lock, nobody hands it over, and this
// image takes it. If it waited, the place in front of that decides. An image that lives hands the lock to
// the place behind it even if its image has failed, whose place then says that it holds the lock. If that
// image has failed before it said where it is, the fronts lead to it from the end of the queue. Only the
// image behind looks at a place, so no two images take a lock.

#include <bit>
#include <map>
#include <tuple>

#include "coarrays/entry_points.hpp"
#include "coarrays/looks.hpp"
#include "coarrays/memory.hpp"
#include "rma/direct.h"

namespace librma::coarrays {
namespace {

/// The mark of a place whose image waits. The other bits name the place behind.
constexpr std::uint64_t kWaits = std::uint64_t{1} << 63U;

/// The value in Meeting::fronts of an image that found the lock free.
constexpr std::uint64_t kNobody = ~std::uint64_t{0};

/// A place in a queue: a word of a rank's Meeting.
struct PlaceName {
  int rank;
  std::size_t index;

  /// Returns the name in one word, which is never 0: a lock with the word 0 is free.
  [[nodiscard]] std::uint64_t packed() const {
    return (static_cast<std::uint64_t>(rank) + 1) * kLockPlaces + index;
  }
  static PlaceName unpacked(std::uint64_t name) {
    return {.rank = static_cast<int>(name / kLockPlaces) - 1, .index = name % kLockPlaces};
  }
  [[nodiscard]] std::uint64_t* word() const { return &meetings.of(rank)->places[index]; }
  [[nodiscard]] std::uint64_t* front() const { return &meetings.of(rank)->fronts[index]; }
};

/// A lock of one image's coarray.
struct Lock {
  std::uint64_t* word;  ///< the owner's address
  int rank;
  bool operator<(const Lock& other) const { return std::tie(rank, word) < std::tie(other.rank, other.word); }
};

std::uint64_t update_word(rma_atomic_op_t operation, const Lock& word, std::uint64_t operand,
                          std::uint64_t compare = 0) {
  std::uint64_t old = 0;
  require(rma_atomic64(operation, word.word, operand, compare, &old, word.rank));
  return old;
}
Lock word_of(const PlaceName& place) { return {.word = place.word(), .rank = place.rank}; }

/// The locks that this image holds, and its places in their queues.
class Held {
 public:
  [[nodiscard]] const PlaceName* find(const Lock& lock) const {
    const auto found = places_.find(lock);
    return found != places_.end() ? &found->second : nullptr;
  }
  /// Takes a place whose image waits.
  const PlaceName& add(const Lock& lock) {
    std::size_t index = 0;
    while (index < kLockPlaces && used_[index]) ++index;
    if (index == kLockPlaces) die(fmt::format("an image holds at most {} locks at a time", kLockPlaces));
    used_[index] = true;
    const PlaceName place = {.rank = rma_rank(), .index = index};
    __atomic_store_n(place.front(), kNobody, __ATOMIC_RELEASE);
    __atomic_store_n(place.word(), kWaits, __ATOMIC_RELEASE);  // pairs with the next place's update of it
    return places_.emplace(lock, place).first->second;
  }
  void remove(const Lock& lock) {
    const auto found = places_.find(lock);
    used_[found->second.index] = false;
    places_.erase(found);
  }

 private:
  std::map<Lock, PlaceName> places_;
  std::array<bool, kLockPlaces> used_ = {};
};
Held held;

Lock lock_of(const Coarray& locks, std::size_t index, int rank) {
  return {
      .word = reinterpret_cast<std::uint64_t*>(owners_address(locks, index * sizeof(std::uint64_t), rank)),
      .rank = rank};
}

/// Says which place is in front of one of this image's, for the image behind.
void note_front(const PlaceName& place, std::uint64_t front) {
  __atomic_store_n(place.front(), front, __ATOMIC_RELEASE);
}

bool has_failed(int rank) {
  return load(meetings.partners()[rank].end) == kFailed || process_has_ended(rank);
}

/// Returns whether an image held the lock and has failed, and all images between it and the place behind
/// `front` have, so that nobody hands the lock over.
bool abandoned(PlaceName front) {
  while (has_failed(front.rank)) {
    std::uint64_t waits = 0;
    std::uint64_t before = 0;
    require(rma_get8(&waits, front.word(), front.rank));
    require(rma_get8(&before, front.front(), front.rank));
    if ((waits & kWaits) == 0 || before == kNobody) return true;
    front = PlaceName::unpacked(before);
  }
  return false;
}

/// Enters the queue at its end. Returns the place in front, or 0 if the lock was free.
std::uint64_t enter_queue(const Lock& lock, const PlaceName& place) {
  std::uint64_t last = 0;
  for (;;) {
    note_front(place, last != 0 ? last : kNobody);
    const std::uint64_t found = update_word(RMA_COMPARE_SWAP, lock, place.packed(), last);
    if (found == last) return last;
    last = found;
  }
}

/// Returns whether the lock was taken over from an image that has failed.
bool acquire(const Lock& lock) {
  const PlaceName& place = held.add(lock);
  const std::uint64_t before = enter_queue(lock, place);
  if (before == 0) return false;
  const PlaceName front = PlaceName::unpacked(before);
  update_word(RMA_OR, word_of(front), place.packed());
  const auto handed_over = [&] { return (load(*place.word()) & kWaits) == 0; };
  Looks looks;
  bool taken = false;
  wait_until([&] { return handed_over() || (taken = looks.due() && abandoned(front)); });
  // It may have failed right after it handed the lock over.
  if (taken) note_front(place, kNobody);
  return taken && !handed_over();
}

enum class Attempt : std::uint8_t { refused, acquired, taken_over };

Attempt try_acquire(const Lock& lock) {
  // The place is needed before anybody can see it at the queue's end.
  const PlaceName& place = held.add(lock);
  const std::uint64_t last = update_word(RMA_COMPARE_SWAP, lock, place.packed(), 0);
  Attempt attempt = last == 0 ? Attempt::acquired : Attempt::refused;
  static Looks looks;
  if (last != 0 && looks.due() && abandoned(PlaceName::unpacked(last)) &&
      update_word(RMA_COMPARE_SWAP, lock, place.packed(), last) == last) {
    attempt = Attempt::taken_over;
  }
  if (attempt == Attempt::refused) {
    held.remove(lock);
  } else {
    note_front(place, kNobody);
  }
  return attempt;
}

/// Returns the place behind one of this image's, in a queue that does not end with it, if the image there has
/// failed; else 0.
std::uint64_t failed_behind(const Lock& lock, const PlaceName& place) {
  std::uint64_t behind = update_word(RMA_FETCH, lock, 0);
  for (;;) {
    const PlaceName name = PlaceName::unpacked(behind);
    std::uint64_t front = 0;
    require(rma_get8(&front, name.front(), name.rank));
    if (front == place.packed()) return has_failed(name.rank) ? behind : 0;
    if (front == kNobody) return 0;
    behind = front;
  }
}

/// Waits until the image that has entered the queue behind this one says so, or has failed. Returns its
/// place.
std::uint64_t wait_for_next(const Lock& lock, const PlaceName& place) {
  const std::uint64_t& word = *place.word();
  Looks looks;
  for (;;) {
    std::uint64_t next = 0;
    wait_until([&] { return (next = load(word) & ~kWaits) != 0 || looks.due(); });
    if (next == 0) next = failed_behind(lock, place);
    if (next != 0) return next;
  }
}

void release(const Lock& lock) {
  const PlaceName place = *held.find(lock);
  std::uint64_t next = load(*place.word()) & ~kWaits;
  if (next == 0) {
    if (update_word(RMA_COMPARE_SWAP, lock, 0, place.packed()) == place.packed()) return held.remove(lock);
    next = wait_for_next(lock, place);
  }
  held.remove(lock);
  update_word(RMA_AND, word_of(PlaceName::unpacked(next)), ~kWaits);
}

}  // namespace

void caf_lock(Coarray* token, std::size_t index, int image, int* acquired, int* stat, char* message,
              std::size_t length) {
  const Outcome outcome{.stat = stat, .message = message, .length = length};
  const int rank = rank_or_self(image);
  if (rank < 0) return refuse_image(outcome, image);
  const Lock lock = lock_of(*token, index, rank);
  if (held.find(lock) != nullptr)
    return outcome.fail(kLocked, "this image has locked the lock variable already");
  bool taken_over = false;
  if (acquired == nullptr) {
    taken_over = acquire(lock);
  } else {
    const Attempt attempt = try_acquire(lock);
    *acquired = attempt != Attempt::refused ? 1 : 0;
    taken_over = attempt == Attempt::taken_over;
  }
  outcome.succeed();
  // No error: the statement has the lock, and needs no stat=.
  if (taken_over && stat != nullptr) *stat = kUnlockedFailedImage;
}

void caf_unlock(Coarray* token, std::size_t index, int image, int* stat, char* message, std::size_t length) {
  const Outcome outcome{.stat = stat, .message = message, .length = length};
  const int rank = rank_or_self(image);
  if (rank < 0) return refuse_image(outcome, image);
  const Lock lock = lock_of(*token, index, rank);
  if (held.find(lock) == nullptr) {
    if (update_word(RMA_FETCH, lock, 0) == 0)
      return outcome.fail(kUnlocked, "the lock variable is not locked");
    return outcome.fail(kLockedOtherImage, "another image has locked the lock variable");
  }
  // The next holder sees what this image has written.
  if (!outcome.report(rma_fence_all())) return;
  release(lock);
}

}  // namespace librma::coarrays
