#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/registrar.hpp"
#include "util/status.hpp"

namespace rma {

/// Blocks of internal memory that each process offers to the others of its host, one per user of the core.
enum class Service : std::uint8_t { doorbell, regions, accumulate, teams, count_ };
inline constexpr std::size_t kServices = static_cast<std::size_t>(Service::count_);

/// Where a service's block lies in its owner's heap window. No bytes: not offered.
struct ServiceBlock {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// What a process tells the others about itself: a wire format, checked when read.
struct ProcessCard {
  static constexpr std::uint64_t kMagic = 0x726d612d63617264;  // "rma-card"
  /// Of this format, of all shared structures, and of the messages between processes.
  static constexpr std::uint32_t kVersion = 5;
  static constexpr std::size_t kRailCardBytes = 64;  ///< room for a transport's card
  static constexpr std::size_t kRailNameBytes =
      72;  ///< and its name: the kernel allows 63 for a device, and :255
  static constexpr std::size_t kBlockAlignment = 64;  ///< of the services' blocks in their window

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t pid = 0;
  std::uint64_t started = 0;  ///< when the process did: see ProcessIdentity
  std::uint64_t base = 0;     ///< of the heap window, in the owner's address space
  std::uint64_t bytes = 0;
  std::uint32_t window_fd = 0;
  std::uint32_t rails = 0;  ///< network devices; 0 without a network
  std::array<ServiceBlock, kServices> services = {};
  std::uint32_t atomics_by_device = 0;  ///< 1: 8-byte atomics are for the network's device to execute
  std::uint32_t rail_card_bytes = 0;
  std::array<std::uint32_t, kMaxRails> directory_keys = {};  ///< of the regions' block, per rail
  std::array<std::array<std::byte, kRailCardBytes>, kMaxRails> rail_cards = {};
  std::array<std::array<char, kRailNameBytes>, kMaxRails> rail_names = {};  ///< filled up with zeros

  void name_rail(std::size_t rail, std::string_view name);
  [[nodiscard]] std::string rail_name(std::size_t rail) const;

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// RMA_ERR_VERSION when another librma wrote it, RMA_ERR_LAUNCH when it makes no sense.
  [[nodiscard]] static Result<ProcessCard> decode(std::span<const std::byte> card, int rank);
};

}  // namespace rma
