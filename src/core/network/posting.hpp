#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "core/completion/pending_operations.hpp"
#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "fabric/rails.hpp"
#include "rma/rma.h"
#include "transport/transport.hpp"
#include "util/status.hpp"

namespace librma {

/// The work requests of one operation to one rank that are posted together, up to kMost of them and all to
/// one rail. One thread uses a batch. Posting::flush() posts them at the latest; until then the program's
/// memory stays as it is.
class Batch {
 public:
  explicit Batch(int rank) : rank_(rank) {}
  Batch(const Batch&) = delete;  // the work requests point to local_
  Batch& operator=(const Batch&) = delete;

  [[nodiscard]] int rank() const { return rank_; }

  /// Returns the operation that waits for the work requests; RMA_REQUEST_NULL while none is needed.
  [[nodiscard]] rma_request_t operation() const { return operation_; }
  void set_operation(rma_request_t operation) { operation_ = operation; }
  /// Gives the operation to the caller, who has to end it.
  [[nodiscard]] rma_request_t take_operation() { return std::exchange(operation_, RMA_REQUEST_NULL); }

  /// Returns the rail of the work requests.
  [[nodiscard]] std::size_t rail() const { return rail_; }
  /// Returns whether a work request for `rail` can be added.
  [[nodiscard]] bool has_room(std::size_t rail) const {
    return count_ < kMost && (count_ == 0 || rail_ == rail);
  }
  /// Adds a work request; has_room() is true. `work` gets the one local part `local`.
  void add(std::size_t rail, const transport::Work& work, const transport::Local& local) {
    rail_ = rail;
    local_[count_] = local;
    work_[count_] = work;
    work_[count_].pieces = {&local_[count_], 1};
    ++count_;
  }
  /// Empties the batch and returns its work requests. The result stays valid until the next add().
  [[nodiscard]] std::span<const transport::Work> take() { return {work_.data(), std::exchange(count_, 0)}; }

 private:
  static constexpr std::size_t kMost = 8;

  const int rank_;
  rma_request_t operation_ = RMA_REQUEST_NULL;
  std::size_t rail_ = 0;
  std::size_t count_ = 0;
  std::array<transport::Work, kMost> work_;    ///< the first count_ are to be posted
  std::array<transport::Local, kMost> local_;  ///< one for each of them
};

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
  /// A fence of `context` waits for it.
  void flush_unsignaled(NetworkPeer& peer, CompletionContext& context);
  /// Waits until all puts to the rank whose call has returned are complete.
  void drain(NetworkPeer& peer);
  /// Posts an empty write to the rank and waits for it. RMA_ERR_PEER_LOST.
  [[nodiscard]] Status probe(NetworkPeer& peer);

 private:
  /// Posts `work`, and waits for room in the device's queue. Stores into `*posted` how many of them the
  /// device took.
  [[nodiscard]] rma_status_t post(int rank, std::size_t rail, std::span<const transport::Work> work,
                                  std::size_t* posted);
  /// Posts the write of a fragment that has no data.
  void post_empty_write(NetworkPeer& peer, std::size_t rail, Fragment& fragment);

  PendingOperations& pending_;
  Rails& rails_;
  ConnectionManager& connections_;
  Completions& completions_;
};

}  // namespace librma
