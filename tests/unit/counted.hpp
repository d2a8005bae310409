#pragma once

#include <cstddef>
#include <cstdint>

#include "util/statistics.hpp"

namespace librma {

/// Returns the value of a counter, summed over the threads of this process.
inline std::uint64_t counted(Counter counter) { return total_counts()[static_cast<std::size_t>(counter)]; }

}  // namespace librma
