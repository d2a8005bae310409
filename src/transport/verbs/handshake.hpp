#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transport/verbs/siphash.hpp"
#include "util/status.hpp"

// The data that two processes exchange in order to connect. These are wire formats in little-endian byte
// order, which all platforms of this library have. They are checked when they are read.

namespace rma::transport {

using Gid = std::array<std::uint8_t, 16>;

/// The address at which a process's port receives datagrams.
struct DatagramAddress {
  Gid gid = {};
  std::uint32_t queue_pair = 0;
  std::uint32_t queue_key = 0;
  std::uint16_t lid = 0;
  std::uint16_t reserved[3] = {};  // NOLINT(modernize-avoid-c-arrays): a wire format
};

/// A port's card. It contains the port's address and the secret that a caller must know. The launcher shows
/// it only to processes of the job.
struct PortCard {
  static constexpr std::uint32_t kMagic = 0x6d727672;  // "rvrm"
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  DatagramAddress address;
  Secret secret = {};

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Decodes a card. RMA_ERR_VERSION if another version of librma wrote it, RMA_ERR_LAUNCH if it is not
  /// valid.
  [[nodiscard]] static Result<PortCard> decode(std::span<const std::byte> bytes);
};

/// One end of a connection of two processes: the data that the other end needs about its queue pairs.
struct Endpoint {
  Gid gid = {};
  std::uint32_t data_queue_pair = 0;
  std::uint32_t data_first_packet = 0;  ///< the sequence number of the first packet that it sends
  std::uint32_t message_queue_pair = 0;
  std::uint32_t message_first_packet = 0;
  std::uint32_t transfer_queue_pair = 0;
  std::uint32_t transfer_first_packet = 0;
  std::uint16_t buffers = 0;  ///< number of buffers set aside for the peer's messages
  std::uint16_t gather = 0;   ///< the maximum number of pieces of memory in one transfer
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;             ///< ibv_mtu
  std::uint8_t reads_answered = 0;  ///< how many reads and atomics it answers at the same time
};

/// A datagram of the handshake.
struct Handshake {
  static constexpr std::uint32_t kMagic = 0x676d7267;  // "grmg"
  static constexpr std::uint16_t kVersion = 2;
  enum class Kind : std::uint16_t { hello = 1, welcome = 2 };

  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  Kind kind = Kind::hello;
  std::int32_t from = -1;
  std::int32_t to = -1;
  std::uint64_t call = 0;  ///< the caller's number for this connection; a welcome repeats it
  DatagramAddress reply_to;
  Endpoint endpoint;
  std::uint64_t token = 0;  ///< SipHash of the bytes before it, under the secret of the called process

  [[nodiscard]] std::uint64_t expected_token(const Secret& secret) const;
  /// Returns the handshake, or no value if the datagram is not a handshake of this version. Does not
  /// check the token.
  [[nodiscard]] static std::optional<Handshake> decode(std::span<const std::byte> datagram);
};

}  // namespace rma::transport
