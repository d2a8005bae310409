#pragma once

#include <string>
#include <vector>

#include "rmarun/hosts/mapping.hpp"
#include "rmarun/hosts/way.hpp"

namespace rmarun {

/// Returns the script that the engine calls as its remote shell: [OPTIONS] HOST COMMAND. For each host it
/// keeps the shell's output in the file agent.HOST of `directory`, and in status.HOST its exit code, or
/// "waits" while it has none. If the shell fails for a reason that may pass, the script tries again for a
/// while, with "again" in status.HOST in between.
std::string agent_script(const Way& way, const std::vector<Placed>& placed, const std::string& directory);

}  // namespace rmarun
