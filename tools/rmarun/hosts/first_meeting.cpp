#include "rmarun/hosts/first_meeting.hpp"

#include <algorithm>

#include "rmarun/hosts/meeting_words.hpp"
namespace rmarun {
namespace {

/// Words of a keeper that come sooner after others of it do not count.
constexpr auto kApart = std::chrono::milliseconds(500);

}  // namespace

void FirstMeeting::take(int rank, std::string_view words, Clock::time_point now) {
  const auto meets = meets_of(words);
  if (!meets || rank < 0 || static_cast<std::size_t>(rank) >= seats_.size()) return;
  Seat& seat = seats_[static_cast<std::size_t>(rank)];
  seat.meets = *meets;
  if (!seat.meets) {
    seat.said = 0;
  } else if (seat.said == 0 || now >= seat.last + kApart) {
    ++seat.said;
    seat.last = now;
  }
}

std::optional<Verdict> FirstMeeting::verdict(const RemoteRanks& ranks) {
  const auto waits = [](const Seat& seat) { return seat.meets; };
  if (std::ranges::none_of(seats_, waits)) return std::nullopt;
  std::optional<std::size_t> first_ended;
  std::size_t ended = 0;
  for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
    if (!ranks.succeeded(rank)) continue;
    if (!first_ended) first_ended = rank;
    ++ended;
  }
  if (ended != ended_) {
    ended_ = ended;
    for (Seat& seat : seats_) seat.said = 0;
  }
  if (!first_ended) return std::nullopt;
  for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
    if (ranks.runs(rank) && seats_[rank].meets && seats_[rank].said > 1)
      return never_joined_verdict(*first_ended, rank);
  }
  return std::nullopt;
}

}  // namespace rmarun
