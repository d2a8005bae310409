#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rmarun/environment.hpp"
#include "rmarun/options.hpp"
#include "util/system/spawn_call.hpp"

namespace rmarun {

/// The programs of a request for more ranks, or why none of its ranks can start.
struct SpawnPlan {
  std::vector<Program> programs;
  std::string why_none;
};

/// Finds the programs and the numbers of their ranks.
/// @param environment  the variables that the command line has set for the program of the rank that asks
/// @param room  how many ranks the job may have yet
/// @param inherited  rmarun's environment, in whose PATH programs are looked for
[[nodiscard]] SpawnPlan plan_spawn(const librma::SpawnCall& call,
                                   const std::vector<std::pair<std::string, std::string>>& environment,
                                   int room, const Environment& inherited);

}  // namespace rmarun
