#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "core/completion/pending_operations.hpp"
#include "core/network/copy_fallback.hpp"
#include "core/network/network.hpp"
#include "core/one_sided/foreign_memory.hpp"
#include "transport/transport.hpp"

namespace librma {

/// The paths to memory that is not mapped here, and the operations under way on them. Thread-safe.
class RemoteAccess {
 public:
  using CardSource = ForeignMemory::CardSource;

  /// `foreign` reaches registered memory of ranks of this host.
  RemoteAccess(std::unique_ptr<transport::Transport> foreign, int ranks, CardSource cards,
               const WaitPolicy& policy = {.spins = 2000, .yields = 64},
               std::chrono::milliseconds patience = std::chrono::seconds(10))
      : pending_(ranks, policy, patience), foreign_(pending_, std::move(foreign), ranks, std::move(cards)) {
    pending_.engine().add(foreign_);
    for (int rank = 0; rank < ranks; ++rank) pending_.set_progress_source(rank, foreign_);
  }

  /// Adds the network, which was made for pending().
  void add_network(std::unique_ptr<Network> network) {
    network_ = std::move(network);
    pending_.engine().add(*network_);
  }
  /// Says that `rank` is reached over the network. Called before the first operation to it.
  void reach_by_network(int rank) { pending_.set_progress_source(rank, *network_); }
  /// Returns the network, or null. A job of one host has none, unless the settings ask for it.
  [[nodiscard]] Network* network() { return network_.get(); }
  [[nodiscard]] const Network* network() const { return network_.get(); }
  [[nodiscard]] PendingOperations& pending() { return pending_; }
  [[nodiscard]] const PendingOperations& pending() const { return pending_; }

  /// Returns whether this process may access registered memory of `rank`, which is on this host, outside its
  /// heap.
  [[nodiscard]] bool permitted(int rank) { return foreign_.permitted(rank); }
  /// Sets the path to such memory that this process may not access. Called before the first transfer;
  /// `fallback` outlives this.
  void set_copy_fallback(CopyFallback* fallback) { foreign_.set_copy_fallback(fallback); }
  /// Returns null if there is no such path.
  [[nodiscard]] CopyFallback* copy_fallback() { return foreign_.copy_fallback(); }

  /// Posts a transfer between `local` and `remote` of the operation's target, a rank of this host whose
  /// memory this process may access. The operation reports a failure.
  void transfer(transport::Direction direction, rma_request_t operation, transport::Remote remote,
                transport::Local local) {
    foreign_.transfer(direction, operation, remote, local);
  }
  /// Does the same later, together with others: see ForeignMemory.
  void add(ForeignBatch& batch, transport::Direction direction, rma_request_t operation,
           transport::Remote remote, const transport::Local& local) {
    foreign_.add(batch, direction, operation, remote, local);
  }
  void flush(ForeignBatch& batch, rma_request_t operation) { foreign_.flush(batch, operation); }
  /// Leaves a short transfer to the next fence: see ForeignMemory.
  [[nodiscard]] bool add_later(transport::Direction direction, int rank, transport::Remote remote,
                               transport::Local local) {
    return foreign_.add_later(direction, rank, remote, local);
  }

 private:
  PendingOperations pending_;
  ForeignMemory foreign_;
  std::unique_ptr<Network> network_;
};

}  // namespace librma
