#pragma once

#include "rma/rma.h"

namespace rma::fortran {

/// The C++ side of type(rma_team).
struct Team {
  rma_team_t handle;
};

/// Returns the team of the dummy argument `team`, or the world team if the argument is absent (null).
inline rma_team_t team_or_world(const Team* team) {
  return team != nullptr ? team->handle : rma_team_world();
}

}  // namespace rma::fortran
