#pragma once

#include <cstdint>

#include "twosided_compat/objects/object.hpp"

// Handles as integers, and back: what Fortran programs hold.

namespace librma::mpi {

/// Returns Fortran's number of a predefined handle, or the number that the object has drawn. A handle that is
/// not valid becomes `null`, unless handles are integers.
template <class Handle>
int number_of(Handle handle, Handle null) {
  if constexpr (!kIsAddress<Handle>) {
    return static_cast<int>(handle);
  } else {
    if (const std::uintptr_t number = predefined_number(handle); number < kPredefinedEnd)
      return fortran_number(number);
    const Object* const object = find<Object>(handle);
    return object != nullptr ? object->to_number() : fortran_number(predefined_number(null));
  }
}

/// Returns the handle that has this number, or `null` if handles are addresses and no object of this kind has
/// the number.
template <class Handle>
Handle handle_of(int number, Handle null) {
  if constexpr (!kIsAddress<Handle>) {
    return static_cast<Handle>(number);
  } else {
    if (number >= 0 && static_cast<std::uintptr_t>(number) < kPredefinedEnd) {
      const auto handle = predefined_handle<Handle>(number_in_fortran(kind_of(Handle{}), number));
      return kHandlesAreNumbers || handle != nullptr ? handle : null;
    }
    const Object* const object = Object::from_number(number);
    return object != nullptr && object->kind() == kind_of(Handle{}) ? object->handle<Handle>() : null;
  }
}

}  // namespace librma::mpi
