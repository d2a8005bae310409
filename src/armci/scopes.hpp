#pragma once

#include <vector>

#include "rma/rma.h"

namespace rma::armci {

struct Group;

/// The part of a group that a scope means.
struct ScopePart {
  std::vector<int> processes;  ///< in the group's order; empty as long as nobody asked
  rma_team_t team = nullptr;   ///< null where this process is not among them, or has not asked
};

/// The parts of a group that are not all of it, found and made when they are first used: by a collective call
/// over the part, so by all of its members.
struct ScopeParts {
  ScopePart node;
  ScopePart masters;
};

/// SCOPE_ALL, SCOPE_NODE or SCOPE_MASTERS; the job ends for anything else.
[[nodiscard]] const std::vector<int>& scope_processes(Group& group, int scope, const char* call);

/// The team of a scope; null where this process is not among its members. The job ends where it is not in the
/// group.
[[nodiscard]] rma_team_t scope_team(Group& group, int scope, const char* call);

/// Before a group is freed: collective over its members.
void close_scopes(Group& group);

}  // namespace rma::armci
