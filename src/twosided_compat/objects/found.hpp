#pragma once

#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/object.hpp"

namespace librma::mpi {

/// The object behind a handle, or the error class of a handle that has none. RMA_TRY_ASSIGN
/// (util/try_assign.hpp) declares a pointer to the object, or returns the error class.
template <class T>
class [[nodiscard]] Found {
 public:
  Found(T* object) : object_(object) {}      // NOLINT(google-explicit-constructor)
  Found(int failure) : failure_(failure) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return object_ != nullptr; }
  [[nodiscard]] T*& value() { return object_; }
  [[nodiscard]] int failure() const { return failure_; }
  /// Stores the object, or null. Returns MPI_SUCCESS or the failure.
  [[nodiscard]] int store(T*& place) const {
    place = object_;
    return failure_;
  }

 private:
  T* object_ = nullptr;
  int failure_ = MPI_SUCCESS;
};

/// Finds the object of a handle as find() does. If there is none, fails with an error class and a text.
template <class T, class Handle>
[[nodiscard, gnu::always_inline]] inline Found<T> find_or_fail(Handle handle, int error_class,
                                                               const char* text) {
  T* object = find<T>(handle);
  if (object != nullptr) [[likely]]
    return object;
  remember_failure(error_class, text);
  return error_class;  // a constant, so that compilers know that this is no success
}

}  // namespace librma::mpi
