#pragma once

#include <cstdint>

#include "util/status.hpp"

namespace librma {

/// The reason why members of a team gave up, in a word that they can send each other.
struct FailureWord {
  rma_status_t code = RMA_SUCCESS;
  int rank = 0;  ///< world rank of the member that found the failure

  [[nodiscard]] bool ok() const { return code == RMA_SUCCESS; }
  /// Returns the word, which is 0 if ok().
  [[nodiscard]] std::uint64_t word() const {
    return ok() ? 0
                : static_cast<std::uint64_t>(static_cast<std::uint32_t>(code)) << 32U |
                      static_cast<std::uint32_t>(rank);
  }
  [[nodiscard]] static FailureWord of(std::uint64_t word) {
    return {.code = static_cast<rma_status_t>(static_cast<std::int32_t>(word >> 32U)),
            .rank = static_cast<int>(static_cast<std::uint32_t>(word))};
  }
};

}  // namespace librma
