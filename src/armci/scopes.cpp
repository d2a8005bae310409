#include "armci/scopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "armci/errors.hpp"
#include "armci/state.hpp"
#include "message.h"

namespace librma::armci {
namespace {

std::vector<int> on_this_host(const Group& group, const Topology& topology) {
  std::vector<int> processes;
  const int host = topology.host_of(rma_rank());
  std::copy_if(group.ranks.begin(), group.ranks.end(), std::back_inserter(processes),
               [&](int process) { return topology.host_of(process) == host; });
  return processes;
}

std::vector<int> first_of_hosts(const Group& group, const Topology& topology) {
  std::vector<int> processes;
  std::unordered_set<int> hosts;
  std::copy_if(group.ranks.begin(), group.ranks.end(), std::back_inserter(processes),
               [&](int process) { return hosts.insert(topology.host_of(process)).second; });
  return processes;
}

ScopePart& part(Group& group, int scope, const char* call) {
  if (scope != SCOPE_NODE && scope != SCOPE_MASTERS) {
    die(call, fmt::format("there is no scope {}: SCOPE_ALL is {}, SCOPE_NODE {}, SCOPE_MASTERS {}; {}", scope,
                          SCOPE_ALL, SCOPE_NODE, SCOPE_MASTERS, kOtherHeader));
  }
  ScopePart& found = scope == SCOPE_NODE ? group.scopes.node : group.scopes.masters;
  if (found.processes.empty()) {
    const Topology& topology = state(call).topology;
    found.processes = scope == SCOPE_NODE ? on_this_host(group, topology) : first_of_hosts(group, topology);
  }
  return found;
}

void close(ScopePart& part, rma_team_t all) {
  if (part.team != nullptr && part.team != all) require(rma_team_free(&part.team), "ARMCI_Group_free");
}

}  // namespace

const std::vector<int>& scope_processes(Group& group, int scope, const char* call) {
  return scope == SCOPE_ALL ? group.ranks : part(group, scope, call).processes;
}

rma_team_t scope_team(Group& group, int scope, const char* call) {
  const rma_team_t all = team_of(group, call);
  if (scope == SCOPE_ALL) return all;
  ScopePart& wanted = part(group, scope, call);
  const std::vector<int>& processes = wanted.processes;
  if (wanted.team == nullptr &&
      std::find(processes.begin(), processes.end(), rma_rank()) != processes.end()) {
    if (processes.size() == group.ranks.size()) {
      wanted.team = all;
    } else {
      require(rma_team_create(processes.data(), static_cast<int>(processes.size()), &wanted.team), call);
    }
  }
  return wanted.team;
}

void close_scopes(Group& group) {
  close(group.scopes.node, group.team);
  close(group.scopes.masters, group.team);
}

}  // namespace librma::armci
