#include "twosided_compat/datatypes/type_layout.hpp"

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
      return type.type_class == TypeClass::kComplex ? type.size / 2 : type.size;
  }
}

}  // namespace

TypeLayout::TypeLayout(const PredefinedType& type)
    : elements_(TypeMap::of(type)), bytes_(byte_map(elements_)), alignment_(alignment_of(type)) {}

bool TypeLayout::overflows() const { return overflows_ || elements_.overflows() || bytes_.overflows(); }

TypeLayout TypeLayout::moved(MPI_Count distance) const {
  TypeLayout layout = *this;
  layout.elements_ = elements_.moved(distance);
  layout.bytes_ = bytes_.moved(distance);
  if (markers_) {
    layout.markers_ = Markers{.lower = plus(markers_->lower, distance, layout.overflows_),
                              .upper = plus(markers_->upper, distance, layout.overflows_)};
  }
  return layout;
}

TypeLayout TypeLayout::repeated(MPI_Count count, MPI_Count stride) const {
  if (count == 0) return {};
  TypeLayout layout = *this;
  layout.elements_ = elements_.repeated(count, stride);
  layout.bytes_ = bytes_.repeated(count, stride);
  if (markers_) {
    const MPI_Count reach = times(count - 1, stride, layout.overflows_);
    layout.markers_ =
        Markers{.lower = plus(markers_->lower, std::min<MPI_Count>(reach, 0), layout.overflows_),
                .upper = plus(markers_->upper, std::max<MPI_Count>(reach, 0), layout.overflows_)};
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
    if (part.markers_ && layout.markers_) {
      layout.markers_->lower = std::min(layout.markers_->lower, part.markers_->lower);
      layout.markers_->upper = std::max(layout.markers_->upper, part.markers_->upper);
    } else if (part.markers_) {
      layout.markers_ = part.markers_;
    }
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
  if (markers_) {
    return {.lower = markers_->lower,
            .extent = markers_->upper - markers_->lower,
            .true_lower = low,
            .true_extent = length};
  }
  // The end is rounded up, so that the elements of an array are aligned if the first one is.
  const MPI_Count padding = (alignment_ - length % alignment_) % alignment_;
  return {.lower = low, .extent = length + padding, .true_lower = low, .true_extent = length};
}

}  // namespace librma::mpi
