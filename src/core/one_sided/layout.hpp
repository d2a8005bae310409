#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rma/rma.h"

namespace librma {

/// The bytes of one process's memory that a noncontiguous transfer touches, in order. A layout is either
/// segments of one size along dimensions, or a list of segments. It is made from the caller's arguments,
/// which are checked, or decoded from a message, which is not trusted.
class Layout {
 public:
  struct Dimension {
    std::uint64_t count = 0;
    std::int64_t stride = 0;  ///< bytes
  };
  struct Segment {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };

  /// Makes a layout of `bytes` bytes in one segment.
  static Layout contiguous(std::uintptr_t address, std::size_t bytes);
  /// Makes a strided layout. The first dimension is the innermost. There are at most RMA_MAX_LEVELS.
  static Layout strided(std::uintptr_t start, std::size_t segment_bytes,
                        std::span<const Dimension> dimensions);
  static Layout list(std::vector<Segment> segments);

  /// Returns whether the numbers overflow. Then the layout must not be used.
  [[nodiscard]] bool overflows() const { return overflows_; }
  /// Returns the bytes of all segments together.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t segments() const { return segments_; }

  /// The smallest address range that contains all segments.
  struct Extent {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
    [[nodiscard]] std::size_t bytes() const { return high - low; }
  };
  [[nodiscard]] const Extent& extent() const { return extent_; }
  /// Returns bytes [from, from + count) as a list of segments, or an unchanged copy if this is the whole
  /// layout.
  [[nodiscard]] Layout part(std::size_t from, std::size_t count) const;

  /// Calls visit(address, bytes) for the parts of the segments that lie in bytes [from, from + count) of the
  /// layout, in order, until it returns false. Returns false if `visit` did.
  template <typename Visit>
  bool visit(std::size_t from, std::size_t count, const Visit& visit) const;
  /// Calls visit(address, bytes, stride, times) for the same parts, those of one size with equal distances
  /// together: `times` parts of `bytes` bytes, of which the first begins at `address` and each other `stride`
  /// behind the one before it.
  template <typename Visit>
  bool visit_runs(std::size_t from, std::size_t count, const Visit& visit) const;

  /// Returns the number of bytes that encode() needs for this part.
  [[nodiscard]] std::size_t encoded_bytes(std::size_t from, std::size_t count) const;
  /// Encodes bytes [from, from + count) of the layout into the front of `to`, which has room. Returns the
  /// number of bytes that it wrote. decode() reads them back.
  std::size_t encode(std::size_t from, std::size_t count, std::span<std::byte> to) const;

  /// A part of a layout, as encode() wrote it.
  struct Part;
  /// Decodes a part from the front of `from` and removes it there. Returns no value if the part is malformed:
  /// its numbers overflow, or it exceeds its layout. The caller checks the addresses.
  [[nodiscard]] static std::optional<Part> decode(std::span<const std::byte>& from);

 private:
  /// Computes the members below the list. Returns false if the numbers overflow.
  bool measure();
  [[nodiscard]] bool add_up();

  std::uintptr_t start_ = 0;
  std::size_t segment_bytes_ = 0;
  std::size_t levels_ = 0;
  std::array<Dimension, RMA_MAX_LEVELS> dimensions_ = {};
  std::vector<Segment> list_;        ///< replaces all members above, if it is not empty
  std::vector<std::uint64_t> ends_;  ///< of the list's segments: the bytes up to each one's end
  std::size_t bytes_ = 0;
  std::size_t segments_ = 0;
  Extent extent_;
  bool overflows_ = false;
};

struct Layout::Part {
  Layout layout;
  std::size_t from = 0;
  std::size_t bytes = 0;

  template <typename Visit>
  bool visit(const Visit& visit) const {
    return layout.visit(from, bytes, visit);
  }
};

template <typename Visit>
bool Layout::visit(std::size_t from, std::size_t count, const Visit& visit) const {
  return visit_runs(from, count,
                    [&](std::uintptr_t address, std::size_t bytes, std::uintptr_t stride, std::size_t times) {
                      for (; times > 0; --times, address += stride) {
                        if (!visit(address, bytes)) return false;
                      }
                      return true;
                    });
}

template <typename Visit>
bool Layout::visit_runs(std::size_t from, std::size_t count, const Visit& visit) const {
  if (!list_.empty()) {
    auto i = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), from) - ends_.begin());
    for (; i < list_.size() && count != 0; ++i) {
      const std::uint64_t left = ends_[i] - from;
      const std::size_t bytes = std::min<std::size_t>(left, count);
      const auto address = static_cast<std::uintptr_t>(list_[i].address + (list_[i].bytes - left));
      if (bytes != 0 && !visit(address, bytes, std::uintptr_t{0}, std::size_t{1})) return false;
      count -= bytes;
      from += bytes;
    }
    return true;
  }
  if (count == 0) return true;
  // Finds the segment that contains byte `from`: `at` is its number in the mixed radix of the dimensions.
  std::array<std::uint64_t, RMA_MAX_LEVELS> at = {};
  std::uint64_t number = from / segment_bytes_;
  from %= segment_bytes_;
  std::uintptr_t address = start_;
  for (std::size_t i = 0; i < levels_; ++i) {
    at[i] = number % dimensions_[i].count;
    number /= dimensions_[i].count;
    address += static_cast<std::uintptr_t>(at[i]) * static_cast<std::uintptr_t>(dimensions_[i].stride);
  }
  while (true) {
    const auto stride = static_cast<std::uintptr_t>(dimensions_[0].stride);
    const std::size_t bytes = std::min(segment_bytes_ - from, count);
    std::size_t times = 1;
    if (levels_ != 0 && bytes == segment_bytes_) {
      times = std::min<std::size_t>(dimensions_[0].count - at[0], count / bytes);
    }
    if (!visit(address + from, bytes, stride, times)) return false;
    count -= times * bytes;
    if (count == 0) return true;
    from = 0;
    address += times * stride;
    at[0] += times;
    for (std::size_t i = 0; i < levels_ && at[i] == dimensions_[i].count; ++i) {
      address -= static_cast<std::uintptr_t>(dimensions_[i].count) *
                 static_cast<std::uintptr_t>(dimensions_[i].stride);
      at[i] = 0;
      if (i + 1 == levels_) break;
      address += static_cast<std::uintptr_t>(dimensions_[i + 1].stride);
      ++at[i + 1];
    }
  }
}

}  // namespace librma
