#include "rmarun/hosts/agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace rmarun {
namespace {

constexpr std::size_t kShownLines = 5;
constexpr std::size_t kShownLength = 200;
constexpr std::string_view kStatusFile = "status.";
/// The shell's code for a command that it does not find.
constexpr std::string_view kShellNotFound = "127";

std::deque<std::string> end_of_file(const std::filesystem::path& path) {
  std::deque<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    if (line.find_first_not_of(' ') == line.npos) continue;
    lines.push_back(line.substr(0, kShownLength));
    if (lines.size() > kShownLines) lines.pop_front();
  }
  return lines;
}

}  // namespace

std::string agents_text(const std::string& directory) {
  std::vector<std::string> hosts;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(kStatusFile)) hosts.push_back(name.substr(kStatusFile.size()));
  }
  std::ranges::sort(hosts);
  std::string text;
  for (const std::string& host : hosts) {
    std::string state;
    std::ifstream(fmt::format("{}/{}{}", directory, kStatusFile, host)) >> state;
    if (state == "0") continue;
    const std::string_view what =
        state == "waits"          ? "the remote shell has not come back"
        : state == kShellNotFound ? "the engine's daemon is not there (apt install openmpi-bin, on all hosts)"
                                  : "the remote shell has failed";
    text += fmt::format("\n  host {}: {}", host, what);
    for (const std::string& line : end_of_file(fmt::format("{}/agent.{}", directory, host)))
      text += "\n    " + line;
  }
  return text;
}

}  // namespace rmarun
