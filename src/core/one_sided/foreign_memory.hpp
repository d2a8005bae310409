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

/// Memory of other processes that is not mapped here but can be named without registration: over a transport
/// that needs none, which is one within the host. Cuts transfers to what the transport can do and waits where
/// its queue is full. Thread-safe.
class ForeignMemory final : public ProgressSource {
 public:
  /// The card of `rank` for the transport; asked for at the first operation to it.
  using CardSource = std::function<Result<std::vector<std::byte>>(int rank)>;

  ForeignMemory(PendingOperations& pending, std::unique_ptr<transport::Transport> transport, int ranks,
                CardSource cards);

  /// Returns whether this process may access such memory of `rank` itself. The first call for a rank connects
  /// with it.
  [[nodiscard]] bool permitted(int rank) { return connect(rank) != RMA_ERR_UNSUPPORTED; }

  /// Posts [local, local + bytes) to `remote` of the operation's target, or the other way round for read, in
  /// as many pieces as the transport needs. A failure is the operation's.
  void transfer(transport::Direction direction, rma_request_t operation, transport::Remote remote,
                transport::Local local);

  bool progress() override;
  void flush(int /*rank*/) override {}  // everything is reported
  void give_up(int rank) override { transport_->fail(rank); }
  void arm() override {}
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override;

 private:
  struct Owner {
    std::mutex connect_lock;
    std::atomic<rma_status_t> connected = RMA_ERR_STATE;  ///< RMA_SUCCESS or RMA_ERR_UNSUPPORTED: for good
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
