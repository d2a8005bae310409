#pragma once

#include <cstddef>
#include <cstring>

namespace librma::kernels {

/// Loads and stores a value at an address that need not be aligned to its type. Compilers make single
/// instructions of them.
template <typename T>
T load_as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <typename T>
void store_as(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace librma::kernels
