#pragma once

#include <string>

namespace rmarun {

/// Returns a text about the hosts whose remote shell has failed, with the last lines of each, by the files in
/// `directory` that the wrapper of the remote shell has written; empty if none has.
std::string agents_text(const std::string& directory);

}  // namespace rmarun
