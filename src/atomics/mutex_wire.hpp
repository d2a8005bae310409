#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "helper_thread/rpc_server.hpp"

// The requests for mutexes of other hosts and their answers. They are wire formats.

namespace librma {

/// The body of the requests lock, unlock, poke and holder, and the beginning of that of leave.
struct MutexRequest {
  std::uint64_t address = 0;
  std::uint64_t who = 0;  ///< the rank that asks, plus 1, in the upper half
  std::uint64_t id = 0;   ///< lock: the id of the wait, which the later message *locked* repeats
};
struct LockAnswer {
  std::uint32_t granted = 0;  ///< 1: the rank holds the mutex now
  std::uint32_t ticket = 0;
};
struct LockedMessage {
  std::uint64_t id = 0;
};

/// The answer to the request holder: how the mutex stands at its owner.
struct HolderAnswer {
  std::uint64_t holder = 0;   ///< TicketMutex::holder
  std::uint32_t serving = 0;  ///< TicketMutex::serving
  std::uint32_t ended = 0;    ///< 1: the holder has ended; if it is 0, a process of the owner's host has
};

/// A rank waits no more with this ticket, because it finds the holder lost.
struct LeaveRequest {
  MutexRequest mutex;
  std::uint64_t holder = 0;   ///< as the rank knows it; a rank of the owner's host need not say it
  std::uint32_t serving = 0;  ///< the same
  std::uint32_t ticket = 0;
};
struct LeaveAnswer {
  std::uint32_t left = 0;  ///< 0: the rank goes on waiting, because the mutex has moved on
  std::uint32_t reserved = 0;
};

inline const MutexRequest& mutex_of(const MutexRequest& request) { return request; }
inline const MutexRequest& mutex_of(const LeaveRequest& request) { return request.mutex; }

/// Reads a request. Returns false if no honest rank sends it, or leaves no room for the answer.
template <typename Wire>
[[nodiscard]] bool read_request(const Served& served, Wire& wanted, std::size_t answer_bytes) {
  if (served.body.size() != sizeof wanted || served.room.size() < answer_bytes) return false;
  std::memcpy(&wanted, served.body.data(), sizeof wanted);
  return mutex_of(wanted).who >> 32U == static_cast<std::uint64_t>(served.asker.rank) + 1;
}

}  // namespace librma
