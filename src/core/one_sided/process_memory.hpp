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
  /// of CmaTransport::read() and write().
  [[nodiscard]] rma_status_t read(int rank, std::uintptr_t address, std::span<std::byte> into) const {
    return transport_ != nullptr ? transport_->read(rank, address, into) : RMA_ERR_UNSUPPORTED;
  }
  [[nodiscard]] rma_status_t write(int rank, std::uintptr_t address, std::span<const std::byte> from) const {
    return transport_ != nullptr ? transport_->write(rank, address, from) : RMA_ERR_UNSUPPORTED;
  }

 private:
  transport::CmaTransport* transport_ = nullptr;
};

}  // namespace librma
