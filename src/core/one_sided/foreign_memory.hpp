#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/completion/pending_operations.hpp"
#include "transport/transport.hpp"

namespace rma {

/// Transfers of one operation that ForeignMemory posts together. All are writes, or all are reads.
class ForeignBatch {
 public:
  [[nodiscard]] bool empty() const { return last_.bytes == 0; }

 private:
  friend class ForeignMemory;
  static constexpr std::size_t kMost = 1024;  ///< more share no system call

  /// Adds a transfer. Throws std::bad_alloc before anything has changed.
  void add(transport::Direction direction, transport::Remote remote, const transport::Local& local);
  /// Empties the batch and returns its transfers. The result stays valid until the next add(). Needs no
  /// memory.
  [[nodiscard]] std::span<const transport::Work> take(rma_request_t operation);
  void store_last();

  // A batch of one transfer takes no memory.
  transport::Direction direction_ = transport::Direction::write;
  transport::Remote last_remote_ = {};
  transport::Local last_ = {};            ///< the transfer that was added last; of no bytes if there is none
  std::vector<transport::Work> work_;     ///< those before it; with room for it
  std::vector<transport::Local> locals_;  ///< theirs; with room for its own
};

/// Accesses memory of other processes that is not mapped here, over a transport within the host that needs no
/// registration. Cuts transfers to the limits of the transport, and waits if its queue is full. Thread-safe,
/// but one thread uses a batch.
class ForeignMemory final : public ProgressSource {
 public:
  /// Returns the card of `rank` for the transport. Called at the first operation to the rank.
  using CardSource = std::function<Result<std::vector<std::byte>>(int rank)>;

  ForeignMemory(PendingOperations& pending, std::unique_ptr<transport::Transport> transport, int ranks,
                CardSource cards);

  /// Returns whether this process may access such memory of `rank` itself. The first call for a rank connects
  /// with it.
  [[nodiscard]] bool permitted(int rank) { return connect(rank) != RMA_ERR_UNSUPPORTED; }

  /// Moves `local` to `remote` of the operation's target, or the other way round for read, in as many pieces
  /// as the transport needs. The operation reports a failure.
  void transfer(transport::Direction direction, rma_request_t operation, transport::Remote remote,
                transport::Local local);
  /// Adds such a transfer, of one byte and more, to the batch. Joins it to the one before if it continues
  /// that on both sides. Posts the batch first if it has no room. Throws std::bad_alloc before anything has
  /// changed.
  void add(ForeignBatch& batch, transport::Direction direction, rma_request_t operation,
           transport::Remote remote, const transport::Local& local);
  /// Posts the batch.
  void flush(ForeignBatch& batch, rma_request_t operation);

  bool progress() override;
  void flush(int /*rank*/, CompletionContext& /*context*/) override {
  }  // does nothing: all completions are reported
  void give_up(int rank) override { transport_->fail(rank); }
  void arm() override {}
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override;

 private:
  struct Owner {
    std::mutex connect_lock;
    std::atomic<rma_status_t> connected = RMA_ERR_STATE;  ///< RMA_SUCCESS and RMA_ERR_UNSUPPORTED are final
  };
  [[nodiscard]] rma_status_t connect(int rank);
  /// Posts work of `operation`, and waits for room. What was not posted ends with the status that this
  /// returns.
  rma_status_t post(rma_request_t operation, std::span<const transport::Work> work);
  [[nodiscard]] rma_status_t try_to_post(int rank, std::span<const transport::Work> work,
                                         std::size_t* posted);

  PendingOperations& pending_;
  const std::unique_ptr<transport::Transport> transport_;
  const CardSource cards_;
  std::vector<Owner> owners_;
};

}  // namespace rma
