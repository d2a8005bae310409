#pragma once

#include <cstdint>

#include "twosided_compat/objects/object.hpp"

// Handles as integers, and back: what Fortran programs hold.

namespace librma::mpi {

/// Returns the ABI's number of a predefined handle, or the number that the object has drawn. A handle that is
/// not valid becomes `null`.
template <class Handle>
int number_of(Handle handle, Handle null) {
  if (is_predefined(handle)) return static_cast<int>(bits(handle));
  Object* const object = find<Object>(handle);
  return object != nullptr ? object->to_number() : static_cast<int>(bits(null));
}

/// Returns the handle that has this number, or `null` if no object of this kind has the number.
template <class Handle>
Handle handle_of(int number, Handle null) {
  if (number >= 0 && static_cast<std::uintptr_t>(number) < kPredefinedEnd) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  }
  const Object* const object = Object::from_number(number);
  return object != nullptr && object->kind() == kind_of(Handle{}) ? object->handle<Handle>() : null;
}

}  // namespace librma::mpi
