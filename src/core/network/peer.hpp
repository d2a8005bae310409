#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/network/remote_memory.hpp"
#include "fabric/rail_match.hpp"

namespace librma {

/// The network's state of one rank. The class that a comment names writes the members below it. The others
/// read them.
struct NetworkPeer {
  int rank = -1;

  // ConnectionManager writes these. They describe the rails to the rank.
  std::mutex lock;                  ///< held to connect a rail and to change the primary rail
  std::atomic<bool> ready = false;  ///< everything up to `memory` is filled in, one rail is connected
  std::vector<std::vector<std::byte>> cards;  ///< per rail of this process; empty if the rank has no match
  RailMatch match;
  std::uint32_t unmatched = 0;  ///< rails without a match at the rank, as bits
  std::unique_ptr<RemoteMemory> memory;
  std::atomic<std::uint32_t> connected = 0;  ///< rails, as bits
  std::atomic<std::uint32_t> dead = 0;       ///< rails that failed or have no match, as bits
  std::atomic<std::size_t> primary_rail = 0;
  std::atomic<std::size_t> next_rail = 0;  ///< the rail for the next fragment of a divided transfer

  // Posting and Completions write these. They describe puts whose call has returned.
  std::atomic<std::uint32_t> unacknowledged = 0;  ///< fragments of such puts that are under way
  std::atomic<bool> unsignaled = false;           ///< unsignaled puts may be under way
  std::atomic<bool> unsignaled_to_user = false;   ///< one went to memory that the rank's user has registered

  // RequestOrder writes this: the number of requests by messages whose call has returned.
  std::atomic<std::uint32_t> unacknowledged_requests = 0;

  /// Returns whether a rail has failed.
  [[nodiscard]] bool failed() const { return (dead.load(std::memory_order_acquire) & ~unmatched) != 0; }
  /// Returns whether `rail` is connected and has not failed. The loads pair with the changes of
  /// ConnectionManager.
  [[nodiscard]] bool alive(std::size_t rail) const {
    const std::uint32_t bit = 1U << rail;
    return (connected.load(std::memory_order_acquire) & bit) != 0 &&
           (dead.load(std::memory_order_acquire) & bit) == 0;
  }
};

}  // namespace librma
