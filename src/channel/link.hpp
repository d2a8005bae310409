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
#include "malloc/registrar.hpp"
#include "rma/rma.h"

namespace rma {

/// The state of the messages between this process and one peer: what may be sent, in which order what arrives
/// is delivered, and which buffers are owed.
///
/// A sender has as many credits as buffers were promised to it at the peer, less those in use. The last one
/// is only for returning credits, so that two processes that are full of each other's messages can still tell
/// each other of the buffers that have become free. Credits travel in every message, and in one of their own
/// when more than half of a peer's buffers are owed to it.
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

  /// Whether a message may go now.
  [[nodiscard]] bool has_credit() const { return credits_ > 1; }
  /// The same of one of this kind: MessageHeader::kCredits takes the last credit too.
  [[nodiscard]] bool may_send(std::uint16_t kind) const {
    return kind == MessageHeader::kCredits ? credits_ > 0 : has_credit();
  }
  /// The next message's header. It is sent once sent() is called, and not if that is not.
  [[nodiscard]] MessageHeader next(std::uint16_t kind, std::size_t bytes) const;
  void sent(const MessageHeader& header);

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
  /// Those of the rail that its messages come by; none before the first.
  [[nodiscard]] std::uint32_t promised() const { return promised_; }
  /// A message has arrived, in whatever order: its credits count at once. `broken` when it cannot be from an
  /// honest peer, all of whose messages come by one rail.
  enum class Order : std::uint8_t { next, early, broken };
  [[nodiscard]] Order arrived(std::size_t rail, const MessageHeader& header);
  /// Keeps an early message.
  void keep(const MessageHeader& header, std::span<const std::byte> body);
  /// The message to deliver after the one that was `next`, if it is here; deliver() counts each.
  [[nodiscard]] std::optional<Waiting> next_kept();
  void delivered() { ++expected_; }

  /// One of the peer's buffers is free again: owed to it, or (`withdrawn`) no longer its.
  void freed(bool withdrawn);
  void lend(std::uint32_t buffers);
  /// It is time to send credits, even without a message to carry them.
  [[nodiscard]] bool owes() const { return owed_ > promised_ / 2; }

 private:
  std::optional<std::size_t> rail_;
  std::uint32_t credits_ = 0;
  std::uint32_t next_ = kFirstSequence;      ///< sequence number of the next message to the peer
  std::uint32_t expected_ = kFirstSequence;  ///< and from it
  std::array<std::uint32_t, kMaxRails> promises_ = {};
  std::optional<std::size_t> its_rail_;  ///< that the peer's messages come by
  std::uint32_t promised_ = 0;
  std::uint32_t owed_ = 0;
  std::map<std::uint32_t, Waiting> early_;  ///< by sequence number
};

}  // namespace rma
