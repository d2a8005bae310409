#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "util/wait.hpp"

namespace rma {

/// A lock that processes share, held for a few hundred nanoseconds at a time; whoever waits longer sleeps.
/// All zero is free. On a cache line of its own, so that neighbours do not slow each other down.
class alignas(64) SharedLock {
 public:
  /// Pairs with unlock(): what the last holder wrote is visible.
  void lock(const WaitPolicy& policy) {
    if (!try_lock()) wait(policy);
  }

  [[nodiscard]] bool try_lock() {
    std::uint32_t expected = kFree;
    return word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  /// An exchange, because a sleeper that announces itself between a look and a store would never be woken.
  void unlock() {
    if (word_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) wake();
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kHeldWithSleepers = 2;

  void wait(const WaitPolicy& policy);
  void wake();

  std::atomic<std::uint32_t> word_ = kFree;
};
static_assert(sizeof(SharedLock) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// The locks over one process's memory: each 16 KiB of its addresses has one, shared with whatever else
/// hashes to it. Lies in the owner's memory, and addresses are the owner's, so that all processes agree.
class StripeLocks {
 public:
  /// Small enough for neighbours to work side by side; large enough that taking the locks of a long
  /// accumulate, each of which waits until all stores before it are done, costs little beside the additions.
  static constexpr std::size_t kStripeBytes = 16384;
  static constexpr unsigned kLockBits = 10;

  /// The lock of the stripe that `address` lies in.
  [[nodiscard]] SharedLock& of(std::uintptr_t address) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // spreads rows a power of two apart
    return locks_[(address / kStripeBytes * kGoldenRatio) >> (64 - kLockBits)];
  }

  /// Bytes from `address` to the end of its stripe.
  [[nodiscard]] static std::size_t left_in_stripe(std::uintptr_t address) {
    return kStripeBytes - address % kStripeBytes;
  }

 private:
  std::array<SharedLock, std::size_t{1} << kLockBits> locks_;
};

/// At most one stripe's lock, kept from one piece to the next while they lie under the same lock, so that
/// many small pieces do not pay for a lock each. Lets go now and then all the same, so that others get their
/// turn.
class LockCursor {
 public:
  LockCursor(StripeLocks& locks, const WaitPolicy& policy) : locks_(locks), policy_(policy) {}
  ~LockCursor() { release(); }
  LockCursor(const LockCursor&) = delete;
  LockCursor& operator=(const LockCursor&) = delete;

  /// Holds the lock of `address`'s stripe, and no other, until the next call. `bytes` is how much work will
  /// be done under it.
  void hold(std::uintptr_t address, std::size_t bytes) {
    SharedLock* const wanted = &locks_.of(address);
    if (wanted == held_ && pieces_ < kMostPieces && bytes_ < kMostBytes) {
      ++pieces_;
      bytes_ += bytes;
      return;
    }
    release();
    wanted->lock(policy_);
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
  const WaitPolicy& policy_;
  SharedLock* held_ = nullptr;
  std::size_t pieces_ = 0;  ///< since the lock was taken
  std::size_t bytes_ = 0;
};

}  // namespace rma
