#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "atomics/mutexes.hpp"
#include "channel/channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "core/network/network.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"

namespace rma {

/// The mutexes of ranks that are not mapped here, and this process's own mutexes for such ranks.
///
/// The owner's helper draws a ticket for the rank that asks, and remembers it as a waiter. When the ticket's
/// turn has come, the helper sends *locked* to the rank, so that no rank asks twice. An unlock on the owner's
/// host that finds such waiters (TicketMutex::remote) pokes the owner's helper, which serves the next of
/// them. Thread-safe.
class RemoteMutexes {
 public:
  /// The kind of the message *locked* (MessageHeader::kind).
  static constexpr std::uint16_t kLockedMessage = 8;

  /// Registers handlers with `channel` and `server`. The arguments outlive this.
  RemoteMutexes(int rank, const Settings& settings, PendingOperations& pending, Network& network,
                Channel& channel, RpcClient& client, RpcServer& server);

  /// add() lets other ranks ask for `count` mutexes of this process from `mutexes` on. remove() ends this.
  void add(TicketMutex* mutexes, std::size_t count);
  void remove(TicketMutex* mutexes);

  /// Locks and unlocks the mutex at `address` of `rank` for `who`. RMA_ERR_PEER_LOST; RMA_ERR_STATE if `who`
  /// does not hold it; RMA_ERR_ADDRESS if there is no mutex.
  [[nodiscard]] Status lock(std::uintptr_t address, int rank, std::uint64_t who);
  [[nodiscard]] Status unlock(std::uintptr_t address, int rank, std::uint64_t who);
  /// Tells the helper of `rank` that its mutex was unlocked, because ranks of other hosts may wait for it.
  [[nodiscard]] Status poke(std::uintptr_t address, int rank);

 private:
  struct Waiter {
    std::uint32_t ticket = 0;
    int rank = -1;
    std::size_t rail = 0;
    std::uint64_t id = 0;  ///< the waiter's own number
    std::uint64_t who = 0;
  };
  /// The wait of a thread of this process.
  struct Wait {
    int rank = -1;
    std::atomic<rma_status_t> status = RMA_SUCCESS;
    std::atomic<bool> over = false;
  };

  [[nodiscard]] Answer serve_lock(const Served& request);
  [[nodiscard]] Answer serve_unlock(const Served& request);
  [[nodiscard]] Answer serve_poke(const Served& request);
  [[nodiscard]] bool locked(const Message& message);
  void lost(int rank);
  /// Returns this process's mutex at an address that another rank sent, or null if there is none. The caller
  /// of this function and the next holds lock_.
  [[nodiscard]] TicketMutex* find(std::uintptr_t address) const;
  /// Sends *locked* to the rank whose turn has come.
  void serve_next(TicketMutex& mutex);
  [[nodiscard]] Status ask(RequestKind kind, std::uintptr_t address, int rank, std::uint64_t who,
                           std::uint64_t id, std::uint32_t* granted);
  [[nodiscard]] Status wait(Wait& wait);

  const int rank_;
  const std::chrono::milliseconds patience_;  ///< how long the owner may be silent
  PendingOperations& pending_;
  Network& network_;
  Channel& channel_;
  RpcClient& client_;
  std::mutex lock_;                                     ///< guards the members below
  std::map<std::uintptr_t, std::size_t> own_;           ///< number of mutexes by their first address
  std::map<TicketMutex*, std::deque<Waiter>> waiting_;  ///< in the order of their tickets
  std::set<int> lost_;
  std::uint64_t waits_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Wait>> mine_;  ///< by the waits' ids
};

}  // namespace rma
