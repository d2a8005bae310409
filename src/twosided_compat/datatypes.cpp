// Datatype objects.

#include "twosided_compat/datatypes.hpp"

#include <utility>

namespace rma::mpi {

Datatype::Datatype(const PredefinedType& type)
    : Counted(Kind::kDatatype, type.handle),
      predefined_(&type),
      size_(type.size),
      elements_(type.type_class == TypeClass::kPair ? 2 : 1),
      bounds_{.lower = 0, .extent = type.extent, .true_lower = 0, .true_extent = type.extent},
      contiguous_(type.size == type.extent),
      committed_(true),
      name_(type.name) {
  // A pair's data ends with its index: padding behind it is part of the extent only.
  if (type.element == Element::kDoubleInt || type.element == Element::kLongInt) {
    bounds_.true_extent = sizeof(double) + sizeof(int);
  } else if (type.element == Element::kLongDoubleInt) {
    bounds_.true_extent = sizeof(long double) + sizeof(int);
  }
}

Datatype::Datatype(const Datatype& original)
    : Counted(Kind::kDatatype),
      size_(original.size_),
      elements_(original.elements_),
      bounds_(original.bounds_),
      contiguous_(original.contiguous_),
      committed_(original.committed_) {}

std::string Datatype::name() const {
  const std::lock_guard guard(name_lock_);
  return name_;
}

void Datatype::set_name(std::string name) {
  const std::lock_guard guard(name_lock_);
  name_ = std::move(name);
}

void open_predefined_types() {
  // Never destroyed, because the program's own destructors may still make calls.
  static const bool kMade = [] {
    for (const PredefinedType& type : kPredefinedTypes) publish_predefined(*new Datatype(type));
    return true;
  }();
  static_cast<void>(kMade);
}

}  // namespace rma::mpi
