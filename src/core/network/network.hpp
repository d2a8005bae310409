#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/completion/pending_operations.hpp"
#include "core/network/network_card.hpp"
#include "fabric/rails.hpp"
#include "fabric/registrar.hpp"
#include "fabric/registration_cache.hpp"
#include "util/settings.hpp"

namespace librma {

class Posting;
class RequestOrder;
class KeyedTransfers;
class OrderedWrites;
class Transfers;
class WordOperations;

/// Reaches memory of ranks over the network's devices: puts, gets and atomics as RDMA. Thread-safe. This
/// class owns the parts of the network:
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

  /// Returns the parts of the network, as the folders above use them.
  [[nodiscard]] Transfers& transfers();
  [[nodiscard]] WordOperations& words();
  /// Posting ends what Transfers begins: it posts batches.
  [[nodiscard]] Posting& posting();
  /// Reads of memory whose keys a message has brought.
  [[nodiscard]] KeyedTransfers& keyed_transfers();
  /// Writes in order to memory whose keys another rank has sent.
  [[nodiscard]] OrderedWrites& ordered_writes();
  /// For folders that send requests to ranks by messages.
  [[nodiscard]] RequestOrder& requests();

  /// Registers memory of this process for one use. RMA_ERR_UNSUPPORTED if RMA_LOCAL_BUFFERS says that such
  /// memory is copied.
  [[nodiscard]] Result<RegistrationCache::Use> register_local(std::byte* address, std::size_t bytes);

  /// Returns whether `rank` still answers: RMA_ERR_PEER_LOST if its device does not know this process any
  /// more, or nothing comes back.
  [[nodiscard]] Status probe(int rank);

  bool progress() override;
  void flush(int rank, CompletionContext& context) override;
  void give_up(int rank) override;
  void arm() override;
  [[nodiscard]] std::span<const int> event_fds() const override;
  void follow(transport::Attendants& attendants) override;
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override;

 private:
  struct Components;
  const std::unique_ptr<Components> components_;
};

}  // namespace librma
