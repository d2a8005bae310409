#include "rmarun/hang_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "rmarun/wait_graph.hpp"

namespace rmarun {
namespace {

constexpr std::size_t kMostCycles = 4;
constexpr std::size_t kMostNamed = 32;  ///< ranks of one cycle

/// A collective call of which some members have come.
struct Meeting {
  std::set<int> here;
  std::set<int> missing;  ///< awaited by those who are here
  bool more = false;      ///< there may be others
};
using Meetings = std::map<std::uint64_t, Meeting>;

Meetings find_meetings(const std::vector<RankState>& ranks) {
  Meetings meetings;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].process == RankState::Process::ended) continue;  // whatever it has said before
    for (const RankWait& wait : ranks[rank].waits) {
      if (wait.meeting == 0) continue;
      Meeting& meeting = meetings[wait.meeting];
      meeting.here.insert(static_cast<int>(rank));
      meeting.missing.insert(wait.ranks.begin(), wait.ranks.end());
      meeting.more = meeting.more || wait.more;
    }
  }
  for (auto& [number, meeting] : meetings) {
    std::erase_if(meeting.missing, [&here = meeting.here](int rank) { return here.contains(rank); });
  }
  return meetings;
}

/// A wait for members of a meeting is one for those who have not come, because the others wait themselves.
WaitGraph graph_of(const std::vector<RankState>& ranks, const Meetings& meetings) {
  WaitGraph graph;
  graph.ranks.resize(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    graph.ranks[rank].ended = ranks[rank].process == RankState::Process::ended;
    if (graph.ranks[rank].ended) continue;
    for (const RankWait& wait : ranks[rank].waits) {
      WaitGraph::Wait edge = {.ranks = {}, .any = wait.any};
      const auto add = [&](int awaited) {
        if (awaited >= 0 && static_cast<std::size_t>(awaited) < ranks.size())
          edge.ranks.push_back(static_cast<std::size_t>(awaited));
      };
      if (wait.meeting != 0) {
        std::ranges::for_each(meetings.at(wait.meeting).missing, add);
      } else if (!(wait.any && wait.more)) {
        std::ranges::for_each(wait.ranks, add);
      }
      graph.ranks[rank].waits.push_back(std::move(edge));
    }
  }
  return graph;
}

std::string duration(double seconds) {
  constexpr double kTenths = 10;
  constexpr double kMinutes = 180;
  if (seconds < kTenths) return fmt::format("{:.1f} s", seconds);
  if (seconds < kMinutes) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min", seconds / 60);
}

/// The ranks that wait for the same.
struct Group {
  std::vector<int> ranks;
  double shortest = 0;
  double longest = 0;
};

std::string line_of(const RankWait& wait, const Group& group, const Meetings& meetings) {
  std::string line = fmt::format("{}: {}", name_ranks(group.ranks), wait.call);
  if (!wait.about.empty()) {
    const bool goes_on = wait.meeting == 0 || wait.about.starts_with("for ");
    line += fmt::format("{}{}", goes_on ? " " : ", ", wait.about);
  }
  const std::string shortest = duration(group.shortest);
  const std::string longest = duration(group.longest);
  line += shortest == longest ? ", " + longest : fmt::format(", {} to {}", shortest, longest);
  if (wait.meeting == 0) return line;
  const Meeting& meeting = meetings.at(wait.meeting);
  const std::vector<int> missing(meeting.missing.begin(), meeting.missing.end());
  if (!missing.empty()) {
    line += fmt::format("; {}{} not come", name_ranks(missing), missing.size() == 1 ? " has" : " have");
    if (meeting.more) line += ", and perhaps others";
  }
  return line;
}

std::string_view without_wait(RankState::Process process) {
  switch (process) {
    case RankState::Process::computes:
      return "not waiting in librma: it computes";
    case RankState::Process::stopped:
      return "stopped by a signal";
    case RankState::Process::ended:
      return "has ended";
    case RankState::Process::absent:
      return "has not started";
    case RankState::Process::unknown:
      return "its host does not answer";
    default:
      return "not waiting in librma";
  }
}

std::string name_cycle(const std::vector<std::size_t>& cycle) {
  std::string text = "cycle: ";
  const std::size_t named = std::min(cycle.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    text += fmt::format("{}rank {} waits for rank {}", i == 0 ? "" : ", ", cycle[i],
                        cycle[(i + 1) % cycle.size()]);
  }
  if (named < cycle.size()) text += fmt::format(", and so on through {} ranks", cycle.size());
  return text;
}

}  // namespace

std::string name_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (i != 0) text += ",";
    // Two neighbours are listed.
    if (end - i > 2) {
      text += fmt::format("{}-{}", ranks[i], ranks[end - 1]);
    } else {
      text += fmt::format("{}", fmt::join(ranks.begin() + static_cast<std::ptrdiff_t>(i),
                                          ranks.begin() + static_cast<std::ptrdiff_t>(end), ","));
    }
    i = end;
  }
  return text;
}

std::vector<std::string> explain_hang(const std::vector<RankState>& ranks) {
  using Key = std::tuple<std::string_view, std::string_view, std::uint64_t>;
  const Meetings meetings = find_meetings(ranks);
  std::map<Key, std::pair<const RankWait*, Group>> groups;
  std::map<RankState::Process, std::vector<int>> others;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const bool waits = !ranks[rank].waits.empty() && ranks[rank].process != RankState::Process::ended;
    if (!waits) others[ranks[rank].process].push_back(static_cast<int>(rank));
    for (const RankWait& wait : ranks[rank].waits) {
      if (!waits) break;
      auto& [first, group] = groups[{wait.call, wait.about, wait.meeting}];
      if (first == nullptr) {
        first = &wait;
        group.shortest = wait.seconds;
      }
      const int number = static_cast<int>(rank);
      if (group.ranks.empty() || group.ranks.back() != number) group.ranks.push_back(number);
      group.shortest = std::min(group.shortest, wait.seconds);
      group.longest = std::max(group.longest, wait.seconds);
    }
  }
  std::vector<std::pair<int, std::string>> lines;  // by first rank
  lines.reserve(groups.size() + others.size());
  for (const auto& [key, found] : groups) {
    lines.emplace_back(found.second.ranks.front(), line_of(*found.first, found.second, meetings));
  }
  for (const auto& [process, which] : others) {
    lines.emplace_back(which.front(), fmt::format("{}: {}", name_ranks(which), without_wait(process)));
  }
  std::ranges::sort(lines);
  std::vector<std::string> text;
  text.reserve(lines.size() + kMostCycles);
  for (auto& [first, line] : lines) text.push_back(std::move(line));
  const WaitGraph graph = graph_of(ranks, meetings);
  for (const auto& cycle : find_cycles(graph, find_stuck(graph), kMostCycles))
    text.push_back(name_cycle(cycle));
  return text;
}

}  // namespace rmarun
