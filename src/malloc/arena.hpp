#pragma once

#include <cstddef>
#include <memory>

#include "malloc/extent_pool.hpp"
#include "util/status.hpp"

namespace rma {

/// A jemalloc arena whose extents come from a pool. Thread-safe. jemalloc's own records are kept outside the
/// window, where no peer can write over them.
class Arena {
 public:
  /// `pool` must outlive the arena. RMA_ERR_NO_MEMORY when jemalloc cannot make one.
  static Result<std::unique_ptr<Arena>> create(ExtentPool& pool);

  /// Gives all extents back to the pool, whatever is still allocated in them.
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` above 0, `alignment` a power of two. Fails as the pool does.
  Result<std::byte*> allocate(std::size_t bytes, std::size_t alignment);
  /// `address` must have come from this arena.
  void free(std::byte* address);

 private:
  struct Hooks;

  explicit Arena(ExtentPool& pool);

  std::unique_ptr<Hooks> hooks_;
  unsigned index_ = 0;
  bool created_ = false;
};

}  // namespace rma
