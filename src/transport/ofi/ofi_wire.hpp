#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transport/wireup/handshake.hpp"
#include "transport/wireup/wireup.hpp"

// The data that two processes exchange in order to connect by libfabric (transport/wireup/handshake.hpp).

namespace librma::transport {

/// The name of a libfabric endpoint (fi_getname), and of the provider that gives it a meaning.
struct OfiAddress {
  static constexpr std::size_t kMostBytes = 62;

  std::array<std::uint8_t, kMostBytes> name = {};
  std::uint16_t bytes = 0;             ///< of `name`
  std::array<char, 32> provider = {};  ///< ended by a zero

  [[nodiscard]] bool valid() const { return bytes > 0 && bytes <= kMostBytes && provider.back() == 0; }
};

/// One end of a connection of two processes.
struct OfiEnd {
  OfiAddress address;
  std::uint32_t ticket = 0;         ///< the peer's messages to this process carry it; not 0
  std::uint16_t buffers = 0;        ///< number of buffers set aside for the peer's messages
  std::uint16_t gather = 0;         ///< the maximum number of pieces of memory in one transfer
  std::uint64_t empty_address = 0;  ///< the place and key of memory for writes without data
  std::uint64_t empty_key = 0;
};

struct OfiWire {
  using Address = OfiAddress;
  using Endpoint = OfiEnd;
  static constexpr std::string_view kName = "libfabric";
  static constexpr std::uint32_t kCardMagic = 0x666f7672;  // "rvof"
  static constexpr std::uint32_t kCardVersion = 1;
  static constexpr std::uint32_t kHandshakeMagic = 0x666f6872;  // "rhof"
  static constexpr std::uint16_t kHandshakeVersion = 3;
};
using OfiCard = PortCardOf<OfiWire>;
using OfiHandshake = HandshakeOf<OfiWire>;
using OfiWireup = WireupOf<OfiWire>;

}  // namespace librma::transport
