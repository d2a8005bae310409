#pragma once

#include "rma/rma.h"

namespace rma::fortran {

/// type(rma_team).
struct Team {
  rma_team_t handle;
};

/// The dummy argument `team` where it may be absent (null): the world team then.
inline rma_team_t team_or_world(const Team* team) {
  return team != nullptr ? team->handle : rma_team_world();
}

}  // namespace rma::fortran
