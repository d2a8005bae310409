#pragma once

#include <cstddef>
#include <span>

#include "util/status.hpp"

// Memory that the members of a team allocate together.

namespace librma {

class Job;
class Team;

/// Allocates `bytes` bytes of each member's own heap, and tells each member the others' addresses. `bytes`
/// may differ; 0 gives null. Collective over `team`.
/// @param alignment  a power of two, or 0 for 64.
/// @param addresses  out: by team rank, each the member's own address; empty if only `mine` is wanted.
/// @param mine       out: this member's address; may be null.
/// @return if a member has no memory, nothing stays allocated, and all members fail: those without memory
///            with their own reason, the others with RMA_ERR_NO_MEMORY and a text that names the last of
///            those.
[[nodiscard]] Status allocate(Job& job, Team& team, std::size_t bytes, std::size_t alignment,
                              std::span<void*> addresses, void** mine);

/// Does the same for addresses without memory (Allocator::reserve).
[[nodiscard]] Status reserve(Job& job, Team& team, std::size_t bytes, std::size_t alignment,
                             std::span<void*> addresses, void** mine);

/// Frees what allocate() or reserve() gave this member (null for 0 bytes), after all members have called.
/// Collective over `team`. RMA_ERR_ADDRESS if `mine` is not such an address; the other members still free
/// theirs.
[[nodiscard]] Status release(Job& job, Team& team, void* mine);

}  // namespace librma
