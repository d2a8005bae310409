#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "atomics/mutex_wire.hpp"
#include "atomics/mutexes.hpp"
#include "channel/channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "core/network/network.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"

namespace librma {

/// The mutexes of ranks that are not mapped here, and this process's own mutexes for such ranks.
///
/// The owner's helper draws a ticket for the rank that asks, and remembers it as a waiter. When the ticket's
/// turn has come, the helper sends *locked* to the rank, so that no rank asks twice. An unlock on the owner's
/// host that finds such waiters (TicketMutex::remote) pokes the owner's helper, which serves the next of
/// them.
///
/// Nobody tells a waiter when the holder dies on a third host. So a waiter looks after the holder itself:
/// four times in RMA_PEER_TIMEOUT it asks the owner's helper who holds the mutex, and that rank's device for
/// a sign of life (lost_holders.cpp). A waiter that finds the holder lost takes its ticket out of the line
/// first, because the holder may only be unreachable from there, and unlock the mutex later. Thread-safe.
class RemoteMutexes {
 public:
  /// The kind of the message *locked* (MessageHeader::kind).
  static constexpr std::uint16_t kLockedMessage = 8;
  /// Returns whether the process of this host has ended that is the `holder` (TicketMutex::holder), or if
  /// that is 0, whether any process of this host has ended. Does not wait.
  using Ended = std::function<bool(std::uint64_t holder)>;

  /// Registers handlers with `channel` and `server`. The arguments outlive this.
  RemoteMutexes(int rank, int ranks, const Settings& settings, PendingOperations& pending, Network& network,
                Channel& channel, RpcClient& client, RpcServer& server, Ended ended);

  /// add() lets other ranks ask for `count` mutexes of this process from `mutexes` on. remove() ends this.
  void add(TicketMutex* mutexes, std::size_t count);
  void remove(TicketMutex* mutexes);

  /// Locks and unlocks the mutex at `address` of `rank` for `who`. RMA_ERR_PEER_LOST if `rank` is lost, or a
  /// rank that holds the mutex; RMA_ERR_STATE if `who` does not hold it; RMA_ERR_ADDRESS if there is no
  /// mutex.
  [[nodiscard]] Status lock(std::uintptr_t address, int rank, std::uint64_t who);
  [[nodiscard]] Status unlock(std::uintptr_t address, int rank, std::uint64_t who);
  /// Tells the helper of `rank` that its mutex was unlocked, because ranks of other hosts may wait for it.
  [[nodiscard]] Status poke(std::uintptr_t address, int rank);

  /// Returns RMA_ERR_PEER_LOST if `rank`, which may be of another host, has ended or does not answer. Waits
  /// for its answer.
  [[nodiscard]] Status look_after(int rank) { return network_.probe(rank); }
  /// The time between two looks of a waiter.
  [[nodiscard]] std::chrono::milliseconds look_every() const { return patience_ / 4; }
  /// Leaves a ticket of a mutex of `rank`, which is of this host, to the rank's helper: nobody waits with it
  /// any more.
  [[nodiscard]] Status leave(std::uintptr_t address, int rank, std::uint32_t ticket);

 private:
  struct Waiter {
    std::uint32_t ticket = 0;
    int rank = -1;
    std::size_t rail = 0;
    std::uint64_t id = 0;  ///< the waiter's own number
    std::uint64_t who = 0;
    bool left = false;  ///< nobody waits with the ticket
  };
  /// The wait of a thread of this process.
  struct Wait {
    int rank = -1;
    MutexRequest request = {};
    std::uint32_t ticket = 0;
    HolderAnswer seen = {};  ///< the last
    std::atomic<rma_status_t> status = RMA_SUCCESS;
    std::atomic<bool> over = false;
  };

  [[nodiscard]] Answer serve_lock(const Served& request);
  [[nodiscard]] Answer serve_unlock(const Served& request);
  [[nodiscard]] Answer serve_poke(const Served& request);
  [[nodiscard]] Answer serve_holder(const Served& request);
  [[nodiscard]] Answer serve_leave(const Served& request);
  [[nodiscard]] bool locked(const Message& message);
  void lost(int rank);
  /// Returns this process's mutex at an address that another rank sent, or null if there is none. The caller
  /// of this function and the next holds lock_.
  [[nodiscard]] TicketMutex* find(std::uintptr_t address) const;
  /// Sends *locked* to the rank whose turn has come.
  void serve_next(TicketMutex& mutex);
  /// Puts a ticket that nobody waits with any more in its place among the waiters. The caller holds lock_.
  void take_over(TicketMutex& mutex, const Waiter& waiter);
  /// Sends a request and waits for its answer, which fills `answer`.
  [[nodiscard]] Status ask(RequestKind kind, int rank, std::span<const std::byte> body,
                           std::span<std::byte> answer);
  [[nodiscard]] Status wait(Wait& wait);
  /// Returns RMA_ERR_PEER_LOST if the holder is lost and the wait's ticket has left the line.
  [[nodiscard]] Status look_at_holder(Wait& wait);

  /// Returns MutexRequest::who of this process, for requests that no thread makes for itself.
  [[nodiscard]] std::uint64_t me() const { return (static_cast<std::uint64_t>(rank_) + 1) << 32U; }

  const int rank_;
  const int ranks_;
  const std::chrono::milliseconds patience_;  ///< how long the owner may be silent
  PendingOperations& pending_;
  Network& network_;
  Channel& channel_;
  RpcClient& client_;
  const Ended ended_;
  std::mutex lock_;                                     ///< guards the members below
  std::map<std::uintptr_t, std::size_t> own_;           ///< number of mutexes by their first address
  std::map<TicketMutex*, std::deque<Waiter>> waiting_;  ///< in the order of their tickets
  std::set<int> lost_;
  std::uint64_t waits_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Wait>> mine_;  ///< by the waits' ids
};

}  // namespace librma
