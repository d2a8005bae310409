#include "collectives/point_to_point.hpp"

#include <fmt/format.h>

#include <chrono>
#include <new>

#include "collectives/failure_word.hpp"

namespace rma {
namespace {

/// Values of PointToPointBlock::Channel::left. They say whether the sender, and all members of whose part()
/// it knows, found the team usable.
constexpr std::uint64_t kLeftUsable = 1;
constexpr std::uint64_t kLeftFailed = 2;

/// Reads a word that another process writes. The acquire pairs with the release in TeamTransport::put. The
/// cast is needed because std::atomic_ref of C++20 takes no const.
std::uint64_t read(const std::uint64_t& word) {
  return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

constexpr std::size_t word_at(std::size_t array, std::uint64_t number) {
  return array + number % 2 * sizeof(std::uint64_t);
}

}  // namespace

void PointToPointBlock::make(std::byte* memory, int members) {
  new (memory) PointToPointBlock();
  for (std::size_t i = 0; i < channels(members); ++i) new (memory + channel_at(i)) Channel();
}

PointToPoint::PointToPoint(std::byte* memory, int member, int members, int rank, TeamTransport& transport)
    : memory_(memory),
      member_(member),
      members_(members),
      distances_(PointToPointBlock::distances(members)),
      rank_(rank),
      transport_(transport),
      progress_(PointToPointBlock::channels(members)) {}

int PointToPoint::partner(int k, Direction direction) const {
  const int distance = 1 << k;
  return (member_ + (direction == Direction::up ? distance : members_ - distance)) % members_;
}

Result<std::uintptr_t> PointToPoint::block(int k, Direction direction) {
  Progress& progress = progress_[index(k, direction)];
  if (progress.to == 0) {
    auto found = transport_.block(partner(k, direction));
    if (!found.ok()) return found;
    progress.to = found.value();
  }
  return progress.to;
}

const PointToPointBlock::Channel& PointToPoint::channel(std::size_t index) const {
  return *std::launder(
      reinterpret_cast<const PointToPointBlock::Channel*>(memory_ + PointToPointBlock::channel_at(index)));
}

std::uint64_t PointToPoint::failure_word() const {
  return read(std::launder(reinterpret_cast<const PointToPointBlock*>(memory_))->failure);
}

Status PointToPoint::put(int k, Direction direction, std::size_t to, const void* data, std::size_t bytes,
                         std::size_t flag, std::uint64_t value) {
  auto base = block(k, direction);
  if (!base.ok()) return std::move(base).status();
  return transport_.put(partner(k, direction), base.value() + to, data, bytes, base.value() + flag, value);
}

template <typename Condition>
Status PointToPoint::wait(int member, const Condition& condition) {
  Status status;
  std::uint64_t looks = 0;
  std::chrono::steady_clock::time_point asked;
  const std::uint64_t soon = transport_.wait_policy().spins + transport_.wait_policy().yields;
  wait_until(
      transport_.doorbell(), transport_.wait_policy(),
      [&] {
        if (condition()) return true;
        if (failure_word() != 0) {
          status = failed();
          return true;
        }
        // Probes a silent partner, but not before this thread sleeps.
        if (looks++ < soon) return false;
        const auto now = std::chrono::steady_clock::now();
        if (looks == soon + 1) asked = now;
        if (now - asked < transport_.patience(member)) return false;
        status = transport_.check(member);
        asked = std::chrono::steady_clock::now();
        return !status.ok();
      },
      Waker::sometimes);
  return status;
}

Status PointToPoint::wait(const std::uint64_t& word, std::uint64_t value, int member) {
  return wait(member, [&] { return read(word) == value; });
}

Status PointToPoint::send(int k, Direction direction, const void* data, std::size_t bytes) {
  if (broken_) return failed();
  const std::size_t at = index(k, direction);
  Progress& progress = progress_[at];
  const std::uint64_t number = progress.sent + 1;
  if (number > 2) {
    Status free = wait(channel(at).taken[number % 2], number - 2, partner(k, direction));
    if (!free.ok()) return fail(std::move(free));
  }
  Status sent =
      put(k, direction, PointToPointBlock::slot_at(members_, at, number % 2), data, bytes,
          word_at(PointToPointBlock::channel_at(at) + offsetof(PointToPointBlock::Channel, arrived), number),
          number);
  if (!sent.ok()) return fail(std::move(sent));
  progress.sent = number;
  return {};
}

Status PointToPoint::receive(int k, Direction direction, const std::byte** data) {
  if (broken_) return failed();
  const std::size_t at = index(k, direction);
  const std::uint64_t number = progress_[at].received + 1;
  const Direction back = direction == Direction::up ? Direction::down : Direction::up;
  Status here = wait(channel(at).arrived[number % 2], number, partner(k, back));
  if (!here.ok()) return fail(std::move(here));
  *data = memory_ + PointToPointBlock::slot_at(members_, at, number % 2);
  return {};
}

Status PointToPoint::done(int k, Direction direction) {
  const std::size_t at = index(k, direction);
  const std::uint64_t number = ++progress_[at].received;
  const Direction back = direction == Direction::up ? Direction::down : Direction::up;
  Status told =
      put(k, back, 0, nullptr, 0,
          word_at(PointToPointBlock::channel_at(at) + offsetof(PointToPointBlock::Channel, taken), number),
          number);
  return told.ok() ? Status() : fail(std::move(told));
}

Status PointToPoint::meet() {
  if (broken_) return failed();
  // A dissemination barrier: after step k this member knows that the 2^(k+1) - 1 members behind it have come.
  // No member acknowledges a word. Barriers b and b + 2 use the same words. A member that comes to barrier b
  // + 2 has left b + 1, and all members came to b + 1 after they had left b. So the words of b have been read
  // before they are written again.
  const std::uint64_t number = ++met_;
  for (int k = 0; k < distances_; ++k) {
    const std::size_t at = index(k, Direction::up);
    Status status =
        put(k, Direction::up, 0, nullptr, 0,
            word_at(PointToPointBlock::channel_at(at) + offsetof(PointToPointBlock::Channel, met), number),
            number);
    if (status.ok()) status = wait(channel(at).met[number % 2], number, partner(k, Direction::down));
    if (!status.ok()) return fail(std::move(status));
  }
  return {};
}

Status PointToPoint::part() {
  // A barrier with words of its own. Every member goes through all steps and passes on what it has found,
  // even after a failure, so that no member is left waiting. It never reports a failure by
  // PointToPointBlock::failure.
  //
  // If it succeeds for this member, no member writes into this member's block any more:
  //  - Messages: this member has received all of them, because all collectives are complete here.
  //  - Words of barriers, and of this one: this member has waited for each.
  //  - `taken`: this member waits below until each message that it sent has been taken.
  //  - `failure`: this member has learned, through the members of the barrier, that every member has come
  //    here while the team had not failed for it. A member that has come here does not write `failure` any
  //    more.
  Status status = broken_ || failure_word() != 0 ? failed() : Status();
  for (int k = 0; k < distances_; ++k) {
    const std::size_t at = index(k, Direction::up);
    Status told = put(k, Direction::up, 0, nullptr, 0,
                      PointToPointBlock::channel_at(at) + offsetof(PointToPointBlock::Channel, left),
                      status.ok() ? kLeftUsable : kLeftFailed);
    if (status.ok()) status = std::move(told);
    if (!status.ok()) continue;
    const std::uint64_t& left = channel(at).left;
    status = wait(partner(k, Direction::down), [&] { return read(left) != 0; });
    if (status.ok() && read(left) == kLeftFailed) {
      status = {RMA_ERR_PEER_LOST, "another member of this team found one of its members lost"};
    }
  }
  for (std::size_t at = 0; at < progress_.size(); ++at) {
    const std::uint64_t last = progress_[at].sent;
    const int receiver = partner(static_cast<int>(at / 2), static_cast<Direction>(at % 2));
    for (std::uint64_t number = last > 1 ? last - 1 : 1; number <= last && status.ok(); ++number) {
      status = wait(channel(at).taken[number % 2], number, receiver);
    }
  }
  return status;
}

Status PointToPoint::fail(Status reason) {
  if (broken_) return reason;
  broken_ = true;
  std::atomic_ref<std::uint64_t> own(std::launder(reinterpret_cast<PointToPointBlock*>(memory_))->failure);
  std::uint64_t word = 0;
  // Relaxed is enough: the word itself is all the information.
  if (own.compare_exchange_strong(word, FailureWord{.code = reason.code(), .rank = rank_}.word(),
                                  std::memory_order_relaxed)) {
    word = own.load(std::memory_order_relaxed);
  }
  for (int k = 0; k < distances_; ++k) {
    for (const Direction direction : {Direction::up, Direction::down}) {
      // If this member cannot tell a partner, others tell it, or it has ended.
      static_cast<void>(put(k, direction, 0, nullptr, 0, offsetof(PointToPointBlock, failure), word).ok());
    }
  }
  return reason;
}

Status PointToPoint::failed() {
  const FailureWord failure = FailureWord::of(failure_word());
  return {failure.code,
          fmt::format(
              "rank {} found a member of this team lost, so the team is of no more use: free it, and make "
              "one of the ranks that are left",
              failure.rank)};
}

}  // namespace rma
