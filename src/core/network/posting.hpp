#pragma once

#include <cstddef>
#include <span>

#include "core/completion/pending_operations.hpp"
#include "core/network/batch.hpp"
#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "fabric/rails.hpp"
#include "util/status.hpp"

namespace rma {

/// Hands work requests to the devices, in batches. Waits for puts whose call has returned. Thread-safe, but
/// one thread uses a batch.
class Posting {
 public:
  Posting(PendingOperations& pending, Rails& rails, ConnectionManager& connections, Completions& completions)
      : pending_(pending), rails_(rails), connections_(connections), completions_(completions) {}

  /// Gives the batch an operation if it has none. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open(Batch& batch);
  /// Adds a work request, which is unsignaled if its cookie is 0. Posts the batch first if that has no room.
  /// If that fails, the failure is returned and the fragment of the work request ends.
  [[nodiscard]] Status add(Batch& batch, std::size_t rail, const transport::Work& work,
                           const transport::Local& local);
  [[nodiscard]] Status add(Batch& batch, std::size_t rail, Fragment& fragment) {
    return add(batch, rail, fragment.work(rail), fragment.local(rail));
  }
  /// Posts the work requests of the batch. Fragments that the rail does not take go to another rail or end.
  /// Returns a failure only if an unsignaled put was not posted, because nothing else would report it.
  [[nodiscard]] Status flush(Batch& batch);

  /// Posts an empty signaled write behind the unsignaled puts to the rank, which ends when they are complete.
  void flush_unsignaled(Peer& peer);
  /// Waits until all puts to the rank whose call has returned are complete.
  void drain(Peer& peer);
  /// Posts an empty write to the rank and waits for it. RMA_ERR_PEER_LOST.
  [[nodiscard]] Status probe(Peer& peer);

 private:
  /// Posts `work`, and waits for room in the device's queue. Stores into `*posted` how many of them the
  /// device took.
  [[nodiscard]] rma_status_t post(int rank, std::size_t rail, std::span<const transport::Work> work,
                                  std::size_t* posted);
  void post_empty_write(Peer& peer, std::size_t rail, rma_request_t operation);

  PendingOperations& pending_;
  Rails& rails_;
  ConnectionManager& connections_;
  Completions& completions_;
};

}  // namespace rma
