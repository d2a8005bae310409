// Locks and critical sections, as queues: J. Mellor-Crummey and M. Scott, Algorithms for scalable
// synchronization on shared-memory multiprocessors, ACM TOCS 9(1), 1991, section 2.4.
//
// rma_lock has no attempt that fails if the lock is taken (acquired_lock=), and does not say who holds it
// (the values of stat=), so locks are made of atomics here. The word of a lock in the coarray names the last
// place of its queue: the rank, and which of that image's places. A place says which place is behind it, and
// whether its image still waits.
//
// An image may fail while it holds a lock or waits for it. A place therefore also says which place is in
// front of it (Meeting::fronts). An image that waits looks from time to time whether the image in front has
// failed. If that one held the lock, nobody hands it over, and this image takes it. If it waited, the place
// in front of that decides. An image that lives hands the lock to the place behind it even if its image has
// failed, whose place then says that it holds the lock. Only the image behind looks at a place, so no two
// images take a lock.

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

/// In Meeting::fronts: the lock was free. 0: the image does not know yet, or has failed before it could say.
constexpr std::uint64_t kNobody = ~std::uint64_t{0};

/// A place in a queue: a word of a rank's Meeting.
struct PlaceName {
  int rank;
  std::size_t index;

  /// Never 0.
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
    __atomic_store_n(place.front(), 0, __ATOMIC_RELEASE);
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
    if (before == 0) return false;
    front = PlaceName::unpacked(before);
  }
  return false;
}

/// Returns whether the lock was taken over from an image that has failed.
bool acquire(const Lock& lock) {
  const PlaceName& place = held.add(lock);
  const std::uint64_t before = update_word(RMA_SWAP, lock, place.packed());
  note_front(place, before != 0 ? before : kNobody);
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

void release(const Lock& lock) {
  const PlaceName place = *held.find(lock);
  const std::uint64_t& word = *place.word();
  std::uint64_t next = load(word) & ~kWaits;
  if (next == 0) {
    if (update_word(RMA_COMPARE_SWAP, lock, 0, place.packed()) == place.packed()) return held.remove(lock);
    // An image has entered the queue and will soon say that it is behind this one.
    wait_until([&] { return (load(word) & ~kWaits) != 0; });
    next = load(word) & ~kWaits;
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
