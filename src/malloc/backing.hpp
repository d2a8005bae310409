#pragma once

#include <cstddef>

#include "util/status.hpp"

namespace librma {

/// Puts memory behind the window's addresses, in granules. One thread at a time calls it.
class Backing {
 public:
  Backing() = default;
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;
  virtual ~Backing() = default;

  /// Returns the granule in bytes, of which offsets and sizes are multiples. It is a multiple of the window's
  /// granule.
  [[nodiscard]] virtual std::size_t granule() const = 0;
  /// Takes memory for [offset, offset + bytes), which is not in use. After RMA_ERR_NO_MEMORY nobody may touch
  /// the range. The memory may hold what an earlier user left there.
  [[nodiscard]] virtual Status back(std::size_t offset, std::size_t bytes) = 0;
  /// Does what back() does, and the memory reads as zeros.
  [[nodiscard]] virtual Status back_zeroed(std::size_t offset, std::size_t bytes) = 0;
  /// Takes [offset, offset + bytes) back: it is not in use any more. Does not fail.
  virtual void release(std::size_t offset, std::size_t bytes) = 0;
};

}  // namespace librma
