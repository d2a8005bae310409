#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "armci.h"
#include "armci/errors.hpp"
#include "rma/rma.h"

namespace librma::armci {

/// Returns the runtime's type for an ARMCI_ACC_ constant. Ends the job for any other number.
[[nodiscard]] inline rma_type_t type_of(int type, const char* call) {
  constexpr std::array kTypes = {RMA_INT,           RMA_DOUBLE,         RMA_FLOAT,
                                 RMA_COMPLEX_FLOAT, RMA_COMPLEX_DOUBLE, RMA_LONG};
  const auto index = static_cast<std::size_t>(type - ARMCI_ACC_INT);
  if (index >= kTypes.size()) [[unlikely]]
    die(call, fmt::format("there is no type {}: {}", type, kOtherHeader));
  return kTypes[index];
}

/// Returns the size of one element in bytes.
[[nodiscard]] inline std::size_t type_size(rma_type_t type) {
  constexpr std::array<std::size_t, 7> kSizes = {sizeof(int),       sizeof(long),   sizeof(long long),
                                                 sizeof(float),     sizeof(double), 2 * sizeof(float),
                                                 2 * sizeof(double)};
  return kSizes[static_cast<std::size_t>(type)];
}

}  // namespace librma::armci
