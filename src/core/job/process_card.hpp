#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

/// What a process tells the others about itself through the launcher (MPICH: business card; Open MPI: modex).
/// Everything is checked when it is read.
struct ProcessCard {
  static constexpr std::uint64_t kMagic = 0x726d612d63617264;  // "rma-card"
  /// Of this format, of all shared structures, and of the messages between processes.
  static constexpr std::uint32_t kVersion = 7;
  static constexpr std::size_t kBlockAlignment = 64;  ///< of the services' blocks in their window

  /// The part of fixed size, which is its own wire format.
  struct Head {
    std::uint64_t magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t pid = 0;
    std::uint64_t started = 0;  ///< when the process did: see ProcessIdentity
    std::uint64_t base = 0;     ///< of the heap window, in the owner's address space
    std::uint64_t bytes = 0;
    std::uint32_t window_fd = 0;
    std::uint32_t atomics_by_device = 0;  ///< 1: 8-byte atomics are for the network's device to execute
    std::uint64_t local_bytes = 0;        ///< the size of `local`, which follows
    std::array<ServiceBlock, kServices> services = {};
  };
  /// One network device.
  struct Rail {
    std::string name;
    transport::Key directory_key = 0;  ///< of the regions' block
    std::vector<std::byte> card;       ///< the transport's, of any length
  };

  Head head;
  std::vector<std::byte> local;  ///< the card of the transport within the host; empty if there is none
  std::vector<Rail> rails;       ///< none without a network; kMaxRails at most

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// RMA_ERR_VERSION when another librma wrote it, RMA_ERR_LAUNCH when it makes no sense.
  [[nodiscard]] static Result<ProcessCard> decode(std::span<const std::byte> card, int rank);
};

}  // namespace rma
