#pragma once

#include <cstring>
#include <string_view>

#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {

/// Copies the name of an object, or of a null handle, to the array and the length of the program.
/// MPI_ERR_ARG.
[[nodiscard]] inline int give_name(std::string_view name, char* array, int* length) {
  if (array == nullptr || length == nullptr) return failure(MPI_ERR_ARG, "the name or resultlen is null");
  std::memcpy(array, name.data(), name.size());
  array[name.size()] = '\0';
  *length = static_cast<int>(name.size());
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
