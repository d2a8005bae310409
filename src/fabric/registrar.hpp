#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "transport/transport.hpp"
#include "util/status.hpp"

namespace librma {

/// The maximum number of network devices that one process uses together.
inline constexpr std::size_t kMaxRails = 4;

/// One key per rail.
using RailKeys = std::array<transport::Key, kMaxRails>;

/// The number of the transport to the ranks of this host, which follows the numbers of the rails. It carries
/// messages only, and needs no keys.
inline constexpr std::size_t kLocalRail = kMaxRails;

/// Memory that is registered with the network devices, so that they may read and write it.
struct Registered {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  RailKeys local = {};   ///< the local key of each rail
  RailKeys remote = {};  ///< the remote key of each rail, which peers use

  /// These return the keys for a rail or for kLocalRail.
  [[nodiscard]] transport::Key local_key(std::size_t rail) const {
    return rail == kLocalRail ? 0 : local[rail];
  }
  [[nodiscard]] transport::Key remote_key(std::size_t rail) const {
    return rail == kLocalRail ? 0 : remote[rail];
  }
};

/// Returns the registration of this process's heap that an address lies in.
using OwnMemory = std::function<std::optional<Registered>(const std::byte* address)>;

/// Registers memory with the network devices. The allocator and the registration cache are given a Registrar,
/// so that they need not know the devices. Thread-safe.
class Registrar {
 public:
  Registrar() = default;
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;
  virtual ~Registrar() = default;

  /// Returns zeroed pages that peers may write to after add(). This version maps private memory; a network
  /// that needs special memory overrides it. RMA_ERR_NO_MEMORY.
  [[nodiscard]] virtual Result<std::byte*> take_peer_memory(std::size_t bytes);
  virtual void give_peer_memory(std::byte* memory, std::size_t bytes);

  /// Returns whether peers and devices may write to registered memory after they were given up.
  [[nodiscard]] virtual bool late_transfers() const { return false; }

  /// Registers [address, address + bytes) with every rail, or with none. RMA_ERR_NO_MEMORY if a limit
  /// is reached, which happens in ordinary operation. RMA_ERR_ADDRESS if not all of it is mapped, or
  /// it is read-only.
  [[nodiscard]] virtual Result<Registered> add(std::byte* address, std::size_t bytes) = 0;
  /// Undoes one add().
  virtual void remove(const Registered& registered) = 0;
};

}  // namespace librma
