#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "coarrays/abi.hpp"

namespace librma::coarrays {

/// Elements of an array in some image's memory, in array element order.
class Section {
 public:
  /// Begins with the one element at `first`, of `element_bytes` bytes.
  Section(std::byte* first, std::size_t element_bytes) : first_(first), element_bytes_(element_bytes) {}

  /// The elements of a descriptor, from `first` on instead of the descriptor's own data.
  Section(const Descriptor& array, std::byte* first);
  explicit Section(const Descriptor& array) : Section(array, array.data) {}
  /// The same with another distance than the descriptor's `span`.
  Section(const Descriptor& array, std::byte* first, std::ptrdiff_t span);
  /// Elements that `subscripts`, one for each dimension, select of an array whose data lie at `first`.
  Section(const Descriptor& array, std::byte* first, const Subscripts* subscripts);
  /// The shape of `like`, without gaps, in memory at `first`.
  Section(const Section& like, std::byte* first, std::size_t element_bytes);

  /// Adds a dimension of `count` elements, `stride` bytes apart. The dimensions before it vary faster.
  void add(std::size_t count, std::ptrdiff_t stride);
  /// Adds a dimension whose elements lie at the given distances in bytes from its origin.
  void add(std::vector<std::ptrdiff_t> distances);
  /// Moves the first element.
  void shift(std::ptrdiff_t bytes) { first_ += bytes; }
  /// The section of elements that begin with the component at `offset`.
  void select(std::ptrdiff_t offset, std::size_t element_bytes) {
    first_ += offset;
    element_bytes_ = element_bytes;
  }

  [[nodiscard]] std::byte* first() const { return first_; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  void set_element_bytes(std::size_t bytes) { element_bytes_ = bytes; }
  [[nodiscard]] std::size_t count() const;
  /// Returns whether strides describe it: no dimension has a vector of distances.
  [[nodiscard]] bool strided() const { return lists_.empty(); }
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  [[nodiscard]] std::size_t extent(std::size_t dimension) const { return axes_[dimension].count; }
  [[nodiscard]] std::ptrdiff_t stride(std::size_t dimension) const { return axes_[dimension].stride; }
  /// Returns the addresses of all elements.
  [[nodiscard]] std::vector<std::byte*> elements() const;

 private:
  struct Axis {
    std::size_t count;
    std::ptrdiff_t stride;
    std::size_t list;  ///< in lists_, counted from 1; 0: the stride counts
  };
  std::byte* first_;
  std::size_t element_bytes_;
  std::size_t dimensions_ = 0;
  std::array<Axis, kMaxDimensions> axes_;  // the first dimensions_ are set
  std::vector<std::vector<std::ptrdiff_t>> lists_;
};

/// Returns the number of values of first : last : step.
std::size_t extent_of(const Triplet& triplet);
/// Returns how many elements a dimension has.
inline std::size_t extent_of(const Dimension& dimension) {
  return dimension.upper < dimension.lower ? 0
                                           : static_cast<std::size_t>(dimension.upper - dimension.lower + 1);
}
/// Returns the distance of two elements of which a descriptor's strides count.
inline std::ptrdiff_t span_of(const Descriptor& array) {
  return array.span != 0 ? array.span : static_cast<std::ptrdiff_t>(array.element_bytes);
}
/// Returns `scale` * (value - lower) for each value of a vector subscript.
std::vector<std::ptrdiff_t> distances(const void* values, std::size_t count, int kind, std::ptrdiff_t lower,
                                      std::ptrdiff_t scale);

}  // namespace librma::coarrays
