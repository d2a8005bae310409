#pragma once

#include <atomic>
#include <cstddef>

namespace librma::process_heap {

/// Blocks of at least this size are the C library's, in private memory. There they have huge pages if the
/// administrator gives them to private memory, take memory only where they are touched, and are not copied by
/// fork(). Shorter blocks are populated as a whole, which must not waste much (docs/process_heap.md).
inline constexpr std::size_t kLeastPrivate = (std::size_t{4} << 20U) + 1;

/// Blocks of fewer bytes come from jemalloc: 0 before the process heap begins, and in processes that have
/// none.
extern std::atomic<std::size_t> least_private;

/// The process heap begins in this process, if nothing stands against it. Called by each allocation until it
/// is decided, because it should begin before the program has anything that it may send. Returns whether
/// jemalloc has memory for blocks of `bytes` bytes now.
[[nodiscard]] bool begin_for(std::size_t bytes) noexcept;

/// Blocks of `bytes` bytes and more are the C library's from now on.
void limit_blocks(std::size_t bytes) noexcept;

/// Begins the process heap for librma, which is loaded now. Returns the reason why it does not begin, or
/// null.
[[nodiscard]] const char* begin_for_librma() noexcept;

}  // namespace librma::process_heap
