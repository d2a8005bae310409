#pragma once

#include <cstddef>

#include "util/status.hpp"

namespace librma::transport {

/// Returns whether this process may read and write all of [address, address + bytes). Devices find that out
/// when they pin the memory, but a provider that works with the processor registers anything, and ends the
/// process at the first transfer. RMA_ERR_ADDRESS says that it may not. If the system has no /proc, the check
/// covers only whether something is mapped.
[[nodiscard]] Status check_mapped(const std::byte* address, std::size_t bytes);

}  // namespace librma::transport
