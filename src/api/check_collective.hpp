#pragma once

#include "api/runtime/runtime.hpp"
#include "collectives/team/team.hpp"
#include "rma/collectives.h"
#include "util/status.hpp"

namespace librma {

/// Checks the arguments of a collective operation of this member: that the operation exists, the root, the
/// pointers that it needs, that no size overflows, and the reducer.
[[nodiscard]] Status check_collective(const Team& team, const rma_collective_t& collective);

}  // namespace librma
