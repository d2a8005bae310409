#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "channel/message.hpp"
#include "channel/ring.hpp"
#include "channel/ring_memory.hpp"
#include "transport/transport.hpp"

namespace rma {

/// This process's end of the ring that a peer has offered to it. Guarded as the link that it belongs to.
class SendingRing {
 public:
  /// The shape that is offered, if it is one.
  [[nodiscard]] static std::optional<RingShape> shape_of(const RingOffer& offer);

  /// From here on messages may go by the ring, with `image`, which is large enough.
  void open(const RingOffer& offer, const RingShape& shape, RingMemory::Piece image);
  /// Nothing more goes by it, except what is in it already.
  void stop() { open_ = false; }
  [[nodiscard]] bool is_open() const { return open_; }
  /// Until take_image(), which may follow once it is stopped, or the peer lost: of the image nothing is
  /// needed any more when what was posted before has been sent.
  [[nodiscard]] bool in_use() const { return image_ != nullptr; }
  [[nodiscard]] RingMemory::Piece take_image() { return std::move(image_); }

  /// Whether a message with this body has room in it now.
  [[nodiscard]] bool takes(std::size_t body) const {
    return open_ && !slots_->full() && sizeof(MessageHeader) + body <= slots_->shape().most();
  }
  /// Puts a message that it takes. It is to be written before the next.
  void put(const MessageHeader& header, std::span<const std::byte> head, std::span<const std::byte> tail);

  /// What is to be written there, of the image.
  struct Unwritten {
    transport::Remote to;
    transport::Local from;
  };
  [[nodiscard]] bool has_unwritten() const { return unwritten_.has_value(); }
  [[nodiscard]] Unwritten unwritten(std::size_t rail) const;
  void written() { unwritten_.reset(); }

  /// The peer is done with so many messages more; they may be of the ring before it was stopped. False when
  /// it cannot be.
  [[nodiscard]] bool returned(std::uint32_t slots) {
    return slots == 0 || (slots_ && slots_->returned(slots));
  }

 private:
  bool open_ = false;
  std::optional<RingSender> slots_;
  RingMemory::Piece image_;
  transport::Remote there_;
  std::optional<RingSender::Write> unwritten_;
};

}  // namespace rma
