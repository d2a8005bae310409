#pragma once

#include <memory>

#include "fabric/unmap_watch.hpp"
#include "util/status.hpp"

namespace rma {

/// Tells private memory from shared memory, by /proc/self/pagemap. Thread-safe.
class PrivatePages {
 public:
  /// RMA_ERR_UNSUPPORTED where the file cannot be opened.
  static Result<std::unique_ptr<PrivatePages>> open();

  ~PrivatePages();
  PrivatePages(const PrivatePages&) = delete;
  PrivatePages& operator=(const PrivatePages&) = delete;

  /// True when every page of `span`, whole pages that a device holds at this moment, is anonymous. Such a
  /// page leaves its address only by what an UnmapWatch notices. One that others can reach, through a file
  /// or a segment, they may also take out of that file, and nobody here is told.
  [[nodiscard]] bool contain(const AddressSpan& span) const;

 private:
  PrivatePages() = default;

  int file_ = -1;
  std::size_t page_ = 0;
};

}  // namespace rma
