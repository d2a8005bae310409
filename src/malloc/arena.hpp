#pragma once

#include <cstddef>
#include <memory>

#include "malloc/extent_pool.hpp"
#include "util/status.hpp"

namespace librma {

/// A jemalloc arena that takes its extents from a pool. Thread-safe. jemalloc's own records lie outside the
/// window, where no peer can overwrite them.
class Arena {
 public:
  /// Makes an arena. `pool` must outlive it. RMA_ERR_NO_MEMORY if jemalloc cannot make it.
  static Result<std::unique_ptr<Arena>> create(ExtentPool& pool);

  /// Gives all extents back to the pool, also those with live blocks.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns a block. `bytes` is above 0 and `alignment` is a power of two. Returns the errors of the pool;
  /// RMA_ERR_NO_MEMORY if jemalloc has no memory for its own record.
  Result<std::byte*> allocate(std::size_t bytes, std::size_t alignment);
  /// Frees a block that this arena returned.
  void free(std::byte* address);

 private:
  struct Hooks;

  explicit Arena(ExtentPool& pool);

  std::unique_ptr<Hooks> hooks_;
  unsigned index_ = 0;
  bool created_ = false;
};

}  // namespace librma
