#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "messages/matching/keyed_queues.hpp"
#include "rma/unchecked.h"

namespace librma {

/// The wildcards of a receive.
inline constexpr int kAnySource = -1;
inline constexpr int kAnyTag = -1;

/// A posted receive as the matcher sees it. The owner sets `source` and `tag`, which may be wildcards.
struct PostedReceive {
  int source = 0;
  int tag = 0;
  /// The caller's memory that this is in (CallersReceive); null of a ReceiveOperation.
  rma_posted_recv_t* posted = nullptr;
  std::uint64_t stamp = 0;  ///< the order of posting within the context
  std::array<QueueLink<PostedReceive>, 1> links = {};

  /// Returns whether it is in a matcher. The caller holds the context's lock.
  [[nodiscard]] bool in_matcher() const { return links[0].queue != nullptr; }
};

/// A message that arrived before a receive for it was posted. The owner sets `source` and `tag`.
struct UnexpectedMessage {
  int source = 0;
  int tag = 0;
  /// The places in the queues by source and tag, by source, and by tag.
  std::array<QueueLink<UnexpectedMessage>, 3> links = {};
  /// The neighbours in the order of arrival.
  UnexpectedMessage* before = nullptr;
  UnexpectedMessage* after = nullptr;
};

/// Finds the receive for a message and the message for a receive, in one context, by the rules of MPI (MPI
/// 4.1, section 3.5): messages from one source match in the order in which they were sent, and receives in
/// the order in which they were posted. Every operation takes a constant time in the mean.
///
/// Receives with wildcards are in queues of their own: by source, by tag, and one for those with two
/// wildcards. An arriving message looks at the heads of the four queues that it fits, and takes the receive
/// that was posted first. A message that no receive fits is in the queue of its source and tag, and in the
/// list of all messages. A receive with one wildcard looks through the first few of that list. If it finds
/// nothing there, the messages also get queues by source and by tag, until the last of them has left.
///
/// Not thread-safe, except idle() and has_messages().
class Matcher {
 public:
  /// Returns whether there is no receive and no message. Any thread may ask. It sees everything that was
  /// added before something that it has acquired: what the program did before this call, and the messages
  /// of a sender that came before the one that it looks at, because the thread that reads a ring holds its
  /// lock.
  [[nodiscard]] bool idle() const { return entries_.load(std::memory_order_relaxed) == 0; }
  /// Returns whether there is a message that has found no receive. Any thread may ask, as for idle().
  [[nodiscard]] bool has_messages() const { return messages_.load(std::memory_order_relaxed) != 0; }

  /// Adds a receive for which no message has arrived. Throws std::bad_alloc before anything has changed.
  void post(PostedReceive& receive) {
    receive.stamp = next_stamp_++;
    if (receive.source != kAnySource && receive.tag != kAnyTag) [[likely]] {
      exact_.add(key(receive.source, receive.tag), receive);
    } else {
      post_with_wildcard(receive);
    }
    add_to(entries_, 1);
  }
  /// Does the same for the receive that make() returns, without wildcards, if it takes no memory. Returns
  /// whether it has done it; if not, it has not called make(). So what make() writes and this overwrites is
  /// written once.
  template <typename Make>
  [[nodiscard, gnu::always_inline]] bool post_at_once(int source, int tag, const Make& make) {
    const auto make_stamped = [&]() -> PostedReceive& {
      PostedReceive& receive = make();
      receive.stamp = next_stamp_++;
      return receive;
    };
    if (!exact_.add_at_once(key(source, tag), make_stamped)) [[unlikely]]
      return false;
    add_to(entries_, 1);
    return true;
  }
  /// Takes out the receive that a message from `source` with `tag` matches, and returns it. Returns null if
  /// there is none.
  [[nodiscard]] PostedReceive* match(int source, int tag);
  /// Does the same in the usual case, that the receive is a CallersReceive and no receive has a wildcard.
  /// Returns null and does nothing in all others.
  [[nodiscard]] PostedReceive* match_callers(int source, int tag) {
    if (wildcards_ != 0) [[unlikely]]
      return nullptr;
    PostedReceive* const first = exact_.first(key(source, tag));
    if (first == nullptr || first->posted == nullptr) return nullptr;
    exact_.remove(*first);
    add_to(entries_, -1);
    return first;
  }
  /// Returns the receive that match() would take out, or null.
  [[nodiscard]] PostedReceive* posted_for(int source, int tag) const;
  /// Takes a posted receive out.
  void withdraw(PostedReceive& receive);
  /// Takes all posted receives out for which `chosen` returns true. Adds them to a chain by `links[0].next`,
  /// and returns its new head. Needs no memory.
  template <typename Chosen>
  [[nodiscard]] PostedReceive* withdraw_all(const Chosen& chosen, PostedReceive* chain) {
    for (auto* const queues : {&exact_, &any_tag_, &any_source_, &any_}) {
      queues->for_each([&](PostedReceive& receive) {
        if (!chosen(receive)) return;
        withdraw(receive);
        receive.links[0].next = chain;
        chain = &receive;
      });
    }
    return chain;
  }
  /// Calls see(receive) for all posted receives.
  template <typename See>
  void see_posted(const See& see) const {
    for (const auto* const queues : {&exact_, &any_tag_, &any_source_, &any_}) queues->for_each(see);
  }
  /// Puts `other`, which has the same source and tag and is in no matcher, in the place of `receive`.
  static void replace(PostedReceive& receive, PostedReceive& other);

