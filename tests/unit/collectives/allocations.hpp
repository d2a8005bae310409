#pragma once

#include <cstddef>

namespace librma::testing_threads {

/// How often this thread has taken memory by operator new.
extern thread_local std::size_t allocations;

}  // namespace librma::testing_threads
