#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "channel/message.hpp"
#include "channel/sending_ring.hpp"
#include "fabric/registrar.hpp"
#include "rma/rma.h"

namespace librma {

/// The state of the messages between this process and one peer: flow control, order of delivery, and the
/// credits that this process owes the peer.
///
/// A message goes by the eager ring that the peer has offered, if there is one and it has room. Otherwise it
/// goes by the peer's shared receive queue. Sequence numbers count the messages of both paths together, in
/// the order of sending.
///
/// Flow control of the queue. The peer has promised a number of receive buffers to this process, and this
/// process has one credit for each of them that it does not use at the moment. A buffer whose message has
/// been dealt with is *owed*: its credit has to go back to the sender. Every message carries the credits that
/// its sender owes. If a process owes more than half of the buffers that it has promised to the peer, it
/// sends them in a message of kind kCredits.
///
/// The last credit is reserved for messages of kind kCredits that return buffers. So two processes whose
/// queues are full of each other's messages can still tell each other which buffers have become free.
///
/// The slots of a ring are returned in the same way. But a message that returns only slots must not take the
/// last credit: two processes could both spend theirs at the same time, while neither owes the other a
/// buffer.
///
/// The owner of a link holds `lock` whenever it calls a function.
class Link {
 public:
  /// A link with fewer credits could not carry messages. With two, one is reserved, and the other alone is
  /// not more than half, so the receiver would never return it by a message of its own.
  static constexpr std::uint32_t kFewestCredits = 3;
  /// Sequence numbers start just before they wrap around, so that every job exercises the wrap.
  static constexpr std::uint32_t kFirstSequence = 0U - 16;

  std::mutex lock;

  /// Returns the rail that all messages to the peer take. The first message in either direction decides it.
  [[nodiscard]] std::optional<std::size_t> rail() const { return rail_; }
  /// Opens the sending side. `credits` is the number of buffers that the peer has promised to this process.
  void open(std::size_t rail, std::uint32_t credits);

  /// Returns the path by which a message of this kind may go now, or nothing if it has to wait. The channel's
  /// own messages always go by the queue, because they must wake a peer that sleeps.
  [[nodiscard]] std::optional<MessagePath> path(std::uint16_t kind, MessageEvent event,
                                                std::size_t body) const;
  /// Returns whether the next message by the queue takes the last credit but the reserved one. The peer's
  /// helper thread is woken for it: the peer's program does not keep up, and what this process sends later,
  /// such as a request, must not wait for that program.
  [[nodiscard]] bool runs_out() const { return credits_ <= 2; }
  /// Returns the header of the next message. If it carries several of those that wait, `carried` is their
  /// number. It changes nothing; the caller calls sent() once the message is posted.
  [[nodiscard]] MessageHeader next(std::uint16_t kind, std::size_t bytes, std::size_t carried = 0) const;
  void sent(const MessageHeader& header, MessagePath path);

  SendingRing ring;  ///< the ring that the peer has offered to this process

  /// Messages that wait for credits, for room, or for others to go with, oldest first. LinkTable::queue() and
  /// MessageSender change the list.
  struct Waiting {
    std::uint16_t kind = 0;
    bool accepted = false;  ///< its sender takes it for sent
    std::vector<std::byte> body;
  };
  std::deque<Waiting> waiting;
  std::uint32_t round = 0;     ///< the sender's round of the latest short message (MessageSender)
  std::uint32_t in_round = 0;  ///< short messages that were sent in that round
  bool listed = false;         ///< the channel's list of links with something to send contains this one
  bool failed = false;
  bool starved = false;  ///< a message was refused for lack of credits since the last one was sent

  /// Promises the peer `buffers` more buffers of a rail. Called before any message of the peer arrives.
  void promise(std::size_t rail, std::uint32_t buffers) { promises_[rail] += buffers; }
  /// Records that the peer is offered a ring with `slots` slots; 0 means that it has none any more.
  /// `declined` says whether the peer has declined an offer.
  void promise_ring(std::uint32_t slots);
  bool declined = false;
  /// Returns the rail that the peer's messages come by. It has no value before the first message.
  [[nodiscard]] std::optional<std::size_t> peer_rail() const { return peer_rail_; }
  /// Returns the number of buffers of that rail that are promised to the peer.
  [[nodiscard]] std::uint32_t promised() const { return promised_; }
  enum class Order : std::uint8_t { next, early, broken };
  /// Compares a sequence number with the one that is expected next. `broken` means that no honest peer sends
  /// it.
  [[nodiscard]] Order order_of(std::uint32_t sequence) const;
  /// Records that a message has arrived, perhaps early. Its credits count at once. Also returns `broken` if
  /// the message came by another rail than the peer's earlier ones.
  [[nodiscard]] Order arrived(std::size_t rail, const MessageHeader& header);
  /// Keeps an early message.
  void keep(const MessageHeader& header, std::span<const std::byte> body);
  /// Takes out the kept message that is to be delivered next, if it has arrived. The caller calls delivered()
  /// for each.
  [[nodiscard]] std::optional<Waiting> next_kept();
  void delivered() { ++expected_; }

  /// Records that one of the peer's buffers is free again. This process owes it to the peer, unless it is
  /// `withdrawn`: then it is no longer promised to the peer.
  void freed(bool withdrawn);
  /// Promises the peer `buffers` more buffers and owes them at once, so that the next message tells the peer.
  void lend(std::uint32_t buffers);
  /// Records that `slots` slots of the ring that the peer writes to are free again.
  void ring_freed(std::uint32_t slots) { ring_owed_ += slots; }
  /// Returns whether it is time to return credits, even in a message of their own.
  [[nodiscard]] bool owes() const { return owes_buffers() || ring_owed_ > ring_promised_ / 2; }
  /// Returns whether there is something to send to the peer. A process with such a link to a peer that has
  /// one of its rings does not sleep (eager_rings.cpp).
  [[nodiscard]] bool busy() const { return !waiting.empty() || ring.has_unwritten() || owes(); }

 private:
  [[nodiscard]] bool owes_buffers() const { return owed_ > promised_ / 2; }

  std::optional<std::size_t> rail_;
  std::uint32_t credits_ = 0;
  std::uint32_t next_ = kFirstSequence;      ///< sequence number of the next message to the peer
  std::uint32_t expected_ = kFirstSequence;  ///< sequence number of the next message from the peer
  std::array<std::uint32_t, kLocalRail + 1> promises_ =
      {};                                   ///< buffers by rail, until the peer's rail is known
  std::optional<std::size_t> peer_rail_;    ///< the rail that the peer's messages come by
  std::uint32_t promised_ = 0;              ///< buffers of that rail
  std::uint32_t owed_ = 0;                  ///< credits that have to go back to the peer
  std::uint32_t ring_promised_ = 0;         ///< slots of the ring that the peer was offered
  std::uint32_t ring_owed_ = 0;             ///< slots that have to go back to the peer
  std::map<std::uint32_t, Waiting> early_;  ///< by sequence number
};

}  // namespace librma
