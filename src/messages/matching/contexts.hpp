#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "messages/matching/drawn_numbers.hpp"
#include "messages/matching/matcher.hpp"
#include "util/waiting/spin_lock.hpp"

namespace librma {

/// Returns whether an eager message goes also if it passes the receiver's UnexpectedWindow. The library's own
/// empty messages do: only a few of them are on their way at a time, and their senders do not wait for
/// receivers that have failed.
constexpr bool passes_window(std::uint32_t context, std::size_t bytes) {
  return bytes == 0 && context >= kFirstOwnContext;
}

/// The receives and messages of one context that have not found each other yet. The lock guards the matcher.
/// So threads that use different contexts do not wait for each other.
///
/// A context that was dropped becomes another one (ContextTable). So a thread that has found it for a message
/// of another rank, and not because this process uses it, takes the lock and then asks whether it still is().
class MessageContext {
 public:
  [[nodiscard]] std::uint32_t number() const {
    return static_cast<std::uint32_t>(number_.load(std::memory_order_relaxed));
  }
  /// Returns whether this is the context with the number.
  [[nodiscard]] bool is(std::uint32_t number) const {
    return number_.load(std::memory_order_relaxed) == number;
  }

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
  /// Keeps the context from being retired until let_go(), because its user may outlive the object that drew
  /// the number. The table makes no other context of it meanwhile.
  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() { holders_.fetch_sub(1, std::memory_order_release); }  // pairs with the load in held()
  [[nodiscard]] bool held() const { return holders_.load(std::memory_order_acquire) != 0; }

  /// Returns whether an announcement has made the context of a retired number again. The caller holds the
  /// lock.
  [[nodiscard]] bool revived() const { return revived_; }

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
  static constexpr std::uint64_t kNoNumber = UINT64_MAX;

  /// The caller holds the lock.
  void forget_revocations() {
    revoked_.store(false, std::memory_order_relaxed);
    revokers_.clear();
    lost_ = kNobody;
  }

  /// kNoNumber if it was dropped. The lock and the table's guard changes.
  std::atomic<std::uint64_t> number_ = kNoNumber;
  std::atomic<MessageContext*> next_ = nullptr;  ///< in its bucket
  bool revived_ = false;                         ///< guarded by the lock
  std::atomic<int> holders_ = 0;
  std::atomic<bool> revoked_ = false;
  std::vector<int> revokers_;  ///< the lock guards this and the next
  int lost_ = kNobody;
};

/// The contexts in use, by number. A context is made at its first use and stays until it is dropped.
/// Thread-safe; finding a context takes no lock.
///
/// A dropped context is taken out of its bucket, and the next context that is made anywhere gets its memory.
/// So a thread that searches a bucket may stand at a context that leaves it, and go on in another bucket. It
/// may miss its own context then, but it never takes another one for it: it compares numbers, and find() and
/// make() search again under the lock.
class ContextTable {
 public:
  ContextTable() = default;
  ContextTable(const ContextTable&) = delete;
  ContextTable& operator=(const ContextTable&) = delete;

  /// Throws std::bad_alloc.
  [[nodiscard]] MessageContext& of(std::uint32_t number) {
    MessageContext* const found = search(number);
    return found != nullptr ? *found : *make(number, Retired::yes);
  }
  /// Does the same for a message that came, and takes the context's lock.
  [[nodiscard]] MessageContext& locked(std::uint32_t number) { return *locked(number, Retired::yes); }
  /// Does the same, unless the number is retired and has no context. Returns null then.
  [[nodiscard]] MessageContext* locked_unless_retired(std::uint32_t number) {
    return locked(number, Retired::no);
  }
  /// Returns the context, or null if the first look does not find it. The context may exist all the same.
  [[nodiscard]] MessageContext* at_once(std::uint32_t number) { return search(number); }
  /// Finds a context and takes its lock. Returns null if the first look does not find it. The context may
  /// exist all the same.
  [[nodiscard, gnu::always_inline]] MessageContext* locked_at_once(std::uint32_t number) {
    MessageContext* const context = search(number);
    if (context == nullptr) [[unlikely]]
      return nullptr;
    context->lock.lock();
    if (context->is(number)) [[likely]]
      return context;
    context->lock.unlock();
    return nullptr;
  }
  /// Returns the context if there is one, or null.
  [[nodiscard]] MessageContext* find(std::uint32_t number) {
    if (MessageContext* const found = search(number); found != nullptr) return found;
    const std::lock_guard making(making_);
    return search(number);
  }

  /// Forgets a context that nobody in this process uses any more, if it has no receive, no message and no
  /// revocation.
  void drop(std::uint32_t number) {
    const std::lock_guard making(making_);
    static_cast<void>(remove(number, false));
  }

