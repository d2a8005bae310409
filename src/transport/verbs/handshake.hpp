#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "transport/wireup/handshake.hpp"
#include "transport/wireup/wireup.hpp"

// The data that two processes exchange in order to connect by verbs (transport/wireup/handshake.hpp).

namespace librma::transport {

using Gid = std::array<std::uint8_t, 16>;

/// The address at which a process's port receives datagrams.
struct DatagramAddress {
  Gid gid = {};
  std::uint32_t queue_pair = 0;
  std::uint32_t queue_key = 0;
  std::uint16_t lid = 0;
  std::uint16_t reserved[3] = {};  // NOLINT(modernize-avoid-c-arrays): a wire format
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

/// The formats of verbs' handshakes.
struct VerbsWire {
  using Address = DatagramAddress;
  using Endpoint = transport::Endpoint;
  static constexpr std::string_view kName = "verbs";
  static constexpr std::uint32_t kCardMagic = 0x6d727672;  // "rvrm"
  static constexpr std::uint32_t kCardVersion = 1;
  static constexpr std::uint32_t kHandshakeMagic = 0x676d7267;  // "grmg"
  static constexpr std::uint16_t kHandshakeVersion = 2;
};
using PortCard = PortCardOf<VerbsWire>;
using Handshake = HandshakeOf<VerbsWire>;
using Wireup = WireupOf<VerbsWire>;
static_assert(sizeof(PortCard) == 56);
static_assert(sizeof(Handshake) == 112);

}  // namespace librma::transport
