#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rmarun/hosts/host_list.hpp"
#include "util/status.hpp"

namespace rmarun {

/// A host with the number of its ranks.
struct Placed {
  Host host;
  int ranks = 0;
};

/// The numbers that the command line gives for the ranks of all hosts.
struct Wanted {
  std::optional<int> ranks{};
  std::optional<int> per_host{};
  bool oversubscribe = false;
};

/// Distributes ranks over hosts. `per_host` replaces the slots of each host. Without `ranks` each host gets
/// as many as it has slots, or one. With `ranks`, hosts are filled in their order; hosts without a number of
/// slots share evenly what those with one leave. Hosts without a rank are left out. No host gets more than
/// its max_slots.
/// @return RMA_ERR_ARGUMENT if there are more ranks than slots, unless `oversubscribe`: the rest is then
/// shared evenly. Also if there are more than all max_slots.
librma::Result<std::vector<Placed>> place(const std::vector<Host>& hosts, const Wanted& wanted,
                                          const std::string& source);

/// Returns the name of each rank's host: host by host, in the order of the list, or with `by_node` a rank for
/// each host in turn, as long as it has some left.
std::vector<std::string> hosts_by_rank(const std::vector<Placed>& placed, bool by_node);

}  // namespace rmarun
