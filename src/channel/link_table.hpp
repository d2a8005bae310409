#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "channel/link.hpp"

namespace librma {

/// The links of this process, one for each peer, and the lists of the links that have something to do.
/// Thread-safe.
class LinkTable {
 public:
  explicit LinkTable(int ranks);
  ~LinkTable();
  LinkTable(const LinkTable&) = delete;
  LinkTable& operator=(const LinkTable&) = delete;

  /// Returns the link to `peer`. The first call makes it.
  [[nodiscard]] Link& to(int peer);

  /// Lists a link that has something to send. Called with the link's lock held. Needs no memory: the message
  /// may have been sent already, and a failure would have it sent again.
  void list(Link& link, int peer);
  /// Takes out the peers that were listed since the last call.
  [[nodiscard]] std::vector<int> take_listed();
  /// Returns whether a message waits, or a link is listed.
  [[nodiscard]] bool unsent();
  /// Adds a message to those that wait, and lists the link. Called with the link's lock held.
  void queue(Link& link, int peer, Link::Waiting message);
  /// Takes out the first `count`. Called with the link's lock held.
  void unqueue(Link& link, std::size_t count);
  /// Returns whether a message waits that its sender takes for sent.
  [[nodiscard]] bool holds_accepted() const { return accepted_.load(std::memory_order_acquire) != 0; }
  /// Queues a message of the channel's own. Called with the link's lock held.
  void queue_control(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> body = {});

  /// Marks the link to `peer` as failed, and drops the messages that wait for it. Returns false if it had
  /// failed already.
  [[nodiscard]] bool fail(int peer);
  /// Lists a peer as lost. Called once no device carries anything to it or from it any more.
  void list_lost(int peer);
  /// Takes out the peers that were listed as lost since the last call.
  [[nodiscard]] std::vector<int> take_lost();

 private:
  std::vector<std::atomic<Link*>> links_;  ///< by peer; owned
  std::atomic<std::size_t> waiting_ = 0;   ///< messages that wait, of all links
  std::atomic<std::size_t> accepted_ = 0;  ///< those among them that their senders take for sent
  /// There are peers in listed_, and in lost_. Every poll asks, and the lock would be the largest part of the
  /// question. Questions and stores of `true` are sequentially consistent, so a peer that was listed before
  /// another thread asks is seen, as with the lock.
  std::atomic<bool> any_listed_ = false;
  std::atomic<bool> any_lost_ = false;
  std::mutex lists_lock_;    ///< guards the members below; taken after a link's lock
  std::vector<int> listed_;  ///< each peer at most once; with room for all
  std::vector<int> lost_;
};

}  // namespace librma
