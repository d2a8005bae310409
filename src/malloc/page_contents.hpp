#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "util/status.hpp"
#include "util/system/descriptor.hpp"

namespace librma {

/// A mapping of this process, or a part of one.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool of_file = false;  ///< pages that were never touched have the file's contents; else they are zeros
};

/// Returns the mappings of this process in [begin, end), ascending, cut to that range. RMA_ERR_ADDRESS if
/// they leave a hole, or if one is not private, readable and writable; RMA_ERR_SYSTEM if /proc/self/maps
/// cannot be read.
[[nodiscard]] Result<std::vector<Mapping>> private_mappings(std::uintptr_t begin, std::uintptr_t end);

/// Copies pages of this process into a file. It allocates nothing, because the program's allocator may keep
/// its own records in the pages that are copied. The kernel reads the pages, so sanitizers do not see the
/// accesses.
class PageCopy {
 public:
  /// Address a is copied to the byte a - begin + offset of `file`.
  static Result<PageCopy> open(int file, std::uintptr_t begin, std::size_t offset);

  /// Copies the pages of `mapping` that hold something: all of a file, and those of anonymous memory that the
  /// process has touched. Returns 0, or the error number.
  [[nodiscard]] int copy(const Mapping& mapping) const noexcept;

 private:
  PageCopy(int file, Descriptor pagemap, std::uintptr_t begin, std::size_t offset)
      : file_(file), pagemap_(std::move(pagemap)), begin_(begin), offset_(offset) {}
  [[nodiscard]] int write(std::uintptr_t begin, std::uintptr_t end) const noexcept;
  [[nodiscard]] int copy_touched(const Mapping& mapping) const noexcept;

  int file_;
  Descriptor pagemap_;  ///< /proc/self/pagemap
  std::uintptr_t begin_;
  std::size_t offset_;
};

}  // namespace librma
