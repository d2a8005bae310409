#pragma once

#include <map>
#include <string>
#include <vector>

#include "rmarun/hosts/engine.hpp"
#include "rmarun/options.hpp"
#include "util/status.hpp"

namespace rmarun {

/// The start of a job of several hosts.
struct HostsStart {
  Engine engine;
  std::vector<std::string> hosts;                     ///< by rank
  std::map<std::string, std::string> hosts_of_names;  ///< by the engine's names of hosts (engine_names.hpp)
  std::vector<std::string> command;                   ///< of the engine
  std::vector<std::string> environment;               ///< of the engine, as NAME=VALUE
  bool with_stdin = true;                             ///< the engine reads rmarun's stdin, for rank 0
};

/// Finds the engine of a job and writes its files into rmarun's directory.
/// @return RMA_ERR_LAUNCH if there is no engine, RMA_ERR_SYSTEM or RMA_ERR_ARGUMENT if its files cannot be
/// written.
librma::Result<HostsStart> prepare_hosts(const Options& options, const std::string& directory);

}  // namespace rmarun
