#pragma once

namespace rma::process_heap {

/// Makes jemalloc take the memory for the program's blocks from `range` from now on. Blocks that it has given
/// out before stay ordinary memory, and so does all once the range is full. Its own records always lie in
/// ordinary memory.
void take_from_range() noexcept;

}  // namespace rma::process_heap
