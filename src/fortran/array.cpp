#include "fortran/array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "fortran/numbers.hpp"

namespace librma::fortran {
namespace {

using Numbers = std::array<std::int64_t, CFI_MAX_RANK>;

/// Returns the number of elements of first : last : step, or -1 if it overflows.
std::int64_t elements(std::int64_t first, std::int64_t last, std::int64_t step) {
  if (first != last && (first < last) != (step > 0)) return 0;
  std::int64_t way = 0;
  std::int64_t count = 0;
  if (__builtin_sub_overflow(last, first, &way) || way == std::numeric_limits<std::int64_t>::min()) return -1;
  return __builtin_add_overflow(way / step, 1, &count) ? -1 : count;
}

}  // namespace

RemoteArray RemoteArray::refused(Reason reason, std::int64_t first, std::int64_t second, std::int64_t third,
                                 std::int64_t fourth, std::int64_t fifth) {
  RemoteArray array = {};
  array.mark = kRefused;
  array.dimensions = reason;
  array.lower = {first, second, third, fourth, fifth};
  return array;
}

RemoteArray RemoteArray::contiguous(std::intptr_t address, int rank, CFI_type_t type,
                                    std::size_t element_bytes, const CFI_cdesc_t* upper,
                                    const CFI_cdesc_t* lower) {
  RemoteArray array = {};
  array.address = address;
  array.rank = rank;
  array.mark = kArray;
  array.type = type;
  array.element_bytes = static_cast<std::int64_t>(element_bytes);
  array.lower.fill(1);
  Numbers last = {};
  if (upper != nullptr) {
    const auto given = integers(*upper, "upper", last);
    if (!given.ok()) return refused(kNotIntegers);
    array.dimensions = given.value();
  }
  if (lower != nullptr) {
    const auto given = integers(*lower, "lower", array.lower);
    if (!given.ok()) return refused(kNotIntegers);
    if (given.value() != array.dimensions) return refused(kDimensions, given.value(), array.dimensions);
  }
  std::int64_t stride = array.element_bytes;
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.dimensions); ++d) {
    array.extent[d] = elements(array.lower[d], last[d], 1);
    array.stride[d] = stride;
    if (array.extent[d] < 0 ||
        __builtin_mul_overflow(stride, std::max<std::int64_t>(array.extent[d], 1), &stride))
      return refused(kTooLarge);
  }
  return array;
}

RemoteArray RemoteArray::section(const CFI_cdesc_t* first, const CFI_cdesc_t* last,
                                 const CFI_cdesc_t* step) const {
  if (mark != kArray) return *this;
  Numbers from = lower;
  Numbers to = {};
  Numbers by = {};
  by.fill(1);
  for (std::size_t d = 0; d < to.size(); ++d) to[d] = lower[d] + extent[d] - 1;

  const auto problem_of = [&](const CFI_cdesc_t* given, Numbers& numbers) -> std::optional<RemoteArray> {
    if (given == nullptr) return std::nullopt;
    const auto count = integers(*given, "section", numbers);
    if (!count.ok()) return refused(kNotIntegers);
    if (count.value() != dimensions) return refused(kDimensions, count.value(), dimensions);
    return std::nullopt;
  };
  if (const auto problem = problem_of(step, by)) return *problem;
  // A dimension with a negative step and no given bounds starts at its end.
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (by[d] < 0) std::swap(from[d], to[d]);
  }
  if (const auto problem = problem_of(first, from)) return *problem;
  if (const auto problem = problem_of(last, to)) return *problem;

  RemoteArray part = *this;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    if (by[d] == 0) return refused(kNoStride, static_cast<std::int64_t>(d) + 1);
    part.extent[d] = elements(from[d], to[d], by[d]);
    part.lower[d] = 1;
    part.stride[d] = 0;
    if (part.extent[d] == 0) continue;  // an empty range may have any bounds
    const std::int64_t end = lower[d] + extent[d] - 1;
    const auto inside = [&](std::int64_t index) { return index >= lower[d] && index <= end; };
    if (part.extent[d] < 0 || !inside(from[d]) || !inside(from[d] + (part.extent[d] - 1) * by[d])) {
      return refused(kOutside, static_cast<std::int64_t>(d) + 1, from[d], to[d], lower[d], end);
    }
    part.address += (from[d] - lower[d]) * stride[d];
    if (part.extent[d] > 1) part.stride[d] = by[d] * stride[d];
  }
  return part;
}

RemoteArray RemoteArray::element(const CFI_cdesc_t& index) const {
  RemoteArray array = section(&index, &index, nullptr);
  if (array.mark == kArray) array.dimensions = 0;
  return array;
}

Status RemoteArray::check(const char* argument) const {
  if (mark == kArray) return {};
  if (mark != kRefused) {
    return {RMA_ERR_ARGUMENT, fmt::format("{} was never set: no rma_ call made this rma_array", argument)};
  }
  const auto& values = lower;
  switch (dimensions) {
    case kOutside:
      return {RMA_ERR_ARGUMENT, fmt::format("{} is a section {}:{} of dimension {}, whose bounds are {}:{}",
                                            argument, values[1], values[2], values[0], values[3], values[4])};
    case kDimensions:
      return {RMA_ERR_ARGUMENT,
              fmt::format("{} is described by {} numbers for {} dimensions", argument, values[0], values[1])};
    case kNoStride:
      return {RMA_ERR_ARGUMENT,
              fmt::format("{} is a section with stride 0 in dimension {}", argument, values[0])};
    case kTooLarge:
      return {RMA_ERR_SIZE, fmt::format("{} has bounds that no memory could hold", argument)};
    default:
      return {RMA_ERR_ARGUMENT,
              fmt::format("{} is described by something that is no list of integers, one for "
                          "each of at most {} dimensions",
                          argument, CFI_MAX_RANK)};
  }
}

std::size_t RemoteArray::bytes() const {
  auto total = static_cast<std::size_t>(element_bytes);
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d)
    total *= static_cast<std::size_t>(extent[d]);
  return total;
}

}  // namespace librma::fortran
