#include "twosided_compat/datatypes/type_layout.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "twosided_compat/binding/checked_arithmetic.hpp"

namespace librma::mpi {
namespace {

const PredefinedType& byte_type() {
  static const PredefinedType& type = *std::find_if(
      kPredefinedTypes.begin(), kPredefinedTypes.end(),
      [](const PredefinedType& predefined_type) { return predefined_type.handle == number::kByte; });
  return type;
}

/// Returns the map of a predefined type as bytes: a pair has padding between its elements, or not.
TypeMap byte_map(const TypeMap& elements) {
  std::vector<TypeMap> parts;
  elements.visit(0, 0, elements.size(), [&](std::byte* at, MPI_Count bytes, const PredefinedType&) {
    parts.push_back(TypeMap::block(byte_type(), bytes).moved(reinterpret_cast<MPI_Count>(at)));
  });
  return TypeMap::joined(std::move(parts));
}

/// Returns the alignment that a C or Fortran compiler gives to a predefined type.
MPI_Count alignment_of(const PredefinedType& type) {
  switch (type.element) {
    case Element::kFloatInt:
    case Element::kTwoInt:
    case Element::kShortInt:
    case Element::kTwoFloat:
      return alignof(int);
    case Element::kDoubleInt:
    case Element::kLongInt:
    case Element::kTwoDouble:
      return alignof(double);
    case Element::kLongDoubleInt:
      return alignof(long double);
    default:
      return std::max<MPI_Count>(type.type_class == TypeClass::kComplex ? type.size / 2 : type.size, 1);
  }
}

/// Returns the bound that lies `distance` behind another, if that is set.
std::optional<MPI_Count> moved_bound(std::optional<MPI_Count> bound, MPI_Count distance, bool& overflows) {
  return bound ? std::optional(plus(*bound, distance, overflows)) : bound;
}

/// Returns the bound of two types together: the one of both that `choose` takes, or the only one that is set.
template <class Choose>
std::optional<MPI_Count> either(std::optional<MPI_Count> one, std::optional<MPI_Count> other,
                                const Choose& choose) {
  return one && other ? std::optional(choose(*one, *other)) : one ? one : other;
}

}  // namespace

TypeLayout::Markers TypeLayout::markers_of(const PredefinedType& type) {
  Markers markers;
  if (type.type_class == TypeClass::kLowerMarker) markers.lower = 0;
  if (type.type_class == TypeClass::kUpperMarker) markers.upper = 0;
  return markers;
}

TypeLayout::TypeLayout(const PredefinedType& type)
    : elements_(TypeMap::of(type)),
      bytes_(byte_map(elements_)),
      markers_(markers_of(type)),
      alignment_(alignment_of(type)) {}

bool TypeLayout::overflows() const { return overflows_ || elements_.overflows() || bytes_.overflows(); }

TypeLayout TypeLayout::moved(MPI_Count distance) const {
  TypeLayout layout = *this;
  layout.elements_ = elements_.moved(distance);
  layout.bytes_ = bytes_.moved(distance);
  layout.markers_ = Markers{.lower = moved_bound(markers_.lower, distance, layout.overflows_),
                            .upper = moved_bound(markers_.upper, distance, layout.overflows_)};
  return layout;
}

TypeLayout TypeLayout::repeated(MPI_Count count, MPI_Count stride) const {
  if (count == 0) return {};
  TypeLayout layout = *this;
  layout.elements_ = elements_.repeated(count, stride);
  layout.bytes_ = bytes_.repeated(count, stride);
  if (markers_.lower || markers_.upper) {
    const MPI_Count reach = times(count - 1, stride, layout.overflows_);
    layout.markers_ =
        Markers{.lower = moved_bound(markers_.lower, std::min<MPI_Count>(reach, 0), layout.overflows_),
                .upper = moved_bound(markers_.upper, std::max<MPI_Count>(reach, 0), layout.overflows_)};
  }
  return layout;
}

TypeLayout TypeLayout::joined(std::vector<TypeLayout> parts) {
  TypeLayout layout;
  std::vector<TypeMap> elements;
  std::vector<TypeMap> bytes;
  elements.reserve(parts.size());
  bytes.reserve(parts.size());
  for (TypeLayout& part : parts) {
    layout.overflows_ |= part.overflows();
    layout.markers_.lower = either(layout.markers_.lower, part.markers_.lower,
                                   [](MPI_Count one, MPI_Count other) { return std::min(one, other); });
    layout.markers_.upper = either(layout.markers_.upper, part.markers_.upper,
                                   [](MPI_Count one, MPI_Count other) { return std::max(one, other); });
    if (!part.elements_.empty()) layout.alignment_ = std::max(layout.alignment_, part.alignment_);
    elements.push_back(std::move(part.elements_));
    bytes.push_back(std::move(part.bytes_));
  }
  layout.elements_ = TypeMap::joined(std::move(elements));
  layout.bytes_ = TypeMap::joined(std::move(bytes));
  return layout;
}

TypeLayout TypeLayout::resized(MPI_Count lower, MPI_Count extent) const {
  TypeLayout layout = *this;
  layout.markers_ = Markers{.lower = lower, .upper = plus(lower, extent, layout.overflows_)};
  return layout;
}

TypeLayout TypeLayout::overflown() const {
  TypeLayout layout = *this;
  layout.overflows_ = true;
  return layout;
}

Bounds TypeLayout::bounds() const {
  const MPI_Count low = bytes_.low();
  bool overflows = false;
  const MPI_Count length = minus(bytes_.high(), low, overflows);
  const MPI_Count lower = markers_.lower.value_or(low);
  Bounds bounds = {.lower = lower, .true_lower = low, .true_extent = length};
  if (markers_.upper) {
    bounds.extent = *markers_.upper - lower;
    return bounds;
  }
  // The end is rounded up, so that the elements of an array are aligned if the first one is.
  const MPI_Count extent = minus(bytes_.high(), lower, overflows);
  const MPI_Count padding = (alignment_ - extent % alignment_) % alignment_;
  bounds.extent = extent + padding;
  return bounds;
}

}  // namespace librma::mpi
