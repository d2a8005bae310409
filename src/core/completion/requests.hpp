#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/status.hpp"
#include "util/waiting/spin_lock.hpp"

namespace librma {

class CompletionContext;

/// The request of every operation that was complete when it was issued. A wait makes it null as any other
/// request, and a wait for any of several requests counts it as complete. It names no slot, because no slot's
/// handle has generation 0.
constexpr rma_request_t kCompleteRequest = RMA_REQUEST_COMPLETE;

/// The nonblocking operations under way. Each has a slot. Its handle consists of the slot and a generation,
/// and becomes invalid when the operation is closed. So a handle that is waited for twice differs from the
/// handle of a later operation in the same slot. Generations continue where those of the table before this
/// one ended, so a handle from before rma_finalize is invalid after the next rma_init.
///
/// Publication: a thread that completes a part records its failure and then decrements `pending` with release
/// order. The thread that reads 0 with acquire order owns the slot's result. Thread-safe.
///
/// This is no SlotTable (util/tables/slot_table.hpp), because threads look operations up and end their parts
/// without a lock, while another thread makes the table longer.
class RequestTable {
 public:
  RequestTable();
  ~RequestTable();
  RequestTable(const RequestTable&) = delete;
  RequestTable& operator=(const RequestTable&) = delete;

  /// Opens an operation to `rank` in `context` with one part pending. The part stands for the issuer, which
  /// ends it by finish_part() like any other. Returns RMA_REQUEST_NULL if the handles have no room for
  /// another slot. Throws std::bad_alloc.
  [[nodiscard]] rma_request_t open(int rank, CompletionContext& context);
  /// Adds a part to the operation.
  void add_part(rma_request_t request);
  /// The state of an operation after a part has ended. `left` says that leave() was called and all parts have
  /// ended. Only the thread that ended the last part gets it, because the slot may be another operation's
  /// after that.
  enum class End : std::uint8_t { pending, complete, left };
  /// Ends one part with `status`, the failure or success of the part. Returns the state of the operation.
  End finish_part(rma_request_t request, rma_status_t status);

  /// Returns whether this is the handle of an open operation.
  [[nodiscard]] bool known(rma_request_t request) const;
  /// Returns whether all parts of the operation have ended.
  [[nodiscard]] bool complete(rma_request_t request) const;
  /// Says that nobody will wait for this operation: the thread that ends its last part closes it. Called
  /// before the issuer's own part ends.
  void leave(rma_request_t request);
  /// Returns the target rank of the operation.
  [[nodiscard]] int rank(rma_request_t request) const;
  /// Returns the context that the operation was opened in.
  [[nodiscard]] CompletionContext& context(rma_request_t request) const {
    return *slot(request).context.load(std::memory_order_relaxed);
  }
  /// Changes the rank. Called before the last part ends.
  void set_rank(rma_request_t request, int rank) {
    slot(request).rank.store(rank, std::memory_order_relaxed);
  }
  /// A number that the opener keeps with the operation; 0 at first.
  void set_note(rma_request_t request, std::uint64_t note) {
    slot(request).note.store(note, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t note(rma_request_t request) const {
    return slot(request).note.load(std::memory_order_relaxed);
  }
  /// Closes an operation that is complete, and returns the first failure of its parts. One thread closes an
  /// operation, once.
  [[nodiscard]] rma_status_t close(rma_request_t request);

  static constexpr std::size_t kChunkSlots = 256;
  /// A handle has 32 bits for its slot.
  static constexpr std::size_t kMaxChunks = (std::size_t{1} << 32U) / kChunkSlots;

 private:
  struct Slot {
    std::atomic<std::uint32_t> generation = 0;  ///< odd while an operation has the slot
    std::atomic<std::uint32_t> pending = 0;     ///< number of parts that have not ended, and the flag kLeft
    std::atomic<rma_status_t> status = RMA_SUCCESS;
    std::atomic<int> rank = -1;
    std::atomic<CompletionContext*> context = nullptr;
    std::atomic<std::uint64_t> note = 0;
  };
  using Chunk = std::array<Slot, kChunkSlots>;
  /// The chunks by number. A directory never moves, because other threads read it. One that is full is copied
  /// to one of twice the size, and stays for those threads.
  struct Directory {
    explicit Directory(std::size_t size) : chunks(size) {}
    std::vector<std::atomic<Chunk*>> chunks;
  };

  /// The first generation for the next table. It is even, and above every generation of the tables that have
  /// ended in this process.
  static constinit std::atomic<std::uint32_t> next_generation;

  static constexpr std::uint32_t kLeft = std::uint32_t{1} << 31U;

  [[nodiscard]] Slot& slot(rma_request_t request) const;

  /// Makes room for more slots. The caller holds the lock.
  void grow();

  const std::uint32_t first_generation_;  ///< the first generation of every slot
  std::atomic<Directory*> directory_;     ///< the last one of directories_
  SpinLock lock_;                         ///< guards the members below
  std::vector<std::unique_ptr<Directory>> directories_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::uint32_t> free_;
};

}  // namespace librma
