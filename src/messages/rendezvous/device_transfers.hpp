#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/completion/pending_operations.hpp"
#include "core/network/network.hpp"
#include "messages/matching/message_data.hpp"
#include "util/status.hpp"
#include "util/waiting/spin_lock.hpp"

namespace librma {

/// The RDMA transfers of messages between hosts: reads of data whose keys an announcement has brought, and
/// writes to pieces of a receiver's buffer. Handlers of messages start them, so nothing here waits.
/// Thread-safe; one thread at a time calls progress().
class DeviceTransfers {
 public:
  /// Called by progress() when a transfer is complete.
  using Then = std::function<void(rma_status_t status)>;
  /// Connects with a rank. Called by connect_wanted().
  using Connect = std::function<void(int rank)>;

  /// `network` is null in a job without one; then no transfer can be started.
  DeviceTransfers(PendingOperations& pending, Network* network) : pending_(pending), network_(network) {}

  /// Starts the transfer of contiguous `data`. `keys` are the remote keys of `remote`. If `keep`, the
  /// registration of `data` stays in the cache; `memory` is its registration if the caller has one already.
  /// Returns RMA_ERR_STATE if this process has not connected with the rank, RMA_ERR_NO_MEMORY or
  /// RMA_ERR_UNSUPPORTED if the data cannot be registered. Then nothing happens, and `then` is never called.
  [[nodiscard]] rma_status_t start(transport::Direction direction, int rank, std::uintptr_t remote,
                                   const RailKeys& keys, const MessageData& data, bool keep, Then then);

  [[nodiscard]] bool available() const { return network_ != nullptr; }

  /// Asks the device of `rank` for a sign of life. `then` gets RMA_ERR_PEER_LOST if the rank's process is
  /// gone. Returns false if that is impossible now; then `then` is never called. If this process has not
  /// connected with the rank and `connects` is true, connect_wanted() will.
  [[nodiscard]] bool probe(int rank, bool connects, Then then);

  /// Connects with the ranks for which start() returned RMA_ERR_STATE, and all rails with those whose
  /// transfers they would have shared. Called by the program's threads, never by a handler.
  void connect_wanted(const Connect& connect);
  [[nodiscard]] bool any_wanted() const { return any_unconnected_.load(std::memory_order_relaxed); }

  /// Ends what is complete. Returns whether there was anything.
  bool progress();

 private:
  struct UnderWay {
    rma_request_t operation = RMA_REQUEST_NULL;
    Then then;
  };
  void want_connection(int rank);
  /// Calls `then` when the operation, all of whose parts are started, is complete.
  /// Throws std::bad_alloc before anything has changed.
  [[nodiscard]] Status watch(rma_request_t operation, Then then);

  PendingOperations& pending_;
  Network* const network_;
  SpinLock lock_;
  std::vector<UnderWay> under_way_;     ///< guarded by lock_
  std::atomic<std::size_t> count_ = 0;  ///< of under_way_
  std::vector<int> unconnected_;        ///< ranks for connect_wanted(), some more than once, guarded by lock_
  std::atomic<bool> any_unconnected_ = false;
};

}  // namespace librma
