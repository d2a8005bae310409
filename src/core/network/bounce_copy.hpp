#pragma once

#include <cstddef>

#include "core/completion/pending_operations.hpp"
#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/posting.hpp"
#include "fabric/bounce_pool.hpp"
#include "fabric/rails.hpp"
#include "util/status.hpp"

namespace librma {

/// The protocol for local memory that is not registered (UCX: bcopy): data is copied to or from registered
/// bounce buffers. A put may return when its data is copied.
class BounceCopy {
 public:
  BounceCopy(PendingOperations& pending, Rails& rails, ConnectionManager& connections,
             Completions& completions, Posting& posting)
      : pending_(pending),
        rails_(rails),
        connections_(connections),
        completions_(completions),
        posting_(posting) {}

  /// Adds the transfer to the batch, cut into buffers, and uses `span` up. RMA_ERR_NO_MEMORY if there are no
  /// buffers.
  [[nodiscard]] Status post(Batch& batch, NetworkPeer& peer, Span& span);
  /// Adds a transfer that fits into `buffer`, which goes back to the pool when it is complete. Changes the
  /// local side of `span` to the buffer. A read needs the batch's operation.
  [[nodiscard]] Status post_one(Batch& batch, NetworkPeer& peer, std::size_t rail, Span& span,
                                std::byte* buffer);
  /// Takes a buffer of `pool`, and waits for one if necessary. RMA_ERR_NO_MEMORY if there is no pool.
  [[nodiscard]] Result<std::byte*> take_buffer(Batch& batch, BouncePool* pool);

 private:
  PendingOperations& pending_;
  Rails& rails_;
  ConnectionManager& connections_;
  Completions& completions_;
  Posting& posting_;
};

}  // namespace librma
