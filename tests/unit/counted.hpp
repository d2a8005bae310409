#pragma once

#include <cstddef>
#include <cstdint>

#include "util/statistics.hpp"

namespace librma {

/// Returns what a counter of this process says.
inline std::uint64_t counted(Counter counter) { return total_counts()[static_cast<std::size_t>(counter)]; }

}  // namespace librma