  /// Forgets the contexts of a drawn number (drawn_numbers.hpp), which nobody in this process uses any more,
  /// with their revocations. Until renew(), only an announcement makes one again. Returns false if one has a
  /// holder, a receive or a message: then the number is not retired. Throws std::bad_alloc before anything
  /// has changed.
  [[nodiscard]] bool retire(std::uint32_t number) {
    const std::lock_guard making(making_);
    retired_.insert(number);
    for (const std::uint32_t context : contexts_of(number)) {
      if (remove(context, true)) continue;
      retired_.erase(number);
      return false;
    }
    return true;
  }
  /// Lets a number that is retired be used again. Returns false if it is not.
  [[nodiscard]] bool renew(std::uint32_t number) {
    const std::lock_guard making(making_);
    // An announcement may have made one again, and was taken back since.
    for (const std::uint32_t context : contexts_of(number)) static_cast<void>(remove(context, true));
    return retired_.erase(number) != 0;
  }

  /// Calls use(context) for all contexts, dropped ones included. Only its lock keeps a context from changing.
  template <typename Use>
  void see_all(const Use& use) {
    const std::lock_guard making(making_);
    for (const auto& context : all_) use(*context);
  }
  /// Visits all contexts, while no other thread uses the table.
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (const auto& context : all_) visit(*context);
  }
  /// Returns the number of contexts that there is memory for. Tests ask.
  [[nodiscard]] std::size_t made() {
    const std::lock_guard making(making_);
    return all_.size();
  }

 private:
  static constexpr std::size_t kBuckets = 1024;

  [[nodiscard]] std::atomic<MessageContext*>& bucket(std::uint32_t number) {
    return buckets_[number % kBuckets];
  }

  /// Returns the context if it is found, or null. It may miss one that is there, unless the caller has the
  /// lock.
  [[nodiscard]] MessageContext* search(std::uint32_t number) {
    MessageContext* message_context = bucket(number).load(std::memory_order_acquire);
    while (message_context != nullptr && !message_context->is(number))
      message_context = message_context->next_.load(std::memory_order_acquire);
    return message_context;
  }

  /// The fate of a message whose context is that of a retired number: it makes the context again, or not.
  enum class Retired : std::uint8_t { no, yes };
  [[nodiscard]] MessageContext* locked(std::uint32_t number, Retired retired) {
    for (;;) {
      MessageContext* context = search(number);
      if (context == nullptr) context = make(number, retired);
      if (context == nullptr) return nullptr;
      context->lock.lock();
      if (context->is(number)) return context;
      context->lock.unlock();
    }
  }

  /// Takes a context out of its bucket. Returns false if it is still needed. The caller holds making_.
  [[nodiscard]] bool remove(std::uint32_t number, bool revoked_too) {
    std::atomic<MessageContext*>* link = &bucket(number);
    MessageContext* context = link->load(std::memory_order_relaxed);
    while (context != nullptr && !context->is(number)) {
      link = &context->next_;
      context = link->load(std::memory_order_relaxed);
    }
    if (context == nullptr) return true;
    const std::lock_guard guard(context->lock);
    if (context->held() || !context->matcher.idle() || (context->revoked() && !revoked_too)) return false;
    context->forget_revocations();
    context->number_.store(MessageContext::kNoNumber, std::memory_order_relaxed);
    link->store(context->next_.load(std::memory_order_relaxed), std::memory_order_release);
    free_.push_back(context);  // make() has reserved the room
    return true;
  }

  /// Returns null if the number is retired, and `retired` is no.
  [[nodiscard]] MessageContext* make(std::uint32_t number, Retired retired) {
    const std::lock_guard making(making_);
    if (MessageContext* const made = search(number); made != nullptr) return made;
    const auto drawn = drawn_number_of(number);
    const bool revives = drawn && retired_.contains(*drawn);
    if (revives && retired == Retired::no) return nullptr;
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);
      all_.push_back(std::make_unique<MessageContext>());
      free_.push_back(all_.back().get());
    }
    MessageContext& context = *free_.back();
    free_.pop_back();
    std::atomic<MessageContext*>& first = bucket(number);
    // A thread that stands here (above) goes on in this bucket.
    context.next_.store(first.load(std::memory_order_relaxed), std::memory_order_release);
    {
      const std::lock_guard guard(context.lock);
      context.number_.store(number, std::memory_order_relaxed);
      context.revived_ = revives;
    }
    first.store(&context, std::memory_order_release);  // pairs with the loads in search()
    return &context;
  }

  std::array<std::atomic<MessageContext*>, kBuckets> buckets_ = {};
  std::mutex making_;  ///< guards the three below, and every change of a bucket
  std::vector<std::unique_ptr<MessageContext>> all_;
  std::vector<MessageContext*> free_;
  std::unordered_set<std::uint32_t> retired_;
};

}  // namespace librma
