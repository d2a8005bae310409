#pragma once

#include <cstddef>

namespace librma {

/// Returns the largest multiple of `unit` that is not above `value`.
constexpr std::size_t round_down(std::size_t value, std::size_t unit) { return value / unit * unit; }
/// Returns the smallest multiple of `unit` that is not below `value`.
constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return round_down(value + unit - 1, unit);
}

}  // namespace librma
