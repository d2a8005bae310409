#pragma once

#include "api/runtime/runtime.hpp"
#include "strided/noncontiguous.hpp"

namespace librma {

inline TransferPaths Runtime::transfer_paths() const { return {*job, *remote_access, noncontiguous.get()}; }

}  // namespace librma
