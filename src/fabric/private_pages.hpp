#pragma once

#include <cstddef>
#include <memory>

#include "fabric/unmap_watch.hpp"
#include "util/status.hpp"
#include "util/system/descriptor.hpp"

namespace librma {

/// Tells private memory from shared memory, by /proc/self/pagemap. Thread-safe.
class PrivatePages {
 public:
  /// Opens the file. RMA_ERR_UNSUPPORTED if it cannot be opened.
  static Result<std::unique_ptr<PrivatePages>> open();

  /// Returns whether every page of `span` is anonymous. `span` consists of whole pages that a device holds
  /// at this moment. An anonymous page leaves its address only by calls that an UnmapWatch notices. A page
  /// of a file or of a shared memory segment can also be removed by another process, and this process gets
  /// no event then.
  [[nodiscard]] bool contain(const AddressSpan& span) const;

 private:
  PrivatePages() = default;

  Descriptor file_;
  std::size_t page_ = 0;
};

}  // namespace librma
