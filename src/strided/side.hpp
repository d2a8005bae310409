#pragma once

#include <cstdint>

namespace rma {

/// Says which addresses of a transfer belong to the other rank.
enum class Side : std::uint8_t { dst, src };

}  // namespace rma
