#pragma once

#include <string>
#include <string_view>

#include "util/status.hpp"

namespace rmarun {

/// The places for ranks that a list of hosts offers. All hosts are this one.
struct Slots {
  int hosts = 0;       ///< how often a host is named
  int slots = 0;       ///< the sum of the numbers that stand behind hosts
  bool limit = false;  ///< each host has such a number
};

/// Reads a list such as "localhost:4,node1". Fails if it names another host than this one.
rma::Result<Slots> slots_of_list(const std::string& list);
/// Reads a host file of Open MPI ("node1 slots=4") or MPICH ("node1:4"), a host a line, with comments.
rma::Result<Slots> slots_of_file(const std::string& path);

/// Whether `name` names this host, whose own name is `own`: localhost, an address of the loopback, or the
/// own name, with or without its domain.
bool names_this_host(std::string_view name, std::string_view own);

}  // namespace rmarun
