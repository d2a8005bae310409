#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace librma {

template <typename Node>
struct KeyedQueue;

/// The place of a node in one queue. A node that may be in several sets of queues has several.
template <typename Node>
struct QueueLink {
  Node* previous = nullptr;
  Node* next = nullptr;
  KeyedQueue<Node>* queue = nullptr;  ///< null: the node is in no queue
};

/// The nodes with one key, in the order in which they were added.
template <typename Node>
struct KeyedQueue {
  std::uint64_t key = 0;
  Node* first = nullptr;
  Node* last = nullptr;
  KeyedQueue* next_in_bucket = nullptr;
};

/// First-in-first-out queues of nodes, one for each key that has any. All operations take a constant time in
/// the mean, however many keys and nodes there are. The nodes belong to the caller and contain the link at
/// index `which` of their array `links`. Not thread-safe.
///
/// The queue of a key stays when its last node leaves, because programs use few keys, again and again. A
/// table that is full gives up its empty queues before it grows, so it has memory for the keys that have
/// nodes.
template <typename Node, std::size_t which>
class KeyedQueues {
 public:
  [[nodiscard]] bool empty() const { return nodes_ == 0; }
  [[nodiscard]] std::size_t size() const { return nodes_; }
  /// Returns the number of queues that were ever made. Tests ask.
  [[nodiscard]] std::size_t made() const { return pool_.size(); }
  /// Returns the most keys that one search compares. Tests ask.
  [[nodiscard]] std::size_t longest_bucket() const {
    std::size_t longest = 0;
    for (const KeyedQueue<Node>* queue : buckets_) {
      std::size_t length = 0;
      for (; queue != nullptr; queue = queue->next_in_bucket) ++length;
      longest = std::max(longest, length);
    }
    return longest;
  }

  /// Returns the oldest node with this key, or null.
  [[nodiscard]] Node* first(std::uint64_t key) const {
    if (nodes_ == 0) return nullptr;
    const KeyedQueue<Node>* const queue = find(key);
    return queue != nullptr ? queue->first : nullptr;
  }

  /// Takes the oldest node with this key out and returns it, or null.
  [[nodiscard]] Node* take_first(std::uint64_t key) {
    Node* const oldest = first(key);
    if (oldest != nullptr) remove(*oldest);
    return oldest;
  }

  /// Adds the node behind all others with this key. Throws std::bad_alloc before anything has changed.
  void add(std::uint64_t key, Node& node) {
    KeyedQueue<Node>* const queue = find(key);
    add_to(queue != nullptr ? *queue : *make(key), node);
  }
  /// Does the same with the node that make_node() returns, if the key has a queue already. Returns whether it
  /// has done it; if not, it has not called make_node().
  template <typename MakeNode>
  [[nodiscard, gnu::always_inline]] bool add_at_once(std::uint64_t key, const MakeNode& make_node) {
    KeyedQueue<Node>* const queue = find(key);
    if (queue == nullptr) [[unlikely]]
      return false;
    add_to(*queue, make_node());
    return true;
  }

  void remove(Node& node) {
    // One by one: a copy of the link would be read in larger pieces than it was written a moment ago.
    QueueLink<Node>& link = node.links[which];
    Node* const previous = link.previous;
    Node* const next = link.next;
    (previous != nullptr ? previous->links[which].next : link.queue->first) = next;
    (next != nullptr ? next->links[which].previous : link.queue->last) = previous;
    link.queue = nullptr;  // the neighbours have no meaning now
    --nodes_;
  }

  /// Puts a node that is in no queue in the place of another one.
  static void replace(Node& node, Node& other) {
    const auto [previous, next, queue] = node.links[which];
    other.links[which] = node.links[which];
    (previous != nullptr ? previous->links[which].next : queue->first) = &other;
    (next != nullptr ? next->links[which].previous : queue->last) = &other;
    node.links[which].queue = nullptr;
  }

