#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/registrar.hpp"
#include "transport/shm/host_peers.hpp"
#include "util/copying/copy_table.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

/// Blocks of internal memory that each process offers to the others of its host, one per user of the core.
enum class Service : std::uint8_t {
  doorbell,
  regions,
  heap_use,
  accumulate,
  teams,
  messages,
  active,
  count_
};
inline constexpr std::size_t kServices = static_cast<std::size_t>(Service::count_);

/// The place of a service's block in its owner's heap window. `bytes` is 0 if the block is not offered.
struct ServiceBlock {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The data about a process that the other processes get through the launcher (MPICH: business card; Open
/// MPI: modex). Readers check every field.
struct ProcessCard {
  static constexpr std::uint64_t kMagic = 0x726d612d63617264;  // "rma-card"
  /// The version of this format, of all shared structures, and of the messages between processes.
  static constexpr std::uint32_t kVersion = 18;
  static constexpr std::size_t kBlockAlignment = 64;  ///< alignment of the services' blocks in their window

  /// The part of fixed size, which is its own wire format.
  struct Head {
    std::uint64_t magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t pid = 0;   ///< its number in its own PID namespace, which may be another one's here
    std::uint64_t base = 0;  ///< address of the heap window in the owner's address space
    std::uint64_t bytes = 0;
    std::uint64_t alias_bytes = 0;  ///< the part of `bytes`, in front, that is the file of the aliased memory
    std::uint64_t process_heap_bytes = 0;  ///< the size of the process heap that follows the window; 0: none
    std::uint64_t atomics_by_device = 0;   ///< 1: the network's device executes all 8-byte atomics
    transport::HostCard host;              ///< how other processes of its host meet it
    std::uint64_t local_bytes = 0;         ///< the size of `local`, which follows
    std::array<ServiceBlock, kServices> services = {};
    /// The fastest copies on its host's processor, if it measured them: if it is its host's first process.
    CopyTable copies;
    NetworkSetting network = NetworkSetting::off;  ///< the network that it has open
    std::array<std::uint8_t, 5> unused = {};       // the table's size is no multiple of 8
  };
  /// One network device.
  struct Rail {
    std::string name;
    transport::Key directory_key = 0;  ///< remote key of the regions' block
    std::vector<std::byte> card;       ///< the transport's card, of any length
  };

  Head head;
  JobSettings settings;
  std::vector<std::byte> local;  ///< the card of the transport within the host; empty if there is none
  std::vector<Rail> rails;       ///< empty without a network; kMaxRails at most

  /// Returns RMA_ERR_SETTING, with the names of both networks, if this card's process, of rank `self`, and
  /// that of `theirs`, of rank `other`, have different ones open. `auto` takes what each host has.
  [[nodiscard]] Status check_network(const ProcessCard& theirs, int self, int other) const;
  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Decodes the card of `rank`. RMA_ERR_VERSION if another version of librma wrote it, RMA_ERR_LAUNCH if it
  /// is malformed.
  [[nodiscard]] static Result<ProcessCard> decode(std::span<const std::byte> card, int rank);
};

}  // namespace librma
