#include "rmarun/hosts/remote_waits.hpp"

#include <fmt/format.h>

#include <cstring>
#include <sstream>

namespace rmarun {
namespace {

/// How long one round of answers may take. Slurm's scancel alone takes a second on a busy cluster.
constexpr auto kRound = std::chrono::seconds(2);

}  // namespace

std::string words_of(const WaitsAnswer& answer) {
  std::string words = fmt::format("{} {} {} {}\n", kWaitsWord, answer.question,
                                  static_cast<int>(answer.process), answer.time);
  for (std::size_t slot = 0; slot < answer.records.size(); ++slot) {
    const auto& record = answer.records[slot];
    if (!record || record->thread == 0) continue;
    words += static_cast<char>('0' + slot);
    words.append(reinterpret_cast<const char*>(&*record), sizeof *record);
  }
  return words;
}

std::optional<WaitsAnswer> waits_answer_of(std::string_view words) {
  const auto end = words.find('\n');
  std::istringstream head{std::string(words.substr(0, end))};
  WaitsAnswer answer;
  std::string kind;
  int process = 0;
  if (end == words.npos || !(head >> kind >> answer.question >> process >> answer.time) ||
      kind != kWaitsWord || process < 0 || process > static_cast<int>(RankState::Process::ended) ||
      answer.time < 0)
    return std::nullopt;
  answer.process = static_cast<RankState::Process>(process);
  constexpr std::size_t kRecord = 1 + sizeof(librma::WaitRecord);
  for (words.remove_prefix(end + 1); words.size() >= kRecord; words.remove_prefix(kRecord)) {
    const auto slot = static_cast<std::size_t>(words[0] - '0');
    if (slot >= answer.records.size()) return std::nullopt;
    std::memcpy(&answer.records[slot].emplace(), words.data() + 1, sizeof(librma::WaitRecord));
  }
  return answer;
}

void RemoteWaits::begin(Clock::time_point now) {
  if (under_way()) return;
  round_ = Round::wanted;
  round_end_ = now;
  for (Seat& seat : seats_) seat = {};
}

void RemoteWaits::take(int rank, std::string_view words) {
  auto answer = waits_answer_of(words);
  if (!answer || rank < 0 || static_cast<std::size_t>(rank) >= seats_.size()) return;
  Seat& seat = seats_[static_cast<std::size_t>(rank)];
  if (round_ == Round::first && !seat.first) {
    seat.first = *answer;
  } else if (round_ == Round::second && seat.first && answer->question > seat.first->question) {
    // An answer to the first question, which may have come late, says nothing of the time after it.
    seat.second = *answer;
  }
}

bool RemoteWaits::all_have_answered(const RemoteRanks& ranks) const {
  for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
    const Seat& seat = seats_[rank];
    const bool answered = round_ == Round::first ? seat.first.has_value() : seat.second.has_value();
    if (!answered && ranks.runs(rank)) return false;
  }
  return true;
}

RemoteWaits::Step RemoteWaits::step(const RemoteRanks& ranks, Clock::time_point now) {
  if (!under_way()) return Step::wait;
  if (round_ != Round::wanted && now < *round_end_ && !all_have_answered(ranks)) return Step::wait;
  if (round_ == Round::second) {
    round_ = Round::none;
    round_end_.reset();
    return Step::report;
  }
  round_ = round_ == Round::wanted ? Round::first : Round::second;
  round_end_ = now + kRound;
  return Step::ask;
}

std::vector<RankState> RemoteWaits::states(const RemoteRanks& ranks) const {
  std::vector<RankState> states(seats_.size());
  for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
    const auto& [first, second] = seats_[rank];
    if (!ranks.runs(rank)) {
      states[rank].process = ranks.has_started(rank) ? RankState::Process::ended : RankState::Process::absent;
    } else if (!first || !second) {
      states[rank].process = RankState::Process::unknown;
    } else {
      states[rank] = {second->process,
                      lasting_waits(first->records, second->records, second->time, seats_.size())};
    }
  }
  return states;
}

}  // namespace rmarun
