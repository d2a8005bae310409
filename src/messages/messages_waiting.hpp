#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "messages/messages.hpp"

// How a thread of the program waits in Messages.

namespace librma {

/// Where some ranks are reached by rings and some by the network, every poll of this number asks the network
/// too. It takes as long as some dozens of looks into the rings.
inline constexpr std::uint64_t kPollsBesideNetwork = 8;

/// Where no other rank is reached by rings, a thread polls so many times longer than usual, because most
/// likely the other rank has only lost its processor for a moment: a thread that yields or sleeps then comes
/// back when that rank has gone again. After a wait that was longer still, this many waits are usual ones:
/// twice as many each time, up to kMostUsualWaits.
inline constexpr std::uint64_t kPatience = 16;
inline constexpr std::uint32_t kMostUsualWaits = 64;

// Polls without a pause would have several loads of the line under way at once. On processors that are far
// apart these delay the sender's store by a third of the time of a message.
template <typename Condition>
bool Messages::poll_until(const Condition& condition) {
  const std::uint64_t beside = another_by_ring_ ? kPollsBesideNetwork : 1;
  const std::uint64_t polls = all_by_ring_ ? kPollsOfRings : beside;
  const std::uint64_t yields = all_by_ring_ ? kYieldsOfRings : 1;
  const std::uint64_t usual = job_.wait_policy().spins;
  const std::uint32_t left = usual_waits_.load(std::memory_order_relaxed);
  const bool patient = !another_by_ring_ && left == 0;
  if (left != 0) usual_waits_.store(left - 1, std::memory_order_relaxed);
  const std::uint64_t most = patient ? kPatience * usual : usual;
  PollClock clock(most);
  for (std::uint64_t i = 0; i < most; ++i) {
    if (condition()) {
      if (patient) lost_patience_.store(0, std::memory_order_relaxed);
      return true;
    }
    if (!arrivals_.poll_rings()) pause_processor();
    if (i % polls == polls - 1) pending_.engine().progress();
    if (clock.passed(i)) break;
  }
  if (patient) {
    const std::uint32_t before = lost_patience_.load(std::memory_order_relaxed);
    const std::uint32_t next = std::clamp(2 * before, 1U, kMostUsualWaits);
    lost_patience_.store(next, std::memory_order_relaxed);
    usual_waits_.store(next, std::memory_order_relaxed);
  }
  for (std::uint64_t i = 0; i < job_.wait_policy().yields; ++i) {
    if (condition()) return true;
    const bool everywhere = i % yields == yields - 1;
    if (everywhere ? pending_.engine().progress() : arrivals_.poll_rings()) continue;
    if (!yield_processor()) break;
  }
  return false;
}

template <typename Condition, typename Describe>
void Messages::wait_until(const Condition& condition, const Describe& describe) {
  bool holds = poll_until(condition);
  while (!holds) {
    connect_wanted();
    pending_.engine().wait_until(
        ProgressEngine::kNoRank,
        [&] {
          holds = condition();
          return holds || connection_wanted();
        },
        describe);
  }
}

}  // namespace librma
