#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "core/one_sided/layout.hpp"

namespace librma {

/// A layout, and the addresses of all its bytes in order, which are computed in another way.
struct RandomLayout {
  Layout layout;
  std::vector<std::uintptr_t> addresses;
};

inline std::vector<std::uintptr_t> addresses_of(std::uintptr_t start, std::size_t segment,
                                                const std::vector<Layout::Dimension>& dimensions) {
  std::vector<std::uintptr_t> starts = {start};
  for (const Layout::Dimension& dimension : dimensions) {
    std::vector<std::uintptr_t> more;
    for (std::uint64_t i = 0; i < dimension.count; ++i) {
      for (const std::uintptr_t address : starts) {
        more.push_back(address + i * static_cast<std::uint64_t>(dimension.stride));
      }
    }
    starts = std::move(more);
  }
  std::vector<std::uintptr_t> addresses;
  for (const std::uintptr_t address : starts) {
    for (std::size_t i = 0; i < segment; ++i) addresses.push_back(address + i);
  }
  return addresses;
}

/// Draws a strided layout around `middle`. The size of each segment is a multiple of `unit`.
inline RandomLayout random_strided(std::mt19937_64& random, std::uintptr_t middle, std::size_t unit) {
  const std::size_t segment = unit * (random() % 9);
  std::vector<Layout::Dimension> dimensions(random() % 5);
  for (Layout::Dimension& dimension : dimensions) {
    dimension = {
        .count = random() % 6,
        .stride = static_cast<std::int64_t>(unit) * (static_cast<std::int64_t>(random() % 200) - 100)};
  }
  return {.layout = Layout::strided(middle, segment, dimensions),
          .addresses = addresses_of(middle, segment, dimensions)};
}

/// Draws a list of segments, some of them empty.
inline RandomLayout random_list(std::mt19937_64& random, std::uintptr_t middle, std::size_t unit) {
  std::vector<Layout::Segment> segments(1 + random() % 40);
  std::vector<std::uintptr_t> addresses;
  for (Layout::Segment& segment : segments) {
    segment = {.address = middle + unit * (random() % 400), .bytes = unit * (random() % 20)};
    for (std::size_t i = 0; i < segment.bytes; ++i) addresses.push_back(segment.address + i);
  }
  return {.layout = Layout::list(std::move(segments)), .addresses = std::move(addresses)};
}

inline RandomLayout random_layout(std::mt19937_64& random, std::uintptr_t middle, std::size_t unit) {
  return random() % 2 == 0 ? random_strided(random, middle, unit) : random_list(random, middle, unit);
}

}  // namespace librma
