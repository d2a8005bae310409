#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace rma {

/// A work request at a message endpoint. Its cookie is the address of this object. The thread that polls the
/// endpoint calls ended(), one thread at a time.
class Posted {
 public:
  Posted() = default;
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;
  virtual ~Posted() = default;

  /// Called when the work has ended. It must not wait. `bytes` is the size of a received message. If `status`
  /// is not RMA_SUCCESS, the connection to the peer has failed as well.
  virtual void ended(int peer, rma_status_t status, std::uint32_t bytes) = 0;

  [[nodiscard]] transport::Cookie cookie() { return reinterpret_cast<std::uintptr_t>(this); }
  [[nodiscard]] static Posted& of(transport::Cookie cookie) {
    return *reinterpret_cast<Posted*>(cookie);  // NOLINT(performance-no-int-to-ptr): as cookie() made it
  }
};

}  // namespace rma
