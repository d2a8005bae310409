#pragma once

#include <cstdint>

#include "core/operation.hpp"

namespace rma {

/// Which of the addresses of a transfer are the other rank's.
enum class Side : std::uint8_t { dst, src };

/// The end of a transfer that was over when it was issued.
inline Status complete(const Ending& ending) {
  if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
  return {};
}

}  // namespace rma
