#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "channel/message.hpp"
#include "channel/sending_ring.hpp"
#include "fabric/registrar.hpp"
#include "rma/rma.h"

namespace rma {

/// The state of the messages between this process and one peer: what may be sent, in which order what arrives
/// is delivered, and which buffers are owed.
///
/// A message goes by the ring that the peer has offered, if there is one and it has room, and otherwise by
/// the shared receive queue. All are numbered in the order of sending, whichever way they go.
///
/// In the queue a sender has as many credits as buffers were promised to it at the peer, less those in use.
/// The last one is only for returning credits, so that two processes that are full of each other's messages
/// can still tell each other of the buffers that have become free. Credits travel in every message, and in
/// one of their own when more than half of a peer's buffers are owed to it. Slots of a ring are returned in
/// the same way; but no message that is for them alone takes the last credit, or two processes could spend
/// theirs at the same time while neither owes the other a buffer.
///
/// Its owner guards it by `lock`.
class Link {
 public:
  /// Fewer credits carry no messages: of two, one stays reserved, and the other is not returned by itself.
  static constexpr std::uint32_t kFewestCredits = 3;
  /// The sequence numbers wrap around soon, in every job: nothing may depend on that they do not.
  static constexpr std::uint32_t kFirstSequence = 0U - 16;

  std::mutex lock;

  /// The rail that messages to the peer take: the one that a message came by first, or was sent by first.
  [[nodiscard]] std::optional<std::size_t> rail() const { return rail_; }
  /// Opens the sending side. `credits` are the peer's buffers for this process.
  void open(std::size_t rail, std::uint32_t credits);

  /// How a message may go now, if at all. The channel's own go by the queue: they are to be seen by who
  /// sleeps.
  [[nodiscard]] std::optional<MessageWay> way(std::uint16_t kind, std::size_t body) const;
  /// The next message's header. It is sent once sent() is called, and not if that is not.
  [[nodiscard]] MessageHeader next(std::uint16_t kind, std::size_t bytes) const;
  void sent(const MessageHeader& header, MessageWay way);

  SendingRing ring;  ///< that the peer has offered

  /// Messages that wait for credits or room, oldest first.
  struct Waiting {
    std::uint16_t kind = 0;
    std::vector<std::byte> body;
  };
  std::deque<Waiting> waiting;
  bool listed = false;  ///< with those that have something to do
  bool failed = false;

  /// Buffers of a rail that are this peer's: as many messages may be unreturned. Before any arrives.
  void promise(std::size_t rail, std::uint32_t buffers) { promises_[rail] += buffers; }
  /// The peer is offered a ring of so many slots, or (0) has none any more: whether it will not take any is
  /// `declined`.
  void promise_ring(std::uint32_t slots);
  bool declined = false;
  /// The rail that its messages come by; none before the first.
  [[nodiscard]] std::optional<std::size_t> its_rail() const { return its_rail_; }
  /// Buffers of that rail that are the peer's.
  [[nodiscard]] std::uint32_t promised() const { return promised_; }
  enum class Order : std::uint8_t { next, early, broken };
  /// Where a message with this number stands. `broken`: it cannot be from an honest peer.
  [[nodiscard]] Order order_of(std::uint32_t sequence) const;
  /// A message has arrived, in whatever order: its credits count at once. `broken` here too when it does not
  /// come by the rail of all of the peer's.
  [[nodiscard]] Order arrived(std::size_t rail, const MessageHeader& header);
  /// Keeps an early message.
  void keep(const MessageHeader& header, std::span<const std::byte> body);
  /// The message to deliver after the one that was `next`, if it is here; deliver() counts each.
  [[nodiscard]] std::optional<Waiting> next_kept();
  void delivered() { ++expected_; }

  /// One of the peer's buffers is free again: owed to it, or (`withdrawn`) no longer its.
  void freed(bool withdrawn);
  void lend(std::uint32_t buffers);
  /// Slots of the peer's ring are free again.
  void ring_freed(std::uint32_t slots) { ring_owed_ += slots; }
  /// It is time to send credits, even without a message to carry them.
  [[nodiscard]] bool owes() const { return owes_buffers() || ring_owed_ > ring_promised_ / 2; }
  /// Something is to be sent to the peer as soon as that can be.
  [[nodiscard]] bool busy() const { return !waiting.empty() || ring.has_unwritten() || owes(); }

 private:
  [[nodiscard]] bool owes_buffers() const { return owed_ > promised_ / 2; }

  std::optional<std::size_t> rail_;
  std::uint32_t credits_ = 0;
  std::uint32_t next_ = kFirstSequence;      ///< sequence number of the next message to the peer
  std::uint32_t expected_ = kFirstSequence;  ///< and from it
  std::array<std::uint32_t, kMaxRails> promises_ = {};
  std::optional<std::size_t> its_rail_;  ///< that the peer's messages come by
  std::uint32_t promised_ = 0;
  std::uint32_t owed_ = 0;
  std::uint32_t ring_promised_ = 0;  ///< slots of the ring that the peer was offered
  std::uint32_t ring_owed_ = 0;
  std::map<std::uint32_t, Waiting> early_;  ///< by sequence number
};

}  // namespace rma
