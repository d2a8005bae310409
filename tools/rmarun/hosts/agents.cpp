#include "rmarun/hosts/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <system_error>

#include "rmarun/hosts/host_addresses.hpp"

namespace rmarun {
namespace {

constexpr std::size_t kShownLines = 5;
constexpr std::size_t kShownLength = 200;
constexpr std::string_view kStatusFile = "status.";
/// The shell's code for a command that it does not find.
constexpr std::string_view kShellNotFound = "127";

/// States that the wrapper writes beside exit codes.
constexpr std::string_view kWaits = "waits";
constexpr std::string_view kTriesAgain = "again";
constexpr std::string_view kSucceeded = "0";

/// Returns for each host of which a remote shell has started the state that its wrapper has written.
std::map<std::string, std::string> states_of_hosts(const std::string& directory) {
  std::map<std::string, std::string> states;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(kStatusFile)) continue;
    std::ifstream(entry->path()) >> states[name.substr(kStatusFile.size())];
  }
  return states;
}

/// Returns the last lines that the remote shell of a host has written.
std::deque<std::string> words_of_agent(const std::string& directory, const std::string& host) {
  std::deque<std::string> lines;
  std::ifstream file(fmt::format("{}/agent.{}", directory, host));
  for (std::string line; std::getline(file, line);) {
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    if (line.find_first_not_of(' ') == line.npos || line.starts_with(kAddressWord)) continue;
    lines.push_back(line.substr(0, kShownLength));
    if (lines.size() > kShownLines) lines.pop_front();
  }
  return lines;
}

/// Says how the remote shell of a host has failed. `words` are its last lines.
std::string_view describe_state(const std::string& state, const std::deque<std::string>& words,
                                const std::string& directory) {
  if (state == kWaits) return "the remote shell has not come back";
  if (state == kTriesAgain) return "the remote shell fails each time";
  if (state == std::to_string(kNoRoom)) return "there is no room for temporary files";
  if (state != kShellNotFound) return "the remote shell has failed";
  // The wrapper itself says which program it has not found: "DIRECTORY/agent: 7: no-such-shell: not found".
  const bool here = !words.empty() && words.back().starts_with(directory + "/agent:");
  return here ? "this machine does not have the remote shell"
              : "the engine's daemon is not there (apt install openmpi-bin, on all hosts)";
}

}  // namespace

std::string agents_text(const std::string& directory, const std::set<std::string>& hosts) {
  std::string text;
  std::string silent;
  for (const auto& [host, state] : states_of_hosts(directory)) {
    if (state == kSucceeded || !hosts.contains(host)) continue;
    const auto words = words_of_agent(directory, host);
    std::string& to = state == kWaits && words.empty() ? silent : text;
    to += fmt::format("\n  host {}: {}", host, describe_state(state, words, directory));
    for (const std::string& line : words) to += "\n    " + line;
  }
  return text.empty() ? silent : text;
}

std::string failed_agents_text(const std::string& directory, const std::set<std::string>& hosts) {
  std::set<std::string> failed = hosts;
  for (const auto& [host, state] : states_of_hosts(directory)) {
    if (state == kWaits || state == kTriesAgain) failed.erase(host);
  }
  return agents_text(directory, failed);
}

bool has_succeeded(const std::string& directory, const std::string& host) {
  const auto states = states_of_hosts(directory);
  const auto state = states.find(host);
  return state != states.end() && state->second == kSucceeded;
}

std::string AgentRemarks::take(const std::string& directory) {
  for (const auto& [host, state] : states_of_hosts(directory)) {
    if (state != kTriesAgain || !hosts_.insert(host).second) continue;
    const auto words = words_of_agent(directory, host);
    return fmt::format("host {}: {}; trying again", host,
                       words.empty() ? "the remote shell has failed" : words.back());
  }
  return "";
}

}  // namespace rmarun
