#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "messages/matcher.hpp"
#include "util/spin_lock.hpp"

namespace rma {

/// The library's own messages are in the contexts from this one on. There a thread that waits for a rank
/// gives the rank up if it does not answer, and a rank may revoke a context (Messages::revoke).
inline constexpr std::uint32_t kFirstOwnContext = 0x80000000;

/// Returns whether an eager message goes also if it passes the receiver's UnexpectedWindow. The library's own
/// empty messages do: only a few of them are on their way at a time, and their senders do not wait for
/// receivers that have failed.
constexpr bool passes_window(std::uint32_t context, std::size_t bytes) {
  return bytes == 0 && context >= kFirstOwnContext;
}

/// The receives and messages of one context that have not found each other yet. The lock guards the matcher.
/// So threads that use different contexts do not wait for each other.
class MessageContext {
 public:
  explicit MessageContext(std::uint32_t number) : number_(number) {}
  [[nodiscard]] std::uint32_t number() const { return number_; }

  SpinLock lock;
  Matcher matcher;
  /// How many messages were kept so far. Changed with the lock. A thread that looks for a message without the
  /// lock sees here that another thread has kept one.
  std::atomic<std::uint32_t> kept = 0;

  static constexpr int kNobody = -1;
  /// Notes that `rank` has revoked the context, because it has lost the rank `lost`, or kNobody. The caller
  /// holds the lock.
  void revoke(int rank, int lost) {
    revokers_.push_back(rank);
    if (lost_ == kNobody) lost_ = lost;
    revoked_.store(true, std::memory_order_release);  // pairs with the load in revoked()
  }
  /// Returns whether a rank has revoked the context.
  [[nodiscard]] bool revoked() const { return revoked_.load(std::memory_order_acquire); }
  /// Returns whether `rank` has revoked it.
  [[nodiscard]] bool revoked_by(int rank) {
    if (!revoked()) return false;
    const std::lock_guard guard(lock);
    return std::find(revokers_.begin(), revokers_.end(), rank) != revokers_.end();
  }
  /// Returns the rank that revoked it first. A rank has.
  [[nodiscard]] int first_revoker() {
    const std::lock_guard guard(lock);
    return revokers_.front();
  }
  /// Returns the rank that the first revoker to name one has lost, or kNobody.
  [[nodiscard]] int named_lost() {
    const std::lock_guard guard(lock);
    return lost_;
  }
  /// Returns that rank, or if none was named, the first revoker. A rank has revoked the context.
  [[nodiscard]] int culprit() {
    const std::lock_guard guard(lock);
    return lost_ != kNobody ? lost_ : revokers_.front();
  }

 private:
  friend class ContextTable;
  const std::uint32_t number_;
  MessageContext* next_ = nullptr;  ///< in its bucket
  std::atomic<bool> revoked_ = false;
  std::vector<int> revokers_;  ///< the lock guards this and the next
  int lost_ = kNobody;
};

/// All contexts that were used so far, by number. A context is made at its first use and stays until the job
/// ends. Thread-safe; finding a context takes no lock.
class ContextTable {
 public:
  ContextTable() = default;
  ~ContextTable() {
    for_each([](MessageContext& context) { delete &context; });
  }
  ContextTable(const ContextTable&) = delete;
  ContextTable& operator=(const ContextTable&) = delete;

  /// Throws std::bad_alloc.
  [[nodiscard]] MessageContext& of(std::uint32_t number) {
    std::atomic<MessageContext*>& bucket = buckets_[number % kBuckets];
    for (MessageContext* one = bucket.load(std::memory_order_acquire); one != nullptr; one = one->next_) {
      if (one->number_ == number) return *one;
    }
    return make(number, bucket);
  }

  template <typename Visit>
  void for_each(const Visit& visit) {
    for (const auto& bucket : buckets_) {
      MessageContext* one = bucket.load(std::memory_order_acquire);
      while (one != nullptr) {
        MessageContext* const next = one->next_;
        visit(*one);
        one = next;
      }
    }
  }

 private:
  static constexpr std::size_t kBuckets = 1024;

  MessageContext& make(std::uint32_t number, std::atomic<MessageContext*>& bucket) {
    const std::lock_guard guard(making_);
    MessageContext* const first = bucket.load(std::memory_order_relaxed);
    for (MessageContext* one = first; one != nullptr; one = one->next_) {
      if (one->number_ == number) return *one;
    }
    auto context = std::make_unique<MessageContext>(number);
    context->next_ = first;
    MessageContext& made = *context.release();
    bucket.store(&made, std::memory_order_release);  // pairs with the load in of()
    return made;
  }

  std::array<std::atomic<MessageContext*>, kBuckets> buckets_ = {};
  std::mutex making_;
};

}  // namespace rma
