#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/completion/pending_operations.hpp"
#include "core/network/batch.hpp"
#include "core/network/copy_fallback.hpp"
#include "core/network/network_card.hpp"
#include "core/network/own_memory.hpp"
#include "core/network/request_order.hpp"
#include "core/network/keyed_reads.hpp"
#include "fabric/rails.hpp"
#include "fabric/registration_cache.hpp"
#include "util/settings.hpp"

namespace rma {

/// Reaches memory of ranks over the network's devices: puts, gets and atomics as RDMA. Thread-safe. This
/// class owns the parts of the network and passes calls on to them:
/// - ConnectionManager: connections and failover.
/// - RemoteKeys, with RemoteMemory: what the ranks' region directories say.
/// - Transfers: chooses the protocol of a put or get. The protocols are InlinePut, BounceCopy and ZeroCopy.
/// - WordOperations: flags and atomics.
/// - Posting and Completions: batches of work requests on their way to the devices, and fragments of
///   transfers from their posting to their completion.
/// - RequestOrder: the order between transfers and requests by messages.
///
/// Order of blocking operations to one rank: small puts return before they are complete, because their data
/// is in the work request or in a bounce buffer. They all go over the rank's *primary* rail, whose queue pair
/// keeps the order. A transfer that is divided among the rails first waits for them, and is complete when it
/// returns. If the primary rail fails, the next one takes over after everything on the failed one has ended.
class Network final : public ProgressSource {
 public:
  using CardSource = NetworkCardSource;

  /// `pending` and `rails` outlive the network.
  Network(const Settings& settings, PendingOperations& pending, Rails& rails, int ranks, CardSource cards,
          OwnMemory own_memory);
  ~Network() override;

  /// Returns whether put() and get() find all of `rank`'s [address, address + bytes); their errors.
  [[nodiscard]] Status reachable(const void* address, std::size_t bytes, int rank);

  /// Moves [src, src + bytes) to `dst` of the batch's rank, or the other way round; nothing if part of the
  /// rank's memory is out of reach. The copy fallback moves what the devices do not reach. RMA_ERR_ADDRESS,
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED. The batch's operation reports later failures,
  /// or the next fence those of transfers that belong to no operation.
  [[nodiscard]] Status put(Batch& batch, void* dst, const void* src, std::size_t bytes);
  [[nodiscard]] Status get(Batch& batch, void* dst, const void* src, std::size_t bytes);
  /// Posts what is in the batch.
  [[nodiscard]] Status flush(Batch& batch);
  /// Gives the batch an operation if it has none. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open(Batch& batch);

  /// Stores `value` to the aligned `flag` of `rank` after everything that this thread has put there.
  [[nodiscard]] Status put_flag(std::uint64_t* flag, std::uint64_t value, int rank);
  /// Executes RMA_FETCH_ADD or RMA_COMPARE_SWAP on an aligned word of 8 bytes, by the rank's device. Returns
  /// the value before.
  [[nodiscard]] Result<std::uint64_t> atomic(rma_atomic_op_t op, std::uint64_t* target, std::uint64_t operand,
                                             std::uint64_t compare, int rank);

  /// Returns the order object, for folders that send requests to ranks by messages.
  [[nodiscard]] RequestOrder& requests();

  /// Returns whether one registration of `rank` holds all of [address, address + bytes).
  [[nodiscard]] bool registered(std::uintptr_t address, std::size_t bytes, int rank);
  /// Registers memory of this process for one use. RMA_ERR_UNSUPPORTED if RMA_LOCAL_BUFFERS says that such
  /// memory is copied.
  [[nodiscard]] Result<RegistrationCache::Use> register_local(std::byte* address, std::size_t bytes);

  /// Returns the reads of memory whose keys a message has brought.
  [[nodiscard]] KeyedReads& keyed_reads();
  /// Sets what reaches memory that is not registered. Called before the first transfer. `fallback` outlives
  /// the network's use; null if such memory is out of reach.
  void set_copy_fallback(CopyFallback* fallback);

  /// Returns whether `rank` still answers: RMA_ERR_PEER_LOST if its device does not know this process any
  /// more, or nothing comes back.
  [[nodiscard]] Status probe(int rank);

  bool progress() override;
  void flush(int rank) override;
  void give_up(int rank) override;
  void arm() override;
  [[nodiscard]] std::span<const int> event_fds() const override;
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override;

 private:
  struct Components;
  const std::unique_ptr<Components> components_;
};

}  // namespace rma
