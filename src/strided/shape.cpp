#include "strided/shape.hpp"
#include "util/text.hpp"

#include <tuple>

namespace librma {
namespace {

/// Widens `extent` by `count` - 1 steps of `stride`. Returns false if it overflows.
bool widen(StridedShape::Extent& extent, std::size_t count, std::ptrdiff_t stride) {
  std::ptrdiff_t reach = 0;
  if (__builtin_mul_overflow(count - 1, stride, &reach)) return false;
  std::ptrdiff_t& side = reach < 0 ? extent.low : extent.high;
  return !__builtin_add_overflow(side, reach, &side);
}

std::size_t magnitude(std::ptrdiff_t stride) {
  const auto bits = static_cast<std::size_t>(stride);
  return stride < 0 ? std::size_t{0} - bits : bits;
}

Status too_large(const std::size_t* counts, int levels) {
  return {RMA_ERR_SIZE, text("a strided transfer of {} levels with counts[0] {} reaches further than any "
                             "memory: check its counts and strides",
                             levels, counts[0])};
}

}  // namespace

Result<StridedShape> StridedShape::make(const std::size_t* counts, const std::ptrdiff_t* dst_strides,
                                        const std::ptrdiff_t* src_strides, int levels) {
  // The shape is made in place, because moving a shape costs more than a small transfer.
  Result<StridedShape> made(std::in_place);
  if (!made.value().assign(counts, dst_strides, src_strides, levels)) made = too_large(counts, levels);
  return made;
}

bool StridedShape::assign(const std::size_t* counts, const std::ptrdiff_t* dst_strides,
                          const std::ptrdiff_t* src_strides, int levels) {
  for (int i = 0; i <= levels; ++i) {
    if (counts[i] == 0) return true;
  }
  given_bytes_ = counts[0];
  segment_bytes_ = counts[0];
  for (int i = 0; i < levels; ++i) {
    if (counts[i + 1] == 1) continue;
    dimensions_[levels_++] = {
        .count = counts[i + 1], .dst_stride = dst_strides[i], .src_stride = src_strides[i]};
  }
  if (!measure()) return false;
  walk_upwards();
  if (levels_ > 1) {
    std::sort(dimensions_.begin(), dimensions_.begin() + levels_, [](const Dimension& a, const Dimension& b) {
      return std::tuple(a.dst_stride, magnitude(a.src_stride)) <
             std::tuple(b.dst_stride, magnitude(b.src_stride));
    });
  }
  while (fold_one()) {
  }
  return true;
}

/// Computes the total and both extents. Returns false if one overflows. If none does, no
/// later step overflows.
bool StridedShape::measure() {
  std::size_t total = segment_bytes_;
  if (__builtin_add_overflow(segment_bytes_, std::size_t{0}, &dst_extent_.high)) return false;
  src_extent_.high = dst_extent_.high;
  for (const Dimension& dimension : dimensions()) {
    if (__builtin_mul_overflow(total, dimension.count, &total) ||
        !widen(dst_extent_, dimension.count, dimension.dst_stride) ||
        !widen(src_extent_, dimension.count, dimension.src_stride)) {
      return false;
    }
  }
  std::ptrdiff_t reach = 0;
  if (__builtin_sub_overflow(dst_extent_.high, dst_extent_.low, &reach) ||
      __builtin_sub_overflow(src_extent_.high, src_extent_.low, &reach)) {
    return false;
  }
  bytes_ = total;
  return true;
}

/// Reverses dimensions so that no destination stride is negative. No negation overflows, because the
/// extents did not.
void StridedShape::walk_upwards() {
  for (Dimension& dimension : std::span(dimensions_.data(), levels_)) {
    if (dimension.dst_stride > 0 || (dimension.dst_stride == 0 && dimension.src_stride >= 0)) continue;
    const auto steps = static_cast<std::ptrdiff_t>(dimension.count - 1);
    dst_start_ += steps * dimension.dst_stride;
    src_start_ += steps * dimension.src_stride;
    dimension.dst_stride = -dimension.dst_stride;
    dimension.src_stride = -dimension.src_stride;
  }
}

/// Joins two things that are contiguous on both sides: a dimension with the segment, or a dimension with
/// another one that continues it. Returns false if there are none.
bool StridedShape::fold_one() {
  const auto continues = [](std::ptrdiff_t inner, std::size_t count, std::ptrdiff_t outer) {
    std::ptrdiff_t end = 0;
    return !__builtin_mul_overflow(inner, count, &end) && end == outer;
  };
  const auto segment = static_cast<std::ptrdiff_t>(segment_bytes_);
  for (std::size_t i = 0; i < levels_; ++i) {
    if (dimensions_[i].dst_stride != segment || dimensions_[i].src_stride != segment) continue;
    segment_bytes_ *= dimensions_[i].count;
    erase(i);
    return true;
  }
  for (std::size_t i = 0; i < levels_; ++i) {
    for (std::size_t j = 0; j < levels_; ++j) {
      Dimension& inner = dimensions_[i];
      const Dimension& outer = dimensions_[j];
      if (j == i || !continues(inner.dst_stride, inner.count, outer.dst_stride) ||
          !continues(inner.src_stride, inner.count, outer.src_stride)) {
        continue;
      }
      inner.count *= outer.count;
      erase(j);
      return true;
    }
  }
  return false;
}

void StridedShape::erase(std::size_t dimension) {
  std::copy(dimensions_.begin() + dimension + 1, dimensions_.begin() + levels_,
            dimensions_.begin() + dimension);
  --levels_;
}

}  // namespace librma
