#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../unit/forked.hpp"

// How the ranks of a job find each other that a test forks itself: in memory that they share. No launcher
// ends such a job when a rank ends.

inline constexpr int kMostRanks = 5;

/// Memory that the processes of a job share: room for each one's data, and a barrier.
struct Meeting {
  std::atomic<std::uint32_t> arrived = 0;
  std::atomic<std::uint32_t> met = 0;
  std::array<std::byte, kMostRanks* 4096> parts = {};
};

/// One rank's view of it.
struct Member {
  Meeting* meeting;
  int rank;
  int size;
};

inline int barrier(void* context) {
  const Member& member = *static_cast<Member*>(context);
  Meeting& meeting = *member.meeting;
  const std::uint32_t round = meeting.met.load(std::memory_order_acquire);
  if (meeting.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      static_cast<std::uint32_t>(member.size)) {
    meeting.arrived.store(0, std::memory_order_relaxed);
    meeting.met.store(round + 1, std::memory_order_release);
  }
  while (meeting.met.load(std::memory_order_acquire) == round) sched_yield();
  return 0;
}

inline int allgather(void* context, const void* mine, void* all, std::size_t bytes) {
  const Member& member = *static_cast<Member*>(context);
  std::byte* const parts = member.meeting->parts.data();
  const auto size = static_cast<std::size_t>(member.size);
  if (bytes * size > member.meeting->parts.size()) return 1;
  std::memcpy(parts + static_cast<std::size_t>(member.rank) * bytes, mine, bytes);
  barrier(context);
  std::memcpy(all, parts, bytes * size);
  return barrier(context);
}
