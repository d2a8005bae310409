#include "fortran/correspondence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fortran/numbers.hpp"
#include "util/try.hpp"

namespace librma::fortran {
namespace {

/// Walks over a side's dimensions, from the innermost to the outermost, in steps that the caller chooses.
class Walk {
 public:
  explicit Walk(const Side& side) : side_(side) { next(); }

  /// Returns the number of elements that are left of the present dimension, or 1 after the last dimension.
  [[nodiscard]] std::int64_t left() const { return left_; }
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  /// Takes `count` elements, innermost first, from the present dimension. `count` divides left().
  void take(std::int64_t count) {
    left_ /= count;
    if (left_ == 1) {
      next();
    } else {
      stride_ *= count;
    }
  }

 private:
  /// Goes to the next dimension that has more than one element.
  void next() {
    left_ = 1;
    while (dimension_ < static_cast<std::size_t>(side_.dimensions) && left_ == 1) {
      left_ = side_.extent[dimension_];
      stride_ = side_.stride[dimension_];
      ++dimension_;
    }
  }

  const Side& side_;
  std::size_t dimension_ = 0;
  std::int64_t left_ = 1;
  std::int64_t stride_ = 0;
};

/// Adds an outermost level, or extends the outermost level if that means the same. Returns false if there is
/// no room for another level.
bool append(Levels& to, std::int64_t count, std::int64_t dst_stride, std::int64_t src_stride) {
  const auto last = static_cast<std::size_t>(to.levels);
  const std::size_t inside = to.counts[last];
  const auto bytes = [&](std::int64_t stride) {
    return last == 0 ? static_cast<std::ptrdiff_t>(inside) : stride * static_cast<std::ptrdiff_t>(inside);
  };
  if (dst_stride == bytes(last == 0 ? 0 : to.dst_strides[last - 1]) &&
      src_stride == bytes(last == 0 ? 0 : to.src_strides[last - 1])) {
    to.counts[last] = inside * static_cast<std::size_t>(count);
    return true;
  }
  if (last == RMA_MAX_LEVELS) return false;
  to.dst_strides[last] = dst_stride;
  to.src_strides[last] = src_stride;
  to.counts[last + 1] = static_cast<std::size_t>(count);
  ++to.levels;
  return true;
}

}  // namespace

std::string Side::shape() const {
  if (dimensions == 0) return "one element";
  std::string text;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    text += fmt::format("{}{}", d == 0 ? "" : " x ", extent[d]);
  }
  return text + " elements";
}

std::optional<std::int64_t> Side::elements() const {
  std::int64_t total = 1;
  bool fits = true;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    if (extent[d] == 0) return 0;
    fits = !__builtin_mul_overflow(total, extent[d], &total) && fits;
  }
  return fits ? std::optional(total) : std::nullopt;
}

Result<Side> local_side(const CFI_cdesc_t& array, const char* name) {
  Side side = {.name = name,
               .base = static_cast<std::byte*>(array.base_addr),
               .element_bytes = array.elem_len,
               .type = array.type,
               .dimensions = array.rank,
               .extent = {},
               .stride = {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.rank); ++d) {
    side.extent[d] = array.dim[d].extent;
    side.stride[d] = array.dim[d].sm;
    if (side.extent[d] < 0) {
      return Status(RMA_ERR_ARGUMENT,
                    fmt::format("{} has an assumed size: pass a section that says where it ends", name));
    }
  }
  if (array.base_addr == nullptr && side.elements() != 0) {
    return Status(RMA_ERR_ARGUMENT, fmt::format("{} is not allocated or associated", name));
  }
  return side;
}

Result<Side> remote_side(const RemoteArray& array, const char* name) {
  RMA_TRY(array.check(name));
  return Side{.name = name,
              .base = reinterpret_cast<std::byte*>(array.address),
              .element_bytes = static_cast<std::size_t>(array.element_bytes),
              .type = static_cast<CFI_type_t>(array.type),
              .dimensions = array.dimensions,
              .extent = array.extent,
              .stride = array.stride};
}

Result<Levels> correspond(const Side& dst, const Side& src) {
  RMA_TRY(check_same_type(dst.type, dst.element_bytes, dst.name, src.type, src.element_bytes, src.name));
  const auto total = dst.elements();
  if (!total || total != src.elements()) {
    return Status(RMA_ERR_SIZE, fmt::format("{} has {}, {} has {}: expected as many", dst.name, dst.shape(),
                                            src.name, src.shape()));
  }
  Levels levels;
  if (*total == 0) return levels;
  levels.counts[0] = dst.element_bytes;
  Walk to(dst);
  Walk from(src);
  while (to.left() > 1 || from.left() > 1) {
    const std::int64_t count = std::min(to.left(), from.left());
    const std::int64_t longer = std::max(to.left(), from.left());
    if (longer % count != 0 || !append(levels, count, to.stride(), from.stride())) {
      return Status(RMA_ERR_UNSUPPORTED,
                    fmt::format("{} has {}, {} has {}: there is no strided transfer between the two shapes",
                                dst.name, dst.shape(), src.name, src.shape()));
    }
    to.take(count);
    from.take(count);
  }
  return levels;
}

}  // namespace librma::fortran
