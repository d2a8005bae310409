#include "rmarun/hosts/remote_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "rmarun/exit_codes.hpp"
#include "rmarun/processes.hpp"

namespace rmarun {
namespace {

/// Lines of the engine's text that are kept, and their longest length.
constexpr std::size_t kKeptLines = 40;
constexpr std::size_t kLongestLine = 400;
/// Ends of connections that are kept. Each host has a few.
constexpr std::size_t kMostEnds = 100'000;

/// Returns a text that another machine wrote, with nothing in it that a terminal would act on.
std::string without_controls(std::string_view from) {
  std::string text(from.substr(0, kLongestLine));
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

/// Returns what follows the first `mark` in a text, or nothing if it is not there.
std::optional<std::string_view> behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  return text.substr(at + mark.size());
}

/// Returns the number with which a text begins, or nothing if it begins with none.
std::optional<int> number_of(std::optional<std::string_view> text) {
  int number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

/// "3", "2-3", "0, 2-3".
std::string ranges_of(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", numbers[i],
                        end - i > 1 ? fmt::format("-{}", numbers[end - 1]) : "");
    i = end;
  }
  return text;
}

}  // namespace

std::string RemoteRanks::take(int rank, std::string_view words) {
  const auto index = static_cast<std::size_t>(rank);
  if (rank < 0 || index >= ranks_.size()) return "";
  State& state = ranks_[index];
  std::istringstream from{std::string(words)};
  std::string kind;
  long number = 0;
  from >> kind;
  if (kind == "note") {
    std::string text;
    std::getline(from >> std::ws, text);
    return fmt::format("{}: {}", hosts_[index], without_controls(text));
  }
  if (!(from >> number) || state.ended) return "";
  if (kind == "start") {
    state.started = true;
    state.pid = number;
    return "";
  }
  if (kind == "link") {
    std::string end;
    from >> end;
    if (hosts_of_ends_.size() < kMostEnds) hosts_of_ends_[end] = hosts_[index];
    return "";
  }
  state.ended = true;
  if (kind == "fail") {
    std::string text;
    std::getline(from >> std::ws, text);
    if (!failure_)
      failure_ = Failure{false,
                         {static_cast<int>(number & 0xff),
                          fmt::format("host {}: {}", hosts_[index], without_controls(text))}};
    return "";
  }
  int core = 0;
  int asked = 0;
  if (kind == "signal") from >> core;
  from >> asked;
  state.succeeded = kind == "exit" && number == 0;
  if (state.succeeded || asked != 0) return "";
  if (kind == "signal" && number > 0 && number < NSIG) {
    fail(index, number != SIGABRT, kExitSignal + static_cast<int>(number),
         fmt::format("was killed by {}{}", describe_signal(static_cast<int>(number)),
                     core != 0 ? ", core dumped" : ""));
  } else {
    fail(index, false, static_cast<int>(number & 0xff), fmt::format("exited with code {}", number));
  }
  return "";
}

void RemoteRanks::fail(std::size_t rank, bool by_signal, int exit_code, std::string_view how) {
  if (failure_ && (failure_->by_signal || !by_signal)) return;
  failure_ = Failure{
      by_signal,
      {exit_code == 0 ? kExitFailure : exit_code,
       fmt::format("rank {} (pid {} on {}) {}; ending the job", rank, ranks_[rank].pid, hosts_[rank], how)}};
}

void RemoteRanks::take_engine_text(std::string_view text) {
  for (const char c : text) {
    if (c == '\n') {
      end_engine_text();
    } else if (line_.size() < kLongestLine) {
      line_ += c;
    }
  }
}

void RemoteRanks::end_engine_text() {
  if (line_.empty()) return;
  const std::string line = without_controls(line_);
  line_.clear();
  take_engine_line(line);
  const bool ruler = line.find_first_not_of('-') == line.npos;
  if (ruler) return;
  if (lines_.size() == kKeptLines) lines_.erase(lines_.begin());
  lines_.push_back(line);
}

