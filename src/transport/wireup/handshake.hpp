#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "transport/wireup/siphash.hpp"
#include "util/status.hpp"

// The data that two processes exchange in order to connect. These are wire formats in little-endian byte
// order, which all platforms of this library have. They are checked when they are read.
//
// Each kind of network has a `Wire`, which names its formats:
//   Address    the address at which a process receives handshakes
//   Endpoint   one end of a connection
//   kName, kCardMagic, kCardVersion, kHandshakeMagic, kHandshakeVersion

namespace librma::transport {

/// The card of a port. It contains the port's address and the secret that a caller must know. The launcher
/// shows it only to processes of the job.
template <typename Wire>
struct PortCardOf {
  static constexpr std::uint32_t kMagic = Wire::kCardMagic;
  static constexpr std::uint32_t kVersion = Wire::kCardVersion;

  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  typename Wire::Address address;
  Secret secret = {};

  [[nodiscard]] std::vector<std::byte> encode() const {
    static_assert(std::has_unique_object_representations_v<PortCardOf>, "a wire format has no padding");
    std::vector<std::byte> bytes(sizeof *this);
    std::memcpy(bytes.data(), this, sizeof *this);
    return bytes;
  }
  /// Decodes a card. RMA_ERR_VERSION if another version of librma wrote it, RMA_ERR_LAUNCH if it is not
  /// valid.
  [[nodiscard]] static Result<PortCardOf> decode(std::span<const std::byte> bytes) {
    PortCardOf card;
    if (bytes.size() != sizeof card) {
      return Status(
          RMA_ERR_LAUNCH,
          fmt::format("a {} card of {} bytes: expected {}. The hosts may use different networks: set "
                      "RMA_NETWORK, the same for all ranks",
                      Wire::kName, bytes.size(), sizeof card));
    }
    std::memcpy(&card, bytes.data(), sizeof card);
    if (card.magic != kMagic) return Status(RMA_ERR_LAUNCH, fmt::format("a damaged {} card", Wire::kName));
    if (card.version != kVersion) {
      return Status(RMA_ERR_VERSION, fmt::format("a {} card of format {}; this librma has format {}: run all "
                                                 "ranks with the same library",
                                                 Wire::kName, card.version, std::uint32_t{kVersion}));
    }
    return card;
  }
};

/// A datagram of the handshake.
template <typename Wire>
struct HandshakeOf {
  static constexpr std::uint32_t kMagic = Wire::kHandshakeMagic;
  static constexpr std::uint16_t kVersion = Wire::kHandshakeVersion;
  enum class Kind : std::uint16_t { hello = 1, welcome = 2 };

  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  Kind kind = Kind::hello;
  std::int32_t from = -1;
  std::int32_t to = -1;
  std::uint64_t call = 0;  ///< the caller's number for this connection; a welcome repeats it
  typename Wire::Address reply_to;
  typename Wire::Endpoint endpoint;
  std::uint64_t token = 0;  ///< SipHash of the bytes before it, under the secret of the called process

  [[nodiscard]] std::uint64_t expected_token(const Secret& secret) const {
    static_assert(std::has_unique_object_representations_v<HandshakeOf>, "a wire format has no padding");
    return siphash(secret, {reinterpret_cast<const std::byte*>(this), sizeof *this - sizeof token});
  }
  /// Returns the handshake, or no value if the datagram is not a handshake of this version. Does not
  /// check the token.
  [[nodiscard]] static std::optional<HandshakeOf> decode(std::span<const std::byte> datagram) {
    HandshakeOf handshake;
    if (datagram.size() != sizeof handshake) return std::nullopt;
    std::memcpy(&handshake, datagram.data(), sizeof handshake);
    if (handshake.magic != kMagic || handshake.version != kVersion) return std::nullopt;
    if (handshake.kind != Kind::hello && handshake.kind != Kind::welcome) return std::nullopt;
    return handshake;
  }
};

}  // namespace librma::transport
