#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "channel/message.hpp"
#include "channel/ring.hpp"
#include "channel/ring_memory.hpp"
#include "transport/transport.hpp"

namespace librma {

/// The sending end of the ring that a peer has offered to this process. The lock of its link guards it.
class SendingRing {
 public:
  /// Returns the shape of the offered ring, or no value if the offer is malformed.
  [[nodiscard]] static std::optional<RingShape> shape_of(const RingOffer& offer);

  /// Opens the ring: messages may go by it from now on. `image` is large enough for the copies of the slots.
  void open(const RingOffer& offer, const RingShape& shape, RingMemory::Piece image);
  /// Closes the ring for new messages. Messages that were put into it before still go.
  void stop() { open_ = false; }
  [[nodiscard]] bool is_open() const { return open_; }
  /// Returns whether the image is in use, from open() to take_image(). The caller calls take_image() after
  /// stop(), or when the peer is lost. The device may still read the image until it has sent everything that
  /// was posted before.
  [[nodiscard]] bool in_use() const { return image_ != nullptr; }
  [[nodiscard]] RingMemory::Piece take_image() { return std::move(image_); }

  /// Returns whether the ring has room now for such a message, with a body of this size.
  [[nodiscard]] bool takes(MessageEvent event, std::size_t body) const {
    return open_ && (event == MessageEvent::unsolicited || !unsolicited_only_) && !slots_->full() &&
           sizeof(MessageHeader) + body <= slots_->shape().most();
  }
  /// Puts a message into the image; takes() has returned true for it. The caller writes it to the peer before
  /// it puts the next.
  void put(const MessageHeader& header, std::span<const std::byte> head, std::span<const std::byte> tail);

  /// The RDMA write that brings a message from the image to the peer.
  struct Unwritten {
    transport::Remote to;
    transport::Local from;
  };
  [[nodiscard]] bool has_unwritten() const { return unwritten_.has_value(); }
  [[nodiscard]] Unwritten unwritten(std::size_t rail) const;
  void written() { unwritten_.reset(); }

  /// Records that the peer has returned `slots` slots, perhaps of a ring that was stopped before. Returns
  /// false if an honest peer would not do that.
  [[nodiscard]] bool returned(std::uint32_t slots) {
    return slots == 0 || (slots_ && slots_->returned(slots));
  }

 private:
  bool open_ = false;
  bool unsolicited_only_ = false;
  std::optional<RingSender> slots_;
  RingMemory::Piece image_;
  transport::Remote there_;
  std::optional<RingSender::Write> unwritten_;
};

}  // namespace librma
