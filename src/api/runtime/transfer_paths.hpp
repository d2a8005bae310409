#pragma once

#include "api/runtime/runtime.hpp"
#include "strided/noncontiguous.hpp"

namespace rma {

inline TransferPaths Runtime::transfer_paths() const { return {*job, *remote_access, noncontiguous.get()}; }

}  // namespace rma
