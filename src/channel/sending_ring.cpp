#include "channel/sending_ring.hpp"

namespace librma {

std::optional<RingShape> SendingRing::shape_of(const RingOffer& offer) {
  const RingShape shape = {.slots = offer.slots, .slot_bytes = offer.slot_bytes};
  // A message returns at most UINT16_MAX slots.
  if (!shape.valid() || shape.slots > UINT16_MAX || shape.most() < sizeof(MessageHeader)) return {};
  if (offer.address == 0 || offer.address % RingShape::kLineBytes != 0) return {};
  if (offer.address > UINT64_MAX - shape.bytes() || offer.unsolicited_only > 1 || offer.reserved != 0)
    return {};
  return shape;
}

void SendingRing::open(const RingOffer& offer, const RingShape& shape, RingMemory::Piece image) {
  image_ = std::move(image);
  slots_.emplace(shape, RingMemory::memory(image_).first(shape.bytes()));
  there_ = {.address = offer.address, .key = offer.key};
  unsolicited_only_ = offer.unsolicited_only != 0;
  open_ = true;
}

void SendingRing::put(const MessageHeader& header, std::span<const std::byte> head,
                      std::span<const std::byte> tail) {
  unwritten_ = slots_->put(std::as_bytes(std::span(&header, 1)), head, tail);
}

SendingRing::Unwritten SendingRing::unwritten(std::size_t rail) const {
  const Registered& image = image_->registered();
  return {.to = {.address = there_.address + unwritten_->offset, .key = there_.key},
          .from = {.address = image.address + unwritten_->offset,
                   .bytes = unwritten_->bytes.size(),
                   .key = image.local_key(rail)}};
}

}  // namespace librma
