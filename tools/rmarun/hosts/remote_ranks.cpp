#include "rmarun/hosts/remote_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "rmarun/exit_codes.hpp"
#include "rmarun/processes.hpp"

namespace rmarun {
namespace {

/// Ends of connections that are kept. Each host has a few.
constexpr std::size_t kMostEnds = 100'000;

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
  int met = 0;
  if (kind == "signal") from >> core;
  from >> asked >> met;
  state.met = met != 0;
  state.succeeded = kind == "exit" && number == 0;
  ends_ranks_ = ends_ranks_ || asked != 0;
  if (!state.succeeded && asked == 0) take_end(index, kind, static_cast<int>(number), core != 0);
  return "";
}

void RemoteRanks::take_end(std::size_t rank, std::string_view kind, int number, bool core_dumped) {
  if (kind == "signal" && number > 0 && number < NSIG) {
    fail(rank, number != SIGABRT, kExitSignal + number,
         fmt::format("was killed by {}{}", describe_signal(number), core_dumped ? ", core dumped" : ""));
    return;
  }
  const bool first = !failure_;
  fail(rank, false, number & 0xff, fmt::format("exited with code {}", number));
  if (first) failure_->code = number;
}

void RemoteRanks::fail(std::size_t rank, bool by_signal, int exit_code, std::string_view how) {
  if (failure_ && (failure_->by_signal || !by_signal)) return;
  failure_ = Failure{
      by_signal,
      {exit_code == 0 ? kExitFailure : exit_code,
       fmt::format("rank {} (pid {} on {}) {}; ending the job", rank, ranks_[rank].pid, hosts_[rank], how)},
      rank};
}

void RemoteRanks::take_engine_text(std::string_view text) { understand(text_.take(text)); }

void RemoteRanks::end_engine_text() { understand(text_.end()); }

void RemoteRanks::understand(const std::vector<EngineSentence>& sentences) {
  for (const EngineSentence& said : sentences) {
    const auto rank = static_cast<std::size_t>(said.rank);
    const bool names_rank = said.rank >= 0 && rank < ranks_.size();
    switch (said.kind) {
      case EngineSentence::Kind::kLostDaemon: {
        const auto known = hosts_of_names_.find(said.host);
        note_lost(known == hosts_of_names_.end() ? said.host : known->second);
        break;
      }
      case EngineSentence::Kind::kKilled:
        if (names_rank && !ranks_[rank].ended) {
          fail(rank, true, kExitSignal + said.signal,
               fmt::format("was lost: its keeper was killed by {}", describe_signal(said.signal)));
        }
        break;
      case EngineSentence::Kind::kGoneInJob:
        if (names_rank && !gone_) gone_ = rank;
        break;
      case EngineSentence::Kind::kFailedByCode:
        said_code_ = true;
        break;
    }
  }
}

bool RemoteRanks::note_silence(const std::string& there) {
  const auto host = hosts_of_ends_.find(there);
  if (host == hosts_of_ends_.end()) return false;
  note_lost(host->second);
  return true;
}

void RemoteRanks::note_lost(const std::string& host) {
  if (std::ranges::find(lost_hosts_, host) == lost_hosts_.end()) lost_hosts_.push_back(host);
}

std::optional<std::string> RemoteRanks::lost_before_start() const {
  if (lost_hosts_.empty()) return std::nullopt;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (hosts_[rank] == lost_hosts_.front() && ranks_[rank].started) return std::nullopt;
  }
  return lost_hosts_.front();
}

std::set<std::string> RemoteRanks::hosts_without_start() const {
  std::set<std::string> hosts(hosts_.begin(), hosts_.end());
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (ranks_[rank].started) hosts.erase(hosts_[rank]);
  }
  return hosts;
}

Verdict RemoteRanks::cause() const {
  if (lost_hosts_.empty()) {
    if (!lacks_words() || !engine_has_ended_) return failure_->verdict;
    // A rank that misses another one ends in consequence, and with a code of its own.
    if (auto verdict = verdict_on_gone()) return *std::move(verdict);
    return abort_verdict({.rank = static_cast<int>(failure_->rank), .code = *failure_->code});
  }
  const std::string& host = lost_hosts_.front();
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (hosts_[rank] == host) ranks.push_back(rank);
  }
  const std::string which =
      ranks.empty() ? "" : fmt::format(" (rank{} {})", ranks.size() > 1 ? "s" : "", ranges_of(ranks));
  return {kExitFailure, fmt::format("host {} was lost{}; ending the job", host, which)};
}

std::optional<Verdict> RemoteRanks::verdict_on_gone() const {
  if (!gone_ || !ranks_[*gone_].succeeded) return std::nullopt;
  const auto waiting = std::ranges::find_if(ranks_, &State::met);
  if (waiting != ranks_.end())
    return never_joined_verdict(*gone_, static_cast<std::size_t>(waiting - ranks_.begin()));
  return lost_verdict(*gone_, fmt::format("pid {} on {}", ranks_[*gone_].pid, hosts_[*gone_]));
}

std::optional<Verdict> RemoteRanks::cause_with_code_0() const {
  if (auto verdict = verdict_on_gone()) return verdict;
  const bool aborted = expects_words_ && ends_ranks_ && !gone_ && text_.last_lines().empty() &&
                       std::ranges::any_of(ranks_, &State::succeeded);
  return aborted ? std::optional(Verdict()) : std::nullopt;
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
}  // namespace rmarun
