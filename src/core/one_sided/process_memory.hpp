#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/types.h"
#include "transport/shm/cma_transport.hpp"

namespace librma {

/// Access to the memory of ranks of this host by system calls. Each returns when the bytes are there.
/// Thread-safe.
class ProcessMemory {
 public:
  /// Reaches no memory: all calls return RMA_ERR_UNSUPPORTED.
  ProcessMemory() = default;
  /// `transport` outlives this.
  explicit ProcessMemory(transport::CmaTransport& transport) : transport_(&transport) {}

  /// Read or write as many bytes as the span has at `address` of a rank that permits it. The errors are those
  /// of a completion of CmaTransport.
  [[nodiscard]] rma_status_t read(int rank, std::uintptr_t address, std::span<std::byte> into) const {
    return move(rank, transport::Direction::read,
                [&](const auto& add) { static_cast<void>(add(address, into)); });
  }
  [[nodiscard]] rma_status_t write(int rank, std::uintptr_t address, std::span<const std::byte> from) const {
    // The cast is safe: the kernel only reads the memory.
    const std::span<std::byte> local(const_cast<std::byte*>(from.data()), from.size());
    return move(rank, transport::Direction::write,
                [&](const auto& add) { static_cast<void>(add(address, local)); });
  }
  /// Reads pieces, which share system calls. Calls list(add) once, which calls add(address, into) for each
  /// piece, until that returns false because a piece could not be read.
  template <typename List>
  [[nodiscard]] rma_status_t read_pieces(int rank, const List& list) const {
    return move(rank, transport::Direction::read, list);
  }

 private:
  template <typename List>
  [[nodiscard]] rma_status_t move(int rank, transport::Direction direction, const List& list) const {
    if (transport_ == nullptr) return RMA_ERR_UNSUPPORTED;
    transport::CmaTransport::Pieces pieces(*transport_, rank, direction);
    list([&](std::uintptr_t address, std::span<std::byte> local) { return pieces.add(address, local); });
    return pieces.move();
  }

  transport::CmaTransport* transport_ = nullptr;
};

}  // namespace librma
