#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/transport.hpp"
#include "util/status.hpp"

namespace rma {

/// Network devices that one process uses together at most.
inline constexpr std::size_t kMaxRails = 4;

/// One key per rail.
using RailKeys = std::array<transport::Key, kMaxRails>;

/// Memory that the network's devices may read and write.
struct Registered {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  RailKeys local = {};   ///< local descriptors
  RailKeys remote = {};  ///< remote keys, by the owner's rails; 0 where a rail does not reach it
};

/// Whoever can register memory with the network's devices; the allocator and the registration cache are
/// handed one, so that they need to know no device. Thread-safe.
class Registrar {
 public:
  Registrar() = default;
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;
  virtual ~Registrar() = default;

  /// Zeroed pages that add() takes and that peers may write to then: any, unless the network wants them to
  /// come from somewhere. RMA_ERR_NO_MEMORY.
  [[nodiscard]] virtual Result<std::byte*> take_peer_memory(std::size_t bytes);
  virtual void give_peer_memory(std::byte* memory, std::size_t bytes);

  /// Registers [address, address + bytes) with every rail, or with none. RMA_ERR_NO_MEMORY is an ordinary
  /// answer: a limit is reached. RMA_ERR_ADDRESS: not all of it is mapped (or it is read-only).
  [[nodiscard]] virtual Result<Registered> add(std::byte* address, std::size_t bytes) = 0;
  /// Takes back one add().
  virtual void remove(const Registered& registered) = 0;
};

}  // namespace rma
