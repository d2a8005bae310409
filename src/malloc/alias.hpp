#pragma once

#include <sys/types.h>

#include <cstddef>

#include "util/status.hpp"

namespace librma {

/// Memory of the program, such as its static data, behind which this process has put a file. The heap window
/// begins with the same file, so other ranks reach the memory as they reach the heap.
struct Alias {
  std::byte* address = nullptr;  ///< the program's memory, in whole pages
  std::size_t bytes = 0;
  int fd = -1;                 ///< a memfd, whose size is sealed
  std::size_t offset = 0;      ///< where `address` lies in the file; equal to the address modulo 2 MiB
  std::size_t file_bytes = 0;  ///< a multiple of 2 MiB
  dev_t device = 0;            ///< with `inode`: which file it is
  ino_t inode = 0;
};

/// Puts a file behind the pages of [address, address + bytes), which keep their contents. The file stays
/// until the process ends. A forked child gets a private copy instead. Pages of anonymous memory that were
/// never touched stay without memory.
///
/// No other thread may run, because what it stored meanwhile would be lost. A process has one alias; the call
/// succeeds again for memory inside it.
///
/// RMA_ERR_STATE if the process has other threads, or an alias elsewhere; RMA_ERR_ADDRESS if a part of the
/// memory is not private, readable and writable; RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM. Nothing has changed then.
[[nodiscard]] Status make_alias(std::byte* address, std::size_t bytes);

/// Returns this process's alias. Returns null if it has none, or if the program has closed its file, which is
/// then out of other ranks' reach.
[[nodiscard]] const Alias* own_alias() noexcept;

}  // namespace librma
