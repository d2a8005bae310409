#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "channel/helper_sleep.hpp"
#include "channel/link_table.hpp"
#include "channel/send_slots.hpp"
#include "fabric/rails.hpp"
#include "transport/message_endpoint.hpp"
#include "util/status.hpp"

namespace librma {

/// The sending side of a channel: posts messages to the peers' queues and rings, and keeps those for which
/// there is no room yet.
///
/// Over a network without rings, such as TCP, each message costs system calls at both sides. There messages
/// that wait go together, as many as one buffer takes (CoalescedMessages). A program that sends many short
/// messages in a row has them wait for each other: in a *round*, between two calls of pump(), only the first
/// few to each peer go at once, and the others wait for the next call. pump() is part of each look for
/// progress, so they go before the program waits for anything. If it computes instead, the helper thread
/// sends them: it looks before each sleep (HelperThread), and is woken if it sleeps without a limit. A
/// process that ends without a last look loses them. Thread-safe.
class MessageSender {
 public:
  /// `fail` gives a peer up. `rails`, `links` and `sleep` outlive the sender.
  MessageSender(Rails& rails, LinkTable& links, HelperSleep& sleep, std::function<void(int peer)> fail)
      : rails_(rails), links_(links), sleep_(sleep), fail_(std::move(fail)) {}

  /// Declares a kind as unsolicited. Called before anything is sent.
  void leave_unsolicited(std::uint16_t kind) { unsolicited_ |= std::uint64_t{1} << kind; }
  /// Returns whether messages of a kind wake a receiver that computes. Those with credits do not: a receiver
  /// that needs credits has something unsent, and does not sleep so deeply (HelperSleep).
  [[nodiscard]] MessageEvent event_of(std::uint16_t kind) const {
    if (kind == MessageHeader::kCredits) return MessageEvent::unsolicited;
    // A peer may send any number as a kind.
    const bool declared =
        kind < std::numeric_limits<decltype(unsolicited_)>::digits && (unsolicited_ >> kind & 1U) != 0;
    return declared ? MessageEvent::unsolicited : MessageEvent::solicited;
  }

  /// The maximum size of a message with its header, by rail.
  using Bytes = std::array<std::size_t, kLocalRail + 1>;
  /// Makes the buffers for messages that a device does not copy when they are posted. Called once, before
  /// anything is sent. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open(const Bytes& most, SendSlots::Ended ended);

  /// Opens the sending side of a link, unless it is open: messages to `peer` take `rail`. Called with the
  /// link's lock held. RMA_ERR_PEER_LOST; RMA_ERR_UNSUPPORTED if the peer could set no buffers aside.
  [[nodiscard]] rma_status_t open_link(Link& link, int peer, std::size_t rail);
  /// See Channel::try_send(), Channel::send() and Channel::congested().
  [[nodiscard]] rma_status_t try_send(int peer, std::size_t rail, std::uint16_t kind,
                                      std::span<const std::byte> head, std::span<const std::byte> tail);
  void send(int peer, std::size_t rail, std::uint16_t kind, std::span<const std::byte> head,
            std::span<const std::byte> tail);
  [[nodiscard]] bool congested(int peer);

  /// Sends what the listed links have to send. Returns whether anything was sent.
  bool pump();

 private:
  [[nodiscard]] transport::MessageEndpoint& endpoint(std::size_t rail) {
    return *rails_[rail].message_endpoint();
  }
  /// Posts one message. Called with the link's lock held, as the other functions are.
  [[nodiscard]] rma_status_t post(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> head,
                                  std::span<const std::byte> tail);
  /// Posts a message by the queue. It lies in `memory`, which is that of `slot` unless `slot` is null.
  [[nodiscard]] rma_status_t post_by_queue(Link& link, int peer, const MessageHeader& header,
                                           std::span<std::byte> memory, SendSlots::Slot* slot,
                                           MessageEvent event);
  /// Posts the messages that wait, all or until there is no room. Sets `*moved` if it has posted any.
  [[nodiscard]] rma_status_t post_waiting(Link& link, int peer, bool* moved);
  /// Posts the first of them and those that go with it. Stores their number into `*count`.
  [[nodiscard]] rma_status_t post_first(Link& link, int peer, std::size_t* count);
  /// Posts as many of them as one buffer takes.
  [[nodiscard]] rma_status_t post_together(Link& link, int peer, std::size_t* count);
  /// Returns whether messages to the peer may go together.
  [[nodiscard]] bool coalesces(const Link& link) const {
    return !rails_[*link.rail()].limits().ordered_bytes;
  }
  /// Posts a message behind those that wait, if they can go now.
  [[nodiscard]] rma_status_t post_behind(Link& link, int peer, std::uint16_t kind,
                                         std::span<const std::byte> head, std::span<const std::byte> tail);
  /// Returns whether such a message shall wait for the next round.
  [[nodiscard]] bool joins_others(Link& link, std::uint16_t kind, std::size_t body);
  /// Adds it to those that wait. Returns false if there is no memory.
  [[nodiscard]] bool join(Link& link, int peer, std::uint16_t kind, std::span<const std::byte> head,
                          std::span<const std::byte> tail) noexcept;
  /// Posts the message that was put into the peer's ring and is not written there yet.
  [[nodiscard]] rma_status_t post_unwritten(Link& link, int peer);

  Rails& rails_;
  LinkTable& links_;
  HelperSleep& sleep_;
  std::uint64_t unsolicited_ = 0;  ///< by kind
  Bytes most_ = {};
  std::atomic<std::uint32_t> rounds_ = 0;  ///< calls of pump(), modulo 2^32
  const std::function<void(int)> fail_;
  std::unique_ptr<SendSlots> slots_;
};

}  // namespace librma
