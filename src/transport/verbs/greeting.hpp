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

// What two processes tell each other to connect: wire formats in the byte order of this library's only
// platforms, little-endian, checked when read.

namespace rma::transport {

using Gid = std::array<std::uint8_t, 16>;

/// Where one process's port listens for datagrams.
struct DatagramAddress {
  Gid gid = {};
  std::uint32_t queue_pair = 0;
  std::uint32_t queue_key = 0;
  std::uint16_t lid = 0;
  std::uint16_t reserved[3] = {};  // NOLINT(modernize-avoid-c-arrays): a wire format
};

/// A port's card: how to call it, and the secret that its callers share with it. The launcher shows it to the
/// processes of the job only.
struct PortCard {
  static constexpr std::uint32_t kMagic = 0x6d727672;  // "rvrm"
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  DatagramAddress address;
  Secret secret = {};

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// RMA_ERR_VERSION when another librma wrote it, RMA_ERR_LAUNCH when it makes no sense.
  [[nodiscard]] static Result<PortCard> decode(std::span<const std::byte> bytes);
};

/// One end of the connection of two processes: what the other end has to know of its queue pairs.
struct Endpoint {
  Gid gid = {};
  std::uint32_t data_queue_pair = 0;
  std::uint32_t data_first_packet = 0;  ///< sequence number that it will send first
  std::uint32_t message_queue_pair = 0;
  std::uint32_t message_first_packet = 0;
  std::uint32_t transfer_queue_pair = 0;
  std::uint32_t transfer_first_packet = 0;
  std::uint16_t buffers = 0;  ///< set aside for messages of the peer
  std::uint16_t gather = 0;   ///< pieces of memory in one transfer
  std::uint16_t lid = 0;
  std::uint8_t mtu = 0;             ///< ibv_mtu
  std::uint8_t reads_answered = 0;  ///< reads and atomics that it answers at the same time
};

/// The datagram of the handshake.
struct Greeting {
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
  std::uint64_t token = 0;  ///< SipHash of all before it under the secret of who is called

  [[nodiscard]] std::uint64_t expected_token(const Secret& secret) const;
  /// The datagram, if it is a greeting of this version. Its token is not looked at.
  [[nodiscard]] static std::optional<Greeting> decode(std::span<const std::byte> datagram);
};

}  // namespace rma::transport
