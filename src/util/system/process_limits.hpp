#pragma once

#include <cstdint>

namespace librma {

/// Returns how many bytes of addresses this process may still take (ulimit -v); UINT64_MAX without a limit.
[[nodiscard]] std::uint64_t free_addresses();

/// Returns how large a file of this process may be (ulimit -f); UINT64_MAX without a limit. To write beyond
/// the limit would raise SIGXFSZ.
[[nodiscard]] std::uint64_t largest_file();

}  // namespace librma
