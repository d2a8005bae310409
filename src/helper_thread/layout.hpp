#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rma/rma.h"

namespace rma {

/// Which bytes of one process's memory a noncontiguous transfer touches, in order: segments of one size along
/// dimensions, or a list of segments. Made from the caller's arguments, which are checked, or read from a
/// message, which is not believed.
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

  /// `bytes` in one segment.
  static Layout contiguous(std::uintptr_t address, std::size_t bytes);
  /// The first dimension is the innermost. At most RMA_MAX_LEVELS.
  static Layout strided(std::uintptr_t start, std::size_t segment_bytes,
                        std::span<const Dimension> dimensions);
  static Layout list(std::vector<Segment> segments);

  /// Of all segments.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t segments() const { return segments_; }

  /// The bytes that all segments lie in.
  struct Extent {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;
    [[nodiscard]] std::size_t bytes() const { return high - low; }
  };
  [[nodiscard]] const Extent& extent() const { return extent_; }
  /// Bytes [from, from + count), as a list; all of it as it is.
  [[nodiscard]] Layout part(std::size_t from, std::size_t count) const;

  /// Calls visit(address, bytes) for the parts of the segments that lie in bytes [from, from + count) of the
  /// layout, in order, until it returns false; returns false when it did.
  template <typename Visit>
  bool visit(std::size_t from, std::size_t count, const Visit& visit) const;

  /// Bytes that encode() needs for any part of `count` bytes.
  [[nodiscard]] std::size_t encoded_bytes(std::size_t from, std::size_t count) const;
  /// Writes what a process needs to know of bytes [from, from + count) to the front of `to`, which has room;
  /// returns how many bytes it took. The part is the first thing that decode() gives.
  std::size_t encode(std::size_t from, std::size_t count, std::span<std::byte> to) const;

  /// A part of a layout, as it was encoded.
  struct Part;
  /// Reads one from the front of `from`, and takes it off. None when it makes no sense: numbers that
  /// overflow, no such part. What the addresses stand for is not looked at.
  [[nodiscard]] static std::optional<Part> decode(std::span<const std::byte>& from);

 private:
  bool measure();

  std::uintptr_t start_ = 0;
  std::size_t segment_bytes_ = 0;
  std::size_t levels_ = 0;
  std::array<Dimension, RMA_MAX_LEVELS> dimensions_ = {};
  std::vector<Segment> list_;  ///< instead of all above, if not empty
  std::size_t bytes_ = 0;
  std::size_t segments_ = 0;
  Extent extent_;
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
  if (!list_.empty()) {
    for (const Segment& segment : list_) {
      if (count == 0) return true;
      if (from >= segment.bytes) {
        from -= segment.bytes;
        continue;
      }
      const std::size_t bytes = std::min<std::size_t>(segment.bytes - from, count);
      if (!visit(static_cast<std::uintptr_t>(segment.address + from), bytes)) return false;
      count -= bytes;
      from = 0;
    }
    return true;
  }
  if (count == 0) return true;
  // Where the first part's segment stands: its number, in the mixed radix of the dimensions.
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
    const std::size_t bytes = std::min(segment_bytes_ - from, count);
    if (!visit(address + from, bytes)) return false;
    count -= bytes;
    if (count == 0) return true;
    from = 0;
    for (std::size_t i = 0; i < levels_; ++i) {
      const auto stride = static_cast<std::uintptr_t>(dimensions_[i].stride);
      address += stride;
      if (++at[i] < dimensions_[i].count) break;
      address -= static_cast<std::uintptr_t>(dimensions_[i].count) * stride;
      at[i] = 0;
    }
  }
}

}  // namespace rma
