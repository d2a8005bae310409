#pragma once

#include <vector>

#include "rma/rma.h"

namespace librma::armci {

struct Group;

/// The part of a group that a scope selects.
struct ScopePart {
  std::vector<int> processes;  ///< in the group's order; empty until first use
  rma_team_t team = nullptr;   ///< null if this process is not among them, and until first use
};

/// The parts of a group for the scopes other than SCOPE_ALL. They are made at first use. The first use is a
/// collective call over the part, so all of its members take part.
struct ScopeParts {
  ScopePart node;
  ScopePart masters;
};

/// Returns the processes of SCOPE_ALL, SCOPE_NODE or SCOPE_MASTERS. Ends the job for any other scope.
[[nodiscard]] const std::vector<int>& scope_processes(Group& group, int scope, const char* call);

/// Returns the team of a scope; null if this process is not among its members. Ends the job if it is not
/// in the group.
[[nodiscard]] rma_team_t scope_team(Group& group, int scope, const char* call);

/// Frees the teams of a group's scopes, before the group is freed. Collective over its members.
void close_scopes(Group& group);

}  // namespace librma::armci
