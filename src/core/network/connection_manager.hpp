#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/completion/pending_operations.hpp"
#include "core/network/network_card.hpp"
#include "core/network/peer.hpp"
#include "fabric/rails.hpp"
#include "util/status.hpp"

namespace librma {

/// The connections to other ranks: which rails of a rank are connected, which of them is its primary rail,
/// and which rail takes over when one fails. Thread-safe.
///
/// Transfers that have to keep their order go over the *primary* rail of a rank, whose queue pair keeps the
/// order. When the primary rail fails, another one takes over after everything on the failed one has ended.
class ConnectionManager {
 public:
  /// `pending` and `rails` outlive the connections. `peer_timeout`, in seconds, is for texts.
  ConnectionManager(PendingOperations& pending, Rails& rails, int ranks, NetworkCardSource cards,
                    std::uint64_t peer_timeout);

  [[nodiscard]] NetworkPeer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  /// Connects at least one rail with `rank`, at the first call. RMA_ERR_PEER_LOST, RMA_ERR_UNSUPPORTED, and
  /// the errors of the source of cards.
  [[nodiscard]] Status connect(int rank, NetworkPeer** connected) {
    NetworkPeer& found = peer(rank);
    *connected = &found;
    if (found.ready.load(std::memory_order_acquire)) return {};  // pairs with the store in connect_first()
    return connect_first(found);
  }
  /// Connects the rails that were not tried yet. Returns how many rails are alive.
  [[nodiscard]] std::size_t connect_all(NetworkPeer& peer);

  /// Sets `*rail` to the primary rail. RMA_ERR_PEER_LOST if no rail is left.
  [[nodiscard]] Status primary(NetworkPeer& peer, std::size_t* rail) {
    *rail = peer.primary_rail.load(std::memory_order_acquire);  // pairs with the store in fail_over()
    if (peer.alive(*rail)) return {};
    return fail_over(peer, rail);
  }
  /// Sets `*rail` to the rail that all processes use for atomics of the rank. RMA_ERR_PEER_LOST if it has
  /// failed, RMA_ERR_UNSUPPORTED if this process has none that matches, or its device has no atomics.
  [[nodiscard]] Status rail_for_atomics(NetworkPeer& peer, std::size_t* rail);
  /// Returns the rails that are alive in turn, for the fragments of a divided transfer.
  [[nodiscard]] static std::size_t next_rail(NetworkPeer& peer);
  [[nodiscard]] static bool any_alive(const NetworkPeer& peer) { return alive(peer) != 0; }
  /// Returns how many rails are alive.
  [[nodiscard]] static std::size_t alive(const NetworkPeer& peer);
  /// Returns whether connect_all() has nothing to do.
  [[nodiscard]] static bool all_tried(const NetworkPeer& peer);

  /// Records that `rail` does not reach the rank any more.
  void rail_failed(NetworkPeer& peer, std::size_t rail);
  /// Gives the rank up: everything that was posted to it ends with RMA_ERR_PEER_LOST.
  void give_up(int rank);
  /// Returns a text for users about an operation to `rank` that ended with `code`.
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const;

 private:
  [[nodiscard]] Status connect_first(NetworkPeer& peer);
  [[nodiscard]] Status match(NetworkPeer& peer, const NetworkCard& card);
  [[nodiscard]] Status connect_rail(NetworkPeer& peer, std::size_t rail);
  /// Sets `*rail` to the first rail that is connected, or can be, of those that have not failed.
  [[nodiscard]] Status connect_any(NetworkPeer& peer, std::size_t* rail);
  /// Makes another rail the primary one.
  [[nodiscard]] Status fail_over(NetworkPeer& peer, std::size_t* rail);
  [[nodiscard]] Status lost(const NetworkPeer& peer) const;

  PendingOperations& pending_;
  Rails& rails_;
  const NetworkCardSource cards_;
  const std::uint64_t peer_timeout_;
  std::vector<NetworkPeer> peers_;
};

}  // namespace librma
