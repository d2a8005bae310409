#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/completion/pending_operations.hpp"
#include "core/network/copy_fallback.hpp"
#include "transport/transport.hpp"

namespace librma {

/// Transfers of one operation that ForeignMemory posts together. All are writes, or all are reads.
class ForeignBatch {
 public:
  static constexpr std::size_t kMost = 1024;  ///< more share no system call

  [[nodiscard]] bool empty() const { return last_.bytes == 0; }
  /// Returns whether the next transfer may have to wait for the posting of these.
  [[nodiscard]] bool full() const { return work_.size() + 1 >= kMost; }

 private:
  friend class ForeignMemory;

  /// Adds a transfer. Throws std::bad_alloc before anything has changed.
  void add(transport::Direction direction, transport::Remote remote, const transport::Local& local);
  /// Empties the batch and returns its transfers. The result stays valid until the next add(). Needs no
  /// memory.
  [[nodiscard]] std::span<const transport::Work> take(rma_request_t operation);
  void store_last();
  void clear();

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
  ~ForeignMemory() override;
  ForeignMemory(const ForeignMemory&) = delete;
  ForeignMemory& operator=(const ForeignMemory&) = delete;

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

  /// Returns whether the helper of a rank is to copy so many segments, of `bytes` bytes in all. The system
  /// calls that copy between processes take half a microsecond for each segment. So for many short segments
  /// it takes less time to pack them, although the helper has to wake, which takes a third of a millisecond.
  [[nodiscard]] static bool helper_is_faster(std::size_t segments, std::size_t bytes) {
    return segments > kMostCopied && bytes / segments <= kShortSegment;
  }
  /// Sets the helpers' way to such memory. Called before the first transfer; `fallback` outlives this.
  void set_copy_fallback(CopyFallback* fallback) { copy_fallback_ = fallback; }
  [[nodiscard]] CopyFallback* copy_fallback() const { return copy_fallback_; }
  /// Longer transfers do not wait for others: their data would have to be copied.
  static constexpr std::size_t kMostLater = 64;
  /// Takes a short transfer for the calling thread's context, for which nobody waits but a fence. It goes
  /// together with others that come before the fence, at the latest when the fence flushes. The source of a
  /// put is copied. Returns false, and has taken nothing, if it is too long, too many operations are open, or
  /// the transport takes transfers that end later. Throws std::bad_alloc, and has taken nothing.
  [[nodiscard]] bool add_later(transport::Direction direction, int rank, transport::Remote remote,
                               transport::Local local);

  bool progress() override;
  /// Posts what add_later() has taken for the context.
  void flush(int rank, CompletionContext& context) override;
  void give_up(int rank) override { transport_->fail(rank); }
  void arm() override {}
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override;

 private:
  static constexpr std::size_t kMostCopied = 600;
  static constexpr std::size_t kShortSegment = 1024;
  static constexpr std::size_t kLaterBytes = ForeignBatch::kMost * kMostLater;
  /// The operation that add_later() has taken for a rank and that is not posted yet.
  struct Later {
    std::mutex lock;                             ///< guards the members below, and their posting
    rma_request_t operation = RMA_REQUEST_NULL;  ///< null: there is nothing
    CompletionContext* context = nullptr;        ///< the operation's
    ForeignBatch batch;
    /// The data of the puts in the batch.
    std::unique_ptr<std::byte[]> data = std::make_unique_for_overwrite<std::byte[]>(kLaterBytes);
    std::size_t used = 0;
  };
  struct Owner {
    std::mutex connect_lock;
    std::atomic<Later*> later = nullptr;                  ///< owned; made by the first add_later()
    std::atomic<rma_status_t> connected = RMA_ERR_STATE;  ///< RMA_SUCCESS and RMA_ERR_UNSUPPORTED are final
  };
  [[nodiscard]] rma_status_t connect(int rank);
  [[nodiscard]] Later& later_of(int rank);
  /// Posts the operation, and leaves it to the fence. Called with the lock held.
  void issue(int rank, Later& later);
  /// Has the rank's helper copy what the batch holds. Returns whether it is under way; else the batch is as
  /// it was.
  [[nodiscard]] bool copy_by_helper(int rank, ForeignBatch& batch, rma_request_t operation);
  /// Posts work of `operation`, and waits for room. Work that was not posted ends with the status that this
  /// returns.
  rma_status_t post(rma_request_t operation, std::span<const transport::Work> work);
  [[nodiscard]] rma_status_t try_to_post(int rank, std::span<const transport::Work> work,
                                         std::size_t* posted);

  PendingOperations& pending_;
  const std::unique_ptr<transport::Transport> transport_;
  const CardSource cards_;
  std::vector<Owner> owners_;
  CopyFallback* copy_fallback_ = nullptr;
};

}  // namespace librma
