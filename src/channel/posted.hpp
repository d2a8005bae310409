#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace librma {

/// A work request or buffer that is posted on a message endpoint, with the object's own address as the
/// cookie. The thread that polls the endpoint, one at a time, tells the object of its end.
class Posted {
 public:
  Posted() = default;
  Posted(const Posted&) = delete;
  Posted& operator=(const Posted&) = delete;
  virtual ~Posted() = default;

  /// Handles the end, and must not wait. `bytes` is the size of a received message. A `status` other than
  /// RMA_SUCCESS means that the work request failed, and with it the connection to the peer.
  virtual void ended(int peer, rma_status_t status, std::uint32_t bytes) = 0;

  [[nodiscard]] transport::Cookie cookie() { return reinterpret_cast<std::uintptr_t>(this); }
  [[nodiscard]] static Posted& of(transport::Cookie cookie) {
    return *reinterpret_cast<Posted*>(cookie);  // NOLINT(performance-no-int-to-ptr): cookie() made it
  }
};

}  // namespace librma
