#include "channel/polling_set.hpp"

#include <algorithm>

namespace librma {

PollingSet::PollingSet(const Policy& policy)
    : policy_(policy),
      most_outside_(policy.most == 0 ? 0 : policy.round_messages / policy.promote_messages),
      members_(policy.most),
      records_(policy.most) {
  outside_.reserve(most_outside_);
}

void PollingSet::heard(int peer) {
  if (const std::optional<std::size_t> place = place_of(peer)) {
    // The peer is joining or leaving, or its ring is full. It is as busy as if the message had come by the
    // ring.
    ++records_[*place].arrived;
  } else if (const std::uint32_t heard = count_outside(peer);
             heard >= policy_.promote_messages && size_ < policy_.most) {
    offer(peer, heard);
  }
  end_message();
}

void PollingSet::used(std::size_t place) {
  ++records_[place].arrived;
  join(place);
  end_message();
}

std::optional<PollingSet::Decision> PollingSet::next() {
  if (undecided_ == 0) return std::nullopt;
  const auto record = std::ranges::find_if(records_, &Record::undecided);
  const auto place = static_cast<std::size_t>(record - records_.begin());
  record->undecided = false;
  --undecided_;
  const Member& member = members_[place];
  return Decision{.kind = member.state == State::leaving ? Decision::Kind::demote : Decision::Kind::promote,
                  .place = place,
                  .peer = member.peer};
}

void PollingSet::accepted(int peer) {
  const std::optional<std::size_t> place = place_of(peer);
  if (place) join(*place);
}

void PollingSet::removed(int peer) {
  const std::optional<std::size_t> place = place_of(peer);
  if (!place) return;
  if (records_[*place].undecided) --undecided_;
  members_[*place] = {};
  records_[*place] = {};
  --size_;
}

void PollingSet::demote(const std::function<bool(std::size_t)>& chosen) {
  for (std::size_t place = 0; place < members_.size(); ++place) {
    if (members_[place].state == State::out || !chosen(place)) continue;
    if (members_[place].state == State::in) demote(place);
    if (members_[place].state != State::offered) continue;
    if (records_[place].undecided) {
      removed(members_[place].peer);  // the peer has not been told of the offer
    } else {
      records_[place].unwanted = true;
    }
  }
  outside_.clear();
}

PollingSet::State PollingSet::state(int peer) const {
  const std::optional<std::size_t> place = place_of(peer);
  return place ? members_[*place].state : State::out;
}

std::optional<std::size_t> PollingSet::place_of(int peer) const {
  const auto member = std::ranges::find_if(
      members_, [peer](const Member& each) { return each.state != State::out && each.peer == peer; });
  if (member == members_.end()) return std::nullopt;
  return static_cast<std::size_t>(member - members_.begin());
}

/// Counts a message of a peer outside. Returns a lower bound of its messages in this round.
std::uint32_t PollingSet::count_outside(int peer) {
  const auto known = std::ranges::find(outside_, peer, &Count::peer);
  if (known != outside_.end()) return ++known->heard;
  if (outside_.size() < most_outside_) {
    outside_.push_back({.peer = peer, .heard = 1});
    return 1;
  }
  // This message and one of each peer in the table cancel each other. That can happen only as often as the
  // table's size plus one goes into the round's messages, which bounds the loss of any count.
  for (Count& count : outside_) --count.heard;
  std::erase_if(outside_, [](const Count& count) { return count.heard == 0; });
  return 0;
}

/// Gives the peer a free place. The caller has checked that there is one.
void PollingSet::offer(int peer, std::uint32_t heard) {
  std::erase_if(outside_, [peer](const Count& count) { return count.peer == peer; });
  const auto free = std::ranges::find(members_, State::out, &Member::state);
  *free = {.peer = peer, .state = State::offered};
  records_[static_cast<std::size_t>(free - members_.begin())] = {.undecided = true, .arrived = heard};
  ++undecided_;
  ++size_;
}

/// Records that the member uses its ring, if that was not known yet.
void PollingSet::join(std::size_t place) {
  if (members_[place].state != State::offered || records_[place].undecided) return;
  members_[place].state = State::in;
  if (records_[place].unwanted) demote(place);
}

/// Demotes a member in state `in`, so no other decision about it is pending.
void PollingSet::demote(std::size_t place) {
  members_[place].state = State::leaving;
  records_[place].undecided = true;
  ++undecided_;
}

void PollingSet::end_message() {
  if (++round_ < policy_.round_messages) return;
  make_room();
  outside_.clear();
  for (Record& record : records_) record.arrived = 0;
  round_ = 0;
}

/// Compares the members with the busiest peer that could not be promoted in this round, if there is one.
/// Called at the end of a round.
void PollingSet::make_room() {
  std::uint32_t busiest = 0;
  for (const Count& count : outside_) busiest = std::max(busiest, count.heard);
  const bool someone_waits = size_ == policy_.most && busiest >= policy_.promote_messages;

  std::size_t weakest = members_.size();
  bool one_leaves = false;
  for (std::size_t place = 0; place < members_.size(); ++place) {
    Record& record = records_[place];
    one_leaves = one_leaves || members_[place].state == State::leaving;
    if (members_[place].state != State::in) continue;
    if (someone_waits && record.arrived <= busiest / policy_.demote_factor) {
      record.weak = std::min(record.weak + 1, policy_.demote_rounds);
    } else if (record.arrived > 0) {
      record.weak = 0;
    }
    const bool weaker = weakest == members_.size() || record.weak > records_[weakest].weak ||
                        (record.weak == records_[weakest].weak && record.arrived < records_[weakest].arrived);
    if (weaker) weakest = place;
  }
  if (!someone_waits || one_leaves || weakest == members_.size()) return;
  if (records_[weakest].weak == policy_.demote_rounds) demote(weakest);
}

}  // namespace librma
