#pragma once

#include "transport/wireup/siphash.hpp"
#include "util/status.hpp"

namespace librma::transport {

/// Returns a secret that nobody can guess. RMA_ERR_SYSTEM.
[[nodiscard]] Result<Secret> make_secret();

}  // namespace librma::transport
