#pragma once

#include <cstddef>
#include <cstdint>

#include "util/copy_word.hpp"
#include "util/copying/copy_table.hpp"

namespace librma {

/// Copies like copy_mapped(), but 8 aligned bytes by one store.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes) {
  if (copy_word<std::uint64_t>(dst, src, bytes)) return;
  if (bytes != 0) copy_mapped(dst, src, bytes);
}

}  // namespace librma