void RemoteRanks::take_engine_line(const std::string& line) {
  // ORTE and PRRTE: "... has lost communication with a remote daemon", and two lines further "on node NAME".
  lost_text_ = lost_text_ || line.find("lost communication with a remote daemon") != line.npos;
  if (const auto daemon = behind(line, "Remote daemon:"); lost_text_ && daemon) {
    if (const auto host = behind(*daemon, " on node "); host) {
      const std::string name(host->substr(0, host->find(' ')));
      const auto known = hosts_of_names_.find(name);
      note_lost(known == hosts_of_names_.end() ? name : known->second);
      lost_text_ = false;
    }
  }
  // Of a keeper: "process rank 3 with PID 7 on node b exited on signal 9 (Killed)". PRRTE needs two lines.
  const std::string two_lines = std::exchange(previous_line_, line) + " " + line;
  const auto process = behind(two_lines, "process rank ");
  const auto rank = number_of(process);
  if (!rank || *rank < 0 || static_cast<std::size_t>(*rank) >= ranks_.size()) return;
  const auto place = static_cast<std::size_t>(*rank);
  const auto signal = number_of(behind(*process, " exited on signal "));
  if (signal && *signal > 0 && *signal < NSIG && !ranks_[place].ended)
    fail(place, true, kExitSignal + *signal,
         fmt::format("was lost: its keeper was killed by {}", describe_signal(*signal)));
}

void RemoteRanks::note_silence(const std::string& there) {
  if (const auto host = hosts_of_ends_.find(there); host != hosts_of_ends_.end()) note_lost(host->second);
}

void RemoteRanks::note_lost(const std::string& host) {
  if (std::ranges::find(lost_hosts_, host) == lost_hosts_.end()) lost_hosts_.push_back(host);
}

bool RemoteRanks::lost_before_start() const {
  if (lost_hosts_.empty()) return false;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (hosts_[rank] == lost_hosts_.front() && ranks_[rank].started) return false;
  }
  return true;
}

std::set<std::string> RemoteRanks::hosts_without_start() const {
  std::set<std::string> hosts(hosts_.begin(), hosts_.end());
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (ranks_[rank].started) hosts.erase(hosts_[rank]);
  }
  return hosts;
}

Verdict RemoteRanks::cause() const {
  if (lost_hosts_.empty()) return failure_->verdict;
  const std::string& host = lost_hosts_.front();
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (hosts_[rank] == host) ranks.push_back(rank);
  }
  const std::string which =
      ranks.empty() ? "" : fmt::format(" (rank{} {})", ranks.size() > 1 ? "s" : "", ranges_of(ranks));
  return {kExitFailure, fmt::format("host {} was lost{}; ending the job", host, which)};
}

bool RemoteRanks::all_succeeded() const {
  return std::ranges::all_of(ranks_, [](const State& state) { return state.succeeded; });
}

template <typename Chosen>
std::string RemoteRanks::listed(const Chosen& chosen) const {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::size_t>> ranks;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!chosen(ranks_[rank])) continue;
    if (ranks[hosts_[rank]].empty()) order.push_back(hosts_[rank]);
    ranks[hosts_[rank]].push_back(rank);
  }
  std::string text;
  for (const std::string& host : order) {
    const auto& those = ranks[host];
    text += fmt::format("{}{} (rank{} {})", text.empty() ? "" : ", ", host, those.size() > 1 ? "s" : "",
                        ranges_of(those));
  }
  return text;
}

std::string RemoteRanks::not_started() const {
  return listed([](const State& state) { return !state.started && !state.ended; });
}

std::string RemoteRanks::not_ended() const {
  return listed([](const State& state) { return !state.ended; });
}

std::vector<std::string> RemoteRanks::last_lines() const { return lines_; }

}  // namespace rmarun
