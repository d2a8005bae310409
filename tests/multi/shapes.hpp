#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "harness.hpp"

// Random layouts of noncontiguous transfers from a seed, and models that move them segment by segment.

namespace multi {

/// One side of a strided transfer: the offset of its base in a buffer, and its strides.
struct Side {
  std::size_t base = 0;  ///< offset of the base address from the buffer's start
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> strides = {};
};

struct Strided {
  std::array<std::size_t, RMA_MAX_LEVELS + 1> counts = {};
  int levels = 0;
  Side dst;
  Side src;

  /// Calls visit(dst offset, src offset) for every segment, in the order of the definition.
  template <typename Visit>
  void each(const Visit& visit) const {
    const auto used = static_cast<std::size_t>(levels);
    for (std::size_t i = 0; i <= used; ++i) {
      if (counts[i] == 0) return;
    }
    std::array<std::size_t, RMA_MAX_LEVELS> index = {};
    while (true) {
      auto to = static_cast<std::ptrdiff_t>(dst.base);
      auto from = static_cast<std::ptrdiff_t>(src.base);
      for (std::size_t i = 0; i < used; ++i) {
        to += static_cast<std::ptrdiff_t>(index[i]) * dst.strides[i];
        from += static_cast<std::ptrdiff_t>(index[i]) * src.strides[i];
      }
      visit(static_cast<std::size_t>(to), static_cast<std::size_t>(from));
      std::size_t level = 0;
      while (level < used && ++index[level] == counts[level + 1]) index[level++] = 0;
      if (level == used) return;
    }
  }
};

/// The limits of a drawn layout. `unit` divides all sizes and distances.
struct LayoutLimits {
  std::size_t room;  ///< of each buffer
  std::size_t unit = 1;
  int most_levels = 10;
};

/// Draws a side whose segments do not overlap: dimensions in any order, with gaps, upwards or downwards. With
/// `may_repeat`, some dimensions may have stride 0. Returns false if it does not fit.
inline bool draw_side(Random& random, const Strided& shape, const LayoutLimits& limits, bool may_repeat,
                      Side& side) {
  const auto levels = static_cast<std::size_t>(shape.levels);
  std::array<std::size_t, RMA_MAX_LEVELS> order = {};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.begin() + shape.levels, random.engine());
  std::size_t extent = std::max(shape.counts[0], limits.unit);
  if (extent > limits.room) return false;
  std::size_t before = 0;  // bytes in front of the base
  for (std::size_t i = 0; i < levels; ++i) {
    const std::size_t count = std::max<std::size_t>(shape.counts[order[i] + 1], 1);
    if (may_repeat && random.chance(5)) {
      side.strides[order[i]] = 0;
      continue;
    }
    const std::size_t stride = extent + (random.chance(50) ? 0 : random.below(9) * limits.unit);
    const std::size_t span = stride * (count - 1);
    const bool down = random.chance(30);
    side.strides[order[i]] =
        down ? -static_cast<std::ptrdiff_t>(stride) : static_cast<std::ptrdiff_t>(stride);
    if (down) before += span;
    extent += span;
    if (extent > limits.room) return false;
  }
  side.base = before + random.below((limits.room - extent) / limits.unit + 1) * limits.unit;
  return true;
}

inline Strided draw_strided(Random& random, const LayoutLimits& limits) {
  constexpr std::array<std::size_t, 12> kSegments = {1, 2, 3, 4, 7, 8, 12, 16, 32, 33, 64, 200};
  while (true) {
    Strided shape;
    shape.levels =
        static_cast<int>(random.between(0, random.chance(5) ? RMA_MAX_LEVELS : limits.most_levels));
    shape.counts[0] = random.pick(kSegments) * limits.unit;
    std::size_t segments = static_cast<std::size_t>(random.between(1, 300));
    for (std::size_t i = 1; i <= static_cast<std::size_t>(shape.levels); ++i) {
      const std::size_t count = random.chance(20) ? 1 : 1 + random.below(shape.levels > 3 ? 4U : 40U);
      shape.counts[i] = count <= segments ? count : 1;
      segments /= shape.counts[i];
    }
    if (random.chance(2)) shape.counts[random.below(static_cast<std::size_t>(shape.levels) + 1)] = 0;
    if (draw_side(random, shape, limits, false, shape.dst) &&
        draw_side(random, shape, limits, true, shape.src)) {
      return shape;
    }
  }
}

/// A vector transfer with offsets in place of addresses. All pieces of a descriptor have one size.
struct Vector {
  struct Piece {
    std::size_t dst;
    std::size_t src;
  };
  struct Descriptor {
    std::size_t bytes;
    std::vector<Piece> pieces;
  };
  std::vector<Descriptor> descriptors;
};

/// Draws pieces in any order. They do not overlap at the destination, and lie anywhere at the source. Some
/// continue the one before them.
inline Vector draw_vector(Random& random, const LayoutLimits& limits) {
  Vector vector;
  std::size_t at = 0;
  for (std::size_t n = random.below(5); n > 0; --n) {
    Vector::Descriptor descriptor{.bytes = random.below(random.chance(20) ? 100U : 20U) * limits.unit,
                                  .pieces = {}};
    const bool contiguous = random.chance(20);
    std::size_t from = 0;
    for (std::size_t pieces = random.below(60); pieces > 0; --pieces) {
      if (!contiguous) at += random.below(4) * limits.unit;
      if (at + descriptor.bytes > limits.room) break;
      if (!contiguous || from + descriptor.bytes > limits.room) {
        from = random.below((limits.room - descriptor.bytes) / limits.unit + 1) * limits.unit;
      }
      descriptor.pieces.push_back({.dst = at, .src = from});
      at += descriptor.bytes;
      from += descriptor.bytes;
    }
    if (!contiguous) std::shuffle(descriptor.pieces.begin(), descriptor.pieces.end(), random.engine());
    vector.descriptors.push_back(std::move(descriptor));
  }
  return vector;
}

/// The descriptors of the C interface for a Vector between two buffers.
class IoVector {
 public:
  IoVector(const Vector& vector, std::byte* dst, const std::byte* src) {
    lists_.resize(vector.descriptors.size());
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      const Vector::Descriptor& descriptor = vector.descriptors[i];
      for (const Vector::Piece& piece : descriptor.pieces) {
        lists_[i].dst.push_back(dst + piece.dst);
        lists_[i].src.push_back(src + piece.src);
      }
      iov_.push_back({.dst = lists_[i].dst.data(),
                      .src = lists_[i].src.data(),
                      .segments = descriptor.pieces.size(),
                      .bytes = descriptor.bytes});
    }
  }
  [[nodiscard]] const rma_iov_t* data() const { return iov_.data(); }
  [[nodiscard]] std::size_t size() const { return iov_.size(); }

 private:
  struct Lists {
    std::vector<void*> dst;
    std::vector<const void*> src;
  };
  std::vector<Lists> lists_;
  std::vector<rma_iov_t> iov_;
};

}  // namespace multi
