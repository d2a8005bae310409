#pragma once

#include <cstdint>

/// Lets allocation number `n` from now (from 0) of this thread by operator new fail, and all that follow it
/// if `all_following`. The operator is this program's own, which the library uses too.
void let_fail(std::int64_t n, bool all_following);

/// Ends that. Returns whether an allocation of this thread has failed since let_fail().
bool end_failing();

/// Returns the number of allocations of all threads that were not freed.
std::int64_t live_allocations();
