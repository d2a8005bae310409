#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/network/bounce_copy.hpp"
#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/keyed_transfers.hpp"
#include "core/network/posting.hpp"
#include "core/network/zero_copy.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

/// A piece of this process's memory, and the place of another rank that it is written to.
struct KeyedWrite {
  std::byte* local = nullptr;
  bool registered = true;  ///< false: `local_keys` do not count, and the piece goes through bounce buffers
  RailKeys local_keys = {};
  std::uintptr_t remote = 0;
  RailKeys remote_keys = {};  ///< in the order of the rank's rails
  std::size_t bytes = 0;
};

/// Writes to memory for which its owner has sent the keys, in order: a rank that sees a later piece also sees
/// the earlier ones. So the last piece may be a word that says that the others are there.
///
/// No piece goes to another rail if its rail fails: the rank may have seen it, and may use the memory for
/// something else by then. The operation fails instead.
/// Thread-safe.
class OrderedWrites {
 public:
  /// All of these outlive this object.
  OrderedWrites(const Settings& settings, PendingOperations& pending, ConnectionManager& connections,
                Completions& completions, Posting& posting, BounceCopy& bounce, ZeroCopy& zero_copy)
      : settings_(settings),
        pending_(pending),
        connections_(connections),
        completions_(completions),
        posting_(posting),
        bounce_(bounce),
        zero_copy_(zero_copy) {}

  /// Connects with `rank`. The errors of ConnectionManager::connect().
  [[nodiscard]] Status connect(int rank);

  /// Writes the pieces, in their order, as parts of `operation`, which goes to `rank`. The last piece is
  /// registered. A registered piece of RMA_STRIPE bytes and more is divided among the rails; then the call
  /// waits for it before it posts the next. The local memory stays as it is until the operation is complete;
  /// then all pieces are at the rank. RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY; the operation
  /// reports later failures.
  [[nodiscard]] Status write(int rank, std::span<const KeyedWrite> pieces, rma_request_t operation);

 private:
  /// Writes a long piece over all rails, and waits until it is complete.
  [[nodiscard]] Status write_divided(NetworkPeer& peer, const Span& span);

  const Settings& settings_;
  PendingOperations& pending_;
  ConnectionManager& connections_;
  Completions& completions_;
  Posting& posting_;
  BounceCopy& bounce_;
  ZeroCopy& zero_copy_;
};

}  // namespace librma
