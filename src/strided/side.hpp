#pragma once

#include <cstdint>

namespace rma {

/// Which of the addresses of a transfer are the other rank's.
enum class Side : std::uint8_t { dst, src };

}  // namespace rma
