#pragma once

#include <atomic>
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

/// Accesses memory of other processes that is not mapped here, over a transport within the host that needs no
/// registration. Cuts transfers to the limits of the transport, and waits if its queue is full. Thread-safe.
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
  [[nodiscard]] rma_status_t post(transport::Direction direction, rma_request_t operation,
                                  transport::Remote remote, const transport::Local& piece);

  PendingOperations& pending_;
  const std::unique_ptr<transport::Transport> transport_;
  const CardSource cards_;
  std::vector<Owner> owners_;
};

}  // namespace rma
