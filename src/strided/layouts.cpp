#include "strided/layouts.hpp"

#include <array>
#include <vector>

namespace rma {

std::shared_ptr<const Layout> layout_of(const void* base, Side side, const StridedShape& shape) {
  std::array<Layout::Dimension, RMA_MAX_LEVELS> dimensions;
  const auto given = shape.dimensions();
  for (std::size_t i = 0; i < given.size(); ++i) {
    dimensions[i] = {.count = given[i].count,
                     .stride = side == Side::dst ? given[i].dst_stride : given[i].src_stride};
  }
  const std::ptrdiff_t start = side == Side::dst ? shape.dst_start() : shape.src_start();
  return std::make_shared<Layout>(
      Layout::strided(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(start),
                      shape.segment_bytes(), {dimensions.data(), given.size()}));
}

std::shared_ptr<const Layout> layout_of(std::span<const rma_iov_t> iov, Side side) {
  std::vector<Layout::Segment> segments;
  std::uintptr_t dst_end = 0;
  std::uintptr_t src_end = 0;
  for (const rma_iov_t& list : iov) {
    if (list.bytes == 0) continue;
    for (std::size_t i = 0; i < list.segments; ++i) {
      const auto dst = reinterpret_cast<std::uintptr_t>(list.dst[i]);
      const auto src = reinterpret_cast<std::uintptr_t>(list.src[i]);
      if (!segments.empty() && dst == dst_end && src == src_end) {
        segments.back().bytes += list.bytes;
      } else {
        segments.push_back({.address = side == Side::dst ? dst : src, .bytes = list.bytes});
      }
      dst_end = dst + list.bytes;
      src_end = src + list.bytes;
    }
  }
  return std::make_shared<Layout>(Layout::list(std::move(segments)));
}

}  // namespace rma
