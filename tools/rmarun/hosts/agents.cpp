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
/// The shell's exit code for a command that it does not find.
constexpr std::string_view kShellNotFound = "127";
/// The end of the message of dash, busybox and bash about such a command.
constexpr std::string_view kNotFoundWords = "not found";

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
    std::string& state = states[name.substr(kStatusFile.size())];
    // The wrapper is between two states if its file is empty.
    if (!(std::ifstream(entry->path()) >> state)) state = kWaits;
  }
  return states;
}

/// The last lines that the remote shell of a host has written.
struct AgentWords {
  std::deque<std::string> lines;
  /// Whether the last line is not the remote shell's, but a message of the wrapper, which has not started it:
  /// "DIRECTORY/agent: 7: no-such-shell: not found".
  bool from_wrapper = false;
  bool not_found = false;  ///< the last line ends in "not found"
};

AgentWords words_of_agent(const std::string& directory, const std::string& host) {
  AgentWords words;
  std::ifstream file(fmt::format("{}/agent.{}", directory, host));
  for (std::string line; std::getline(file, line);) {
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    if (line.find_first_not_of(' ') == line.npos || line.starts_with(kAddressWord)) continue;
    words.from_wrapper = line.starts_with(directory + "/agent:");
    words.not_found = line.ends_with(kNotFoundWords);
    words.lines.push_back(line.substr(0, kShownLength));
    if (words.lines.size() > kShownLines) words.lines.pop_front();
  }
  return words;
}

/// Says how the remote shell of a host has failed.
std::string_view describe_state(const std::string& state, const AgentWords& words) {
  // Once the wrapper of one host has failed, the engine ends the others, perhaps before they write their exit
  // code. So the message of a wrapper suffices. Other shells and languages word it otherwise, with code 127.
  if (words.from_wrapper && (words.not_found || state == kShellNotFound))
    return "this machine does not have the remote shell";
  if (state == kWaits) return "the remote shell has not come back";
  if (state == kTriesAgain) return "the remote shell fails each time";
  if (state == std::to_string(kNoRoom)) return "there is no room for temporary files";
  if (state == kShellNotFound)
    return "the engine's daemon is not there (apt install openmpi-bin, on all hosts)";
  return "the remote shell has failed";
}

}  // namespace

std::string agents_text(const std::string& directory, const std::set<std::string>& hosts) {
  std::string text;
  std::string silent;
  for (const auto& [host, state] : states_of_hosts(directory)) {
    if (state == kSucceeded || !hosts.contains(host)) continue;
    const auto words = words_of_agent(directory, host);
    std::string& to = state == kWaits && words.lines.empty() ? silent : text;
    to += fmt::format("\n  host {}: {}", host, describe_state(state, words));
    for (const std::string& line : words.lines) to += "\n    " + line;
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
    const auto lines = words_of_agent(directory, host).lines;
    return fmt::format("host {}: {}; trying again", host,
                       lines.empty() ? "the remote shell has failed" : lines.back());
  }
  return "";
}

}  // namespace rmarun
