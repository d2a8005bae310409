#include "coarrays/section.hpp"

#include <algorithm>
#include <cstdint>

#include "coarrays/outcome.hpp"
#include "coarrays/wide.hpp"

namespace librma::coarrays {

std::size_t extent_of(const Triplet& triplet) {
  const std::ptrdiff_t way = triplet.last - triplet.first;
  if (triplet.step == 0 || (way != 0 && (way < 0) != (triplet.step < 0))) return 0;
  return static_cast<std::size_t>(way / triplet.step) + 1;
}

std::vector<std::ptrdiff_t> distances(const void* values, std::size_t count, int kind, std::ptrdiff_t lower,
                                      std::ptrdiff_t scale) {
  std::vector<std::ptrdiff_t> all(count);
  const auto fill = [&]<typename Integer>(const Integer* given) {
    for (std::size_t i = 0; i < count; ++i) all[i] = (static_cast<std::ptrdiff_t>(given[i]) - lower) * scale;
  };
  switch (kind) {
    case 1:
      fill(static_cast<const std::int8_t*>(values));
      break;
    case 2:
      fill(static_cast<const std::int16_t*>(values));
      break;
    case 4:
      fill(static_cast<const std::int32_t*>(values));
      break;
    case 8:
      fill(static_cast<const std::int64_t*>(values));
      break;
    case 16:
      fill(static_cast<const Integer16*>(values));
      break;
    default:
      die("a vector subscript is of no kind of integer");
  }
  return all;
}

Section::Section(const Descriptor& array, std::byte* first) : Section(array, first, span_of(array)) {}

Section::Section(const Descriptor& array, std::byte* first, std::ptrdiff_t span)
    : Section(first, array.element_bytes) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.rank); ++d)
    add(extent_of(array.dim[d]), array.dim[d].stride * span);
}

Section::Section(const Descriptor& array, std::byte* first, const Subscripts* subscripts)
    : Section(first, array.element_bytes) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.rank); ++d) {
    const Subscripts& given = subscripts[d];
    const std::ptrdiff_t stride = array.dim[d].stride * span_of(array);
    if (given.count != 0) {
      add(distances(given.vector.values, given.count, given.vector.kind, array.dim[d].lower, stride));
    } else {
      shift((given.triplet.first - array.dim[d].lower) * stride);
      add(extent_of(given.triplet), given.triplet.step * stride);
    }
  }
}

Section::Section(const Section& like, std::byte* first, std::size_t element_bytes)
    : Section(first, element_bytes) {
  auto stride = static_cast<std::ptrdiff_t>(element_bytes);
  for (std::size_t d = 0; d < like.dimensions_; ++d) {
    add(like.axes_[d].count, stride);
    stride *= static_cast<std::ptrdiff_t>(like.axes_[d].count);
  }
}

void Section::add(std::size_t count, std::ptrdiff_t stride) {
  axes_[dimensions_++] = {.count = count, .stride = stride, .list = 0};
}

void Section::add(std::vector<std::ptrdiff_t> distances) {
  lists_.push_back(std::move(distances));
  axes_[dimensions_++] = {.count = lists_.back().size(), .stride = 0, .list = lists_.size()};
}

std::size_t Section::count() const {
  std::size_t total = 1;
  for (std::size_t d = 0; d < dimensions_; ++d) total *= axes_[d].count;
  return total;
}

std::vector<std::byte*> Section::elements() const {
  std::vector<std::byte*> all = {first_};
  all.reserve(count());
  // Repeats what there is at each further place of the next dimension. The first place is the last to be
  // filled, because the others are made from it.
  for (std::size_t d = 0; d < dimensions_; ++d) {
    const Axis& axis = axes_[d];
    const std::size_t before = all.size();
    all.resize(before * axis.count);
    for (std::size_t place = axis.count; place-- > 0;) {
      const std::ptrdiff_t distance =
          axis.list != 0 ? lists_[axis.list - 1][place] : static_cast<std::ptrdiff_t>(place) * axis.stride;
      std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before),
                     all.begin() + static_cast<std::ptrdiff_t>(place * before),
                     [distance](std::byte* element) { return element + distance; });
    }
  }
  return all;
}

}  // namespace librma::coarrays
