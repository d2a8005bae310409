#pragma once

#include <cstdint>

namespace librma {

/// Returns a number of this process's network namespace, which no other one of this kernel has; 0 if the
/// system does not tell it. Abstract socket names are valid within one network namespace.
[[nodiscard]] std::uint64_t network_namespace();

}  // namespace librma
