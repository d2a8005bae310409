// Datatype objects.

#include "twosided_compat/datatypes/datatypes.hpp"

#include <utility>

namespace librma::mpi {

Datatype::Datatype(const PredefinedType& type)
    : Counted(Kind::kDatatype, type.handle),
      predefined_(&type),
      layout_(type),
      bounds_(layout_.bounds()),
      committed_(true),
      name_(type.name) {}

Datatype::Datatype(const Datatype& base, TypeContents contents)
    : Counted(Kind::kDatatype),
      predefined_(base.predefined_),
      layout_(base.layout_),
      bounds_(base.bounds_),
      contents_(std::move(contents)),
      committed_(true) {}

Datatype::Datatype(TypeLayout layout, TypeContents contents)
    : Counted(Kind::kDatatype),
      layout_(std::move(layout)),
      bounds_(layout_.bounds()),
      contents_(std::move(contents)) {}

int Datatype::remove_handle() {
  if (handles_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (const int code = attributes.remove_all(handle<MPI_Datatype>()); code != MPI_SUCCESS) {
      handles_.fetch_add(1, std::memory_order_relaxed);
      return code;
    }
  }
  remove_reference();
  return MPI_SUCCESS;
}

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

}  // namespace librma::mpi
