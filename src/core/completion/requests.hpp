#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "util/status.hpp"

namespace rma {

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
class RequestTable {
 public:
  RequestTable();
  ~RequestTable();
  RequestTable(const RequestTable&) = delete;
  RequestTable& operator=(const RequestTable&) = delete;

  /// A new operation to `rank` with one part pending: its issuer's, which finish_part() ends as any other.
  /// RMA_REQUEST_NULL when kMaxRequests are open.
  [[nodiscard]] rma_request_t open(int rank);
  /// One more part is under way.
  void add_part(rma_request_t request);
  /// How things stand after a part has ended. Only whoever ended the last part learns of `left`: once a part
  /// was the last, the slot may be another operation's.
  enum class End : std::uint8_t { pending, complete, left };
  /// One part has ended, well or not.
  End finish_part(rma_request_t request, rma_status_t status);

  /// A handle of an open operation.
  [[nodiscard]] bool known(rma_request_t request) const;
  /// All its parts have ended.
  [[nodiscard]] bool complete(rma_request_t request) const;
  /// Nobody will wait for this operation: whoever ends its last part closes it. Said before the issuer's own
  /// part ends.
  void leave(rma_request_t request);
  /// The operation's target.
  [[nodiscard]] int rank(rma_request_t request) const;
  /// Ends an operation that is complete; returns the first failure of its parts. One thread
  /// closes an operation, once.
  [[nodiscard]] rma_status_t close(rma_request_t request);

  static constexpr std::size_t kChunkSlots = 256;
  static constexpr std::size_t kMaxChunks = 4096;
  static constexpr std::size_t kMaxRequests = kChunkSlots * kMaxChunks;

 private:
  struct Slot {
    std::atomic<std::uint32_t> generation = 0;  ///< odd while an operation has the slot
    std::atomic<std::uint32_t> pending = 0;     ///< parts, and kLeft
    std::atomic<rma_status_t> status = RMA_SUCCESS;
    std::atomic<int> rank = -1;
  };
  using Chunk = std::array<Slot, kChunkSlots>;

  /// Above every generation of the tables that have ended in this process; even.
  static constinit std::atomic<std::uint32_t> next_generation;

  static constexpr std::uint32_t kLeft = std::uint32_t{1} << 31U;

  [[nodiscard]] Slot& slot(rma_request_t request) const;

  const std::uint32_t first_generation_;  ///< of every slot
  std::array<std::atomic<Chunk*>, kMaxChunks> chunks_ = {};
  std::mutex lock_;  ///< of the two below
  std::vector<std::uint32_t> free_;
  std::size_t chunk_count_ = 0;
};

}  // namespace rma
