#pragma once

#include <set>
#include <string>

namespace rmarun {

/// The code of a remote shell's command on a host that has no room for temporary files.
inline constexpr int kNoRoom = 122;

/// Returns a text about those of `hosts` whose remote shell has failed, with its last lines, by the files in
/// `directory` that the wrapper of the remote shell has written; empty if none has. A shell that has neither
/// ended nor said anything is named only if there is no other: some engines keep the shells as long as the
/// job runs.
std::string agents_text(const std::string& directory, const std::set<std::string>& hosts);
/// The same of those alone that have ended and are not called again.
std::string failed_agents_text(const std::string& directory, const std::set<std::string>& hosts);

/// Whether the remote shell of a host has started the host's daemon.
bool has_succeeded(const std::string& directory, const std::string& host);

/// The remarks for the user about remote shells that fail and are called again, one for each host.
class AgentRemarks {
 public:
  /// Returns the next remark, or an empty text if there is none.
  std::string take(const std::string& directory);

 private:
  std::set<std::string> hosts_;  ///< of which the user knows
};

}  // namespace rmarun
