#pragma once

#include <cstddef>

#include "util/status.hpp"

namespace rma {

/// What puts memory behind the window's addresses, in granules. Called by one thread at a time.
class Backing {
 public:
  Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;
  virtual ~Backing() = default;

  /// What offsets and sizes are multiples of: itself a multiple of the window's granule.
  [[nodiscard]] virtual std::size_t granule() const = 0;
  /// Takes memory for [offset, offset + bytes), which nobody uses. RMA_ERR_NO_MEMORY, and nobody may touch
  /// it.
  [[nodiscard]] virtual Status back(std::size_t offset, std::size_t bytes) = 0;
  /// Nobody uses [offset, offset + bytes) any more. Does not fail.
  virtual void release(std::size_t offset, std::size_t bytes) = 0;
};

}  // namespace rma
