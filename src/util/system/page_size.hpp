#pragma once

#include <unistd.h>

#include <cstddef>

namespace librma {

/// The bytes of a page of this system's memory.
[[nodiscard]] inline std::size_t page_bytes() noexcept {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// The bytes of a huge page on a system whose ordinary pages have 4 KiB.
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;

}  // namespace librma
