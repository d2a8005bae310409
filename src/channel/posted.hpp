#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace rma {

/// Something posted on a helper endpoint, with its own address as the cookie: it is told of its end by whoever
/// polls the endpoint, one thread at a time, and never waits.
class Posted {
 public:
  Posted() = default;
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;
  virtual ~Posted() = default;

  /// `bytes` are those of what was received. A `status` other than RMA_SUCCESS: it failed, and with it the
  /// connection to the peer.
  virtual void ended(int peer, rma_status_t status, std::uint32_t bytes) = 0;

  [[nodiscard]] transport::Cookie cookie() { return reinterpret_cast<std::uintptr_t>(this); }
  [[nodiscard]] static Posted& of(transport::Cookie cookie) {
    return *reinterpret_cast<Posted*>(cookie);  // NOLINT(performance-no-int-to-ptr): as cookie() made it
  }
};

}  // namespace rma