  /// Calls visit(node) for all nodes, which may remove that node.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const KeyedQueue<Node>* queue : buckets_) {
      for (; queue != nullptr; queue = queue->next_in_bucket) {
        for (Node* node = queue->first; node != nullptr;) {
          Node* const next = node->links[which].next;
          visit(*node);
          node = next;
        }
      }
    }
  }

 private:
  static constexpr std::size_t kFirstBuckets = 16;

  [[nodiscard]] std::size_t bucket(std::uint64_t key) const {
    // Multiplicative hashing (Knuth, volume 3, section 6.4): the upper bits depend on all bits of the key.
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((key * kGolden) >> shift_);
  }

  [[nodiscard, gnu::always_inline]] KeyedQueue<Node>* find(std::uint64_t key) const {
    if (recent_ != nullptr && recent_->key == key) return recent_;
    return find_in_bucket(key);
  }
  [[nodiscard]] KeyedQueue<Node>* find_in_bucket(std::uint64_t key) const {
    if (buckets_.empty()) return nullptr;
    KeyedQueue<Node>* queue = buckets_[bucket(key)];
    while (queue != nullptr && queue->key != key) queue = queue->next_in_bucket;
    return queue;
  }

  [[gnu::always_inline]] void add_to(KeyedQueue<Node>& queue, Node& node) {
    recent_ = &queue;
    node.links[which] = {.previous = queue.last, .next = nullptr, .queue = &queue};
    (queue.last != nullptr ? queue.last->links[which].next : queue.first) = &node;
    queue.last = &node;
    ++nodes_;
  }

  // It is not inlined, so that add() saves no registers for it.
  [[gnu::noinline]] KeyedQueue<Node>* make(std::uint64_t key) {
    if (queues_ >= buckets_.size()) make_room();
    KeyedQueue<Node>* queue = free_;
    if (queue != nullptr) {
      free_ = queue->next_in_bucket;
    } else {
      queue = &pool_.emplace_back();
    }
    KeyedQueue<Node>*& head = buckets_[bucket(key)];
    *queue = {.key = key, .first = nullptr, .last = nullptr, .next_in_bucket = head};
    head = queue;
    ++queues_;
    return queue;
  }

  /// Gives up the empty queues, and doubles the buckets unless that has emptied half of them: so the next
  /// call comes after half as many new keys as this one has looked at.
  void make_room() {
    recent_ = nullptr;
    for (KeyedQueue<Node>*& head : buckets_) {
      for (KeyedQueue<Node>** place = &head; *place != nullptr;) {
        KeyedQueue<Node>* const queue = *place;
        if (queue->first != nullptr) {
          place = &queue->next_in_bucket;
          continue;
        }
        *place = queue->next_in_bucket;
        queue->next_in_bucket = free_;
        free_ = queue;
        --queues_;
      }
    }
    if (buckets_.empty() || 2 * queues_ > buckets_.size()) grow();
  }

  void grow() {
    std::vector<KeyedQueue<Node>*> before(buckets_.empty() ? kFirstBuckets : 2 * buckets_.size());
    before.swap(buckets_);
    shift_ = static_cast<unsigned>(64 - std::countr_zero(buckets_.size()));
    for (KeyedQueue<Node>* queue : before) {
      while (queue != nullptr) {
        KeyedQueue<Node>* const next = queue->next_in_bucket;
        KeyedQueue<Node>*& head = buckets_[bucket(queue->key)];
        queue->next_in_bucket = head;
        head = queue;
        queue = next;
      }
    }
  }

  std::vector<KeyedQueue<Node>*> buckets_;  ///< a power of two of them, at least as many as queues
  unsigned shift_ = 63;                     ///< leaves as many bits of a hash as buckets have numbers
  std::deque<KeyedQueue<Node>> pool_;       ///< all queues that were ever made
  KeyedQueue<Node>* free_ = nullptr;
  KeyedQueue<Node>* recent_ = nullptr;  ///< the queue that got the last node: often the next one, too
  std::size_t queues_ = 0;
  std::size_t nodes_ = 0;
};

}  // namespace librma
