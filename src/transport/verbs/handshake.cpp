#include "transport/verbs/handshake.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace rma::transport {

static_assert(std::has_unique_object_representations_v<PortCard> &&
                  std::has_unique_object_representations_v<Handshake>,
              "these are their own wire formats: no padding");

std::vector<std::byte> PortCard::encode() const {
  std::vector<std::byte> bytes(sizeof *this);
  std::memcpy(bytes.data(), this, sizeof *this);
  return bytes;
}

Result<PortCard> PortCard::decode(std::span<const std::byte> bytes) {
  PortCard card;
  if (bytes.size() != sizeof card) {
    return Status(RMA_ERR_LAUNCH,
                  fmt::format("a verbs card of {} bytes: expected {}", bytes.size(), sizeof card));
  }
  std::memcpy(&card, bytes.data(), sizeof card);
  if (card.magic != kMagic) return Status(RMA_ERR_LAUNCH, "a damaged verbs card");
  if (card.version != kVersion) {
    return Status(RMA_ERR_VERSION,
                  fmt::format("a verbs card of format {}; this librma has format {}: run all "
                              "ranks with the same library",
                              card.version, std::uint32_t{kVersion}));
  }
  return card;
}

std::uint64_t Handshake::expected_token(const Secret& secret) const {
  const auto* const bytes = reinterpret_cast<const std::byte*>(this);
  return siphash(secret, {bytes, offsetof(Handshake, token)});
}

std::optional<Handshake> Handshake::decode(std::span<const std::byte> datagram) {
  Handshake handshake;
  if (datagram.size() != sizeof handshake) return std::nullopt;
  std::memcpy(&handshake, datagram.data(), sizeof handshake);
  if (handshake.magic != kMagic || handshake.version != kVersion) return std::nullopt;
  if (handshake.kind != Kind::hello && handshake.kind != Kind::welcome) return std::nullopt;
  return handshake;
}

}  // namespace rma::transport
