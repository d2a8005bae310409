#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "util/waiting/wait.hpp"

namespace librma {

/// A process that takes shared locks.
struct LockUser {
  int rank = 0;
  const WaitPolicy& policy;
  /// Returns whether another process that takes the locks has ended.
  std::function<bool(int rank)> ended = [](int /*rank*/) { return false; };
};

/// A lock that processes share. It is held for a few hundred nanoseconds at a time; a thread that waits
/// longer sleeps. It says which process holds it. A thread that waits takes it over from a process that has
/// ended, and finds what that process had done under it. All zero is the free state. Each lock has a cache
/// line of its own, so that neighbours do not slow each other down.
class alignas(64) SharedLock {
 public:
  /// Locks. Pairs with unlock(): the writes of the last holder are visible.
  void lock(const LockUser& user) {
    if (!try_lock(user.rank)) wait(user);
  }

  [[nodiscard]] bool try_lock(int rank) {
    std::uint32_t expected = kFree;
    return word_.compare_exchange_strong(expected, held_by(rank), std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  /// Unlocks. This must be an exchange: a sleeper that announced itself between a load and a store would
  /// never be woken.
  void unlock() {
    if ((word_.exchange(kFree, std::memory_order_release) & kSleepers) != 0) wake();
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  /// Threads may sleep. The other bits are the holder's rank plus 1.
  static constexpr std::uint32_t kSleepers = 1;
  [[nodiscard]] static std::uint32_t held_by(int rank) {
    return (static_cast<std::uint32_t>(rank) + 1) << 1U;
  }
  [[nodiscard]] static int holder(std::uint32_t word) { return static_cast<int>(word >> 1U) - 1; }

  void wait(const LockUser& user);
  void wake();

  std::atomic<std::uint32_t> word_ = kFree;
};
static_assert(sizeof(SharedLock) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// The locks over one process's memory. Each stripe of 16 KiB of its addresses has a lock; stripes that hash
/// to the same lock share it. The locks lie in the owner's memory and are found by the owner's addresses, so
/// that all processes agree.
class StripeLocks {
 public:
  /// The size of a stripe. It is small enough for neighbours to work side by side. It is large enough that
  /// the locks of a long accumulate, each of which waits until all stores before it are done, cost little
  /// beside the additions.
  static constexpr std::size_t kStripeBytes = 16384;
  static constexpr unsigned kLockBits = 10;

  /// Returns the lock of the stripe that `address` lies in.
  [[nodiscard]] SharedLock& of(std::uintptr_t address) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // spreads rows a power of two apart
    return locks_[(address / kStripeBytes * kGoldenRatio) >> (64 - kLockBits)];
  }

  /// Returns the number of bytes from `address` to the end of its stripe.
  [[nodiscard]] static std::size_t left_in_stripe(std::uintptr_t address) {
    return kStripeBytes - address % kStripeBytes;
  }

 private:
  std::array<SharedLock, std::size_t{1} << kLockBits> locks_;
};

/// Holds at most one stripe's lock, from one segment to the next while they lie under the same lock. So many
/// small segments do not take a lock each. It releases the lock from time to time all the same, so that other
/// threads get their turn.
class LockCursor {
 public:
  LockCursor(StripeLocks& locks, const LockUser& user) : locks_(locks), user_(user) {}
  ~LockCursor() { release(); }
  LockCursor(const LockCursor&) = delete;
  LockCursor& operator=(const LockCursor&) = delete;

  /// Holds the lock of the stripe of `address`, and no other lock, until the next call. `bytes` is the amount
  /// of data that the caller will process under it.
  void hold(std::uintptr_t address, std::size_t bytes) {
    SharedLock* const wanted = &locks_.of(address);
    if (wanted == held_ && pieces_ < kMostPieces && bytes_ < kMostBytes) {
      ++pieces_;
      bytes_ += bytes;
      return;
    }
    release();
    wanted->lock(user_);
    held_ = wanted;
    pieces_ = 1;
    bytes_ = bytes;
  }

  void release() {
    if (held_ != nullptr) held_->unlock();
    held_ = nullptr;
  }

 private:
  static constexpr std::size_t kMostPieces = 256;
  static constexpr std::size_t kMostBytes = StripeLocks::kStripeBytes;

  StripeLocks& locks_;
  const LockUser& user_;
  SharedLock* held_ = nullptr;
  std::size_t pieces_ = 0;  ///< number of pieces since the lock was taken
  std::size_t bytes_ = 0;
};

}  // namespace librma