  /// Adds a message for which match() has found no receive. Throws std::bad_alloc before anything has
  /// changed.
  void add(UnexpectedMessage& message);
  /// Returns the message that a receive matches, or null. `source` and `tag` may be wildcards.
  [[nodiscard]] UnexpectedMessage* find(int source, int tag) {
    if (source != kAnySource && tag != kAnyTag) return by_both_.first(key(source, tag));
    return source == kAnySource && tag == kAnyTag ? first_ : find_by_one(source, tag);
  }
  /// Returns the first message from `source` with `tag` for which `chosen` returns true, or null.
  template <typename Chosen>
  [[nodiscard]] UnexpectedMessage* find_if(int source, int tag, const Chosen& chosen) {
    UnexpectedMessage* message = find(source, tag);
    while (message != nullptr && !chosen(*message)) message = message->links[0].next;
    return message;
  }
  /// Takes a message out.
  void take(UnexpectedMessage& message);

  [[nodiscard]] std::size_t posted() const {
    return exact_.size() + any_tag_.size() + any_source_.size() + any_.size();
  }
  [[nodiscard]] std::size_t unexpected() const { return messages_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] static std::uint64_t key(int source, int tag) {
    return (std::uint64_t{static_cast<std::uint32_t>(source)} << 32U) | static_cast<std::uint32_t>(tag);
  }
  [[nodiscard]] static std::uint64_t key(int value) { return static_cast<std::uint32_t>(value); }

  void post_with_wildcard(PostedReceive& receive);
  /// Does what find() does if exactly one of the two is a wildcard.
  [[nodiscard]] UnexpectedMessage* find_by_one(int source, int tag);
  /// Adds all messages to the queues by source and by tag. Returns false, and changes nothing, if there is no
  /// memory.
  [[nodiscard]] bool index() noexcept;
  void add_to_index(UnexpectedMessage& message);
  void take_from_index(UnexpectedMessage& message);

  KeyedQueues<PostedReceive, 0> exact_;
  KeyedQueues<PostedReceive, 0> any_tag_;     ///< by source
  KeyedQueues<PostedReceive, 0> any_source_;  ///< by tag
  KeyedQueues<PostedReceive, 0> any_;
  KeyedQueues<UnexpectedMessage, 0> by_both_;
  UnexpectedMessage* first_ = nullptr;  ///< of all messages, in the order of arrival
  UnexpectedMessage* last_ = nullptr;
  KeyedQueues<UnexpectedMessage, 1> by_source_;  ///< empty unless indexed_
  KeyedQueues<UnexpectedMessage, 2> by_tag_;     ///< empty unless indexed_
  bool indexed_ = false;
  /// Adds to one of the two counts below. The caller holds the context's lock.
  static void add_to(std::atomic<std::size_t>& entries, int more) {
    entries.store(entries.load(std::memory_order_relaxed) + static_cast<std::size_t>(more),
                  std::memory_order_relaxed);
  }

  std::size_t wildcards_ = 0;  ///< receives in the queues of wildcards
  std::uint64_t next_stamp_ = 0;
  std::atomic<std::size_t> entries_ = 0;   ///< receives and messages
  std::atomic<std::size_t> messages_ = 0;  ///< messages alone
};

}  // namespace librma
