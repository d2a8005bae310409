#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/rma.h"
#include "util/status.hpp"

namespace librma {

/// Says which addresses of a transfer belong to the other rank: those that a put writes, or those that a get
/// reads.
enum class Side : std::uint8_t { dst, src };

/// The shape of a strided transfer in normal form: contiguous segments of one size, which are repeated along
/// dimensions. Each dimension has at least two repetitions, and none can be joined with another dimension or
/// with the segment. The first dimension has the smallest stride at the destination. A shape contains no
/// addresses, and holds its arrays inside itself.
///
/// The normal form moves the same bytes as the given form, in another order. If destinations overlap, they
/// end up with the data of one of the sources.
class StridedShape {
 public:
  /// Repeats the inner dimensions `count` (at least 2) times. The destination's stride is never negative: a
  /// dimension with a negative stride starts at its other end.
  struct Dimension {
    std::size_t count;
    std::ptrdiff_t dst_stride;
    std::ptrdiff_t src_stride;
  };
  /// The bytes [low, high) from a base address that contain all bytes of one side.
  struct Extent {
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = 0;
    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(high - low); }
  };

  /// Makes an empty shape. A defaulted constructor would fill the dimensions with zeros.
  StridedShape() {}  // NOLINT(modernize-use-equals-default)

  /// Makes a shape. The arguments are those of rma_put_strided; pointers that the levels and counts need are
  /// not null. If any count is 0, the shape is empty. RMA_ERR_SIZE if an extent or the total overflows.
  [[nodiscard]] static Result<StridedShape> make(const std::size_t* counts, const std::ptrdiff_t* dst_strides,
                                                 const std::ptrdiff_t* src_strides, int levels);

  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  /// Returns the size of one segment of the normal form.
  [[nodiscard]] std::size_t segment_bytes() const { return segment_bytes_; }
  [[nodiscard]] std::size_t segments() const { return empty() ? 0 : bytes_ / segment_bytes_; }
  /// Returns the size of all segments.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Returns counts[0] as it was given.
  [[nodiscard]] std::size_t given_bytes() const { return given_bytes_; }
  [[nodiscard]] std::span<const Dimension> dimensions() const { return {dimensions_.data(), levels_}; }
  [[nodiscard]] const Extent& dst_extent() const { return dst_extent_; }
  [[nodiscard]] const Extent& src_extent() const { return src_extent_; }
  /// These return the offset of the normal form's first segment from the base address.
  [[nodiscard]] std::ptrdiff_t dst_start() const { return dst_start_; }
  [[nodiscard]] std::ptrdiff_t src_start() const { return src_start_; }

  /// Calls visit(dst offset, src offset) for every segment, with offsets from the base addresses, until it
  /// returns false. Returns false if it did.
  template <typename Visit>
  bool for_each_segment(Visit&& visit) const {
    if (empty()) return true;
    return walk(0, dst_start_, src_start_, visit);
  }

  /// Does the same, but repeats only the dimensions from number `from` on. If `from` is past the last, there
  /// is one visit.
  template <typename Visit>
  bool for_each_outer(std::size_t from, Visit&& visit) const {
    if (empty()) return true;
    return walk(from, dst_start_, src_start_, visit);
  }

 private:
  /// Does make() for this shape. Returns false if an extent or the total overflows.
  [[nodiscard]] bool assign(const std::size_t* counts, const std::ptrdiff_t* dst_strides,
                            const std::ptrdiff_t* src_strides, int levels);
  [[nodiscard]] bool measure();
  void walk_upwards();
  [[nodiscard]] bool fold_one();
  void erase(std::size_t dimension);

  /// Visits the repetitions of the dimensions from `inner` on, as an odometer counts.
  template <typename Visit>
  bool walk(std::size_t inner, std::ptrdiff_t dst, std::ptrdiff_t src, Visit& visit) const {
    std::array<std::size_t, RMA_MAX_LEVELS> done;
    std::fill(done.begin(), done.begin() + levels_, std::size_t{0});
    while (true) {
      if (!visit(dst, src)) return false;
      std::size_t i = inner;
      for (; i < levels_; ++i) {
        const Dimension& dimension = dimensions_[i];
        if (++done[i] < dimension.count) {
          dst += dimension.dst_stride;
          src += dimension.src_stride;
          break;
        }
        done[i] = 0;
        const auto back = static_cast<std::ptrdiff_t>(dimension.count - 1);
        dst -= back * dimension.dst_stride;
        src -= back * dimension.src_stride;
      }
      if (i >= levels_) return true;
    }
  }

  std::size_t segment_bytes_ = 0;
  std::size_t bytes_ = 0;
  std::size_t given_bytes_ = 0;
  std::size_t levels_ = 0;  ///< dimensions in use
  Extent dst_extent_;
  Extent src_extent_;
  std::ptrdiff_t dst_start_ = 0;
  std::ptrdiff_t src_start_ = 0;
  std::array<Dimension, RMA_MAX_LEVELS> dimensions_;
};

}  // namespace librma
