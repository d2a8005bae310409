#pragma once

namespace librma::process_heap {

/// Makes jemalloc take the memory for blocks from `range`. It has given out none before. Its own records lie
/// in ordinary memory. It has no memory for blocks once the range is full, but may give out a block of
/// ordinary memory where it has some left. Returns whether jemalloc is ready.
[[nodiscard]] bool take_from_range() noexcept;

/// Gives the pages that jemalloc keeps for later blocks to the system. Not to be called by a hook of
/// jemalloc.
void give_back_freed_pages() noexcept;

}  // namespace librma::process_heap
