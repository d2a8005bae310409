#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/system/descriptor.hpp"

namespace rmarun {

using librma::Descriptor;

/// The description of a rank to start.
struct SpawnRequest {
  const std::vector<std::string>& command;
  std::vector<std::string> environment;  ///< the whole environment, as NAME=VALUE
  const char* directory = nullptr;       ///< in which it starts, or null for this process's
  bool takes_stdin = false;              ///< the rank gets rmarun's stdin, else /dev/null
  bool own_group = true;                 ///< else it stays in this process's group
  const cpu_set_t* cores = nullptr;      ///< the processors on which it may run, or null for all
  rlimit descriptors{};                  ///< its limit of open files
};

/// A started rank, or the reason why it could not be started.
struct Spawned {
  pid_t pid = -1;
  int error = 0;              ///< errno of the failed call
  bool at_exec = false;       ///< the program could not be executed; otherwise an earlier call failed
  bool at_directory = false;  ///< the process could not go to its directory
  Descriptor out;             ///< reads the rank's stdout, nonblocking
  Descriptor err;             ///< reads the rank's stderr, nonblocking
};

/// Starts a rank, in a process group of its own unless it reads a terminal. The system kills the rank when
/// this process ends.
Spawned spawn(const SpawnRequest& request);

/// Reads once from a rank's stdout or stderr, and returns the bytes, which are in `buffer`. Returns nothing
/// if there is nothing to read now, and closes the pipe if nothing will come any more.
std::string_view read_once(Descriptor& pipe, std::span<char> buffer);

}  // namespace rmarun
