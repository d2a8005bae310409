#pragma once

#include <string>

#include "rma/types.h"

namespace rmarun {

/// Returns the text of `rmarun --version`.
inline std::string version() {
  return "rmarun of librma " + std::to_string(RMA_VERSION_MAJOR) + "." + std::to_string(RMA_VERSION_MINOR) +
         "." + std::to_string(RMA_VERSION_PATCH);
}

}  // namespace rmarun
