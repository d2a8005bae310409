#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/service_thread.hpp"
#include "transport/transport.hpp"
#include "transport/verbs/connection.hpp"
#include "transport/verbs/datagrams.hpp"
#include "transport/verbs/handshake.hpp"
#include "transport/verbs/objects.hpp"
#include "transport/verbs/ports.hpp"
#include "transport/verbs/verbs_message_endpoint.hpp"

namespace librma::transport {

/// The options of a verbs transport.
struct VerbsOptions {
  int rank = 0;
  int ranks = 1;
  Secret secret = {};             ///< secret of this process; peers that call it learn it from its card
  std::uint32_t queue_depth = 0;  ///< the maximum number of operations to one peer that are posted and
                                  ///< not yet polled
  std::uint32_t completions = 0;  ///< the maximum for all peers together
  std::uint32_t buffers = 0;      ///< the maximum number of posted message buffers
  std::chrono::milliseconds timeout{0};          ///< a peer that does not answer for this long counts as lost
  std::chrono::milliseconds connect_timeout{0};  ///< a peer that does not answer a call for this long
                                                 ///< counts as lost
};

/// One port of an RDMA device. It has reliable connections to peers, which are made at
/// first use. Thread-safe.
class VerbsTransport final : public Transport, public Wireup::WireupExchange {
 public:
  /// Opens `port`, which must be usable, and registers handlers with `service`, which answer peers
  /// that connect. The caller starts `service` later and stops it before it destroys the
  /// transport. RMA_ERR_SYSTEM, RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<VerbsTransport>> open(const Port& port,
                                                                    const VerbsOptions& options,
                                                                    ServiceThread& service);
  ~VerbsTransport() override;

  [[nodiscard]] const Port& port() const { return port_; }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] Result<Registration> register_memory(std::byte* address, std::size_t bytes) override;
  void deregister_memory(const Registration& registration) override;
  [[nodiscard]] std::span<const std::byte> card() const override { return card_; }
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card) override;
  void fail(int peer) override;
  [[nodiscard]] rma_status_t post(int peer, std::span<const Work> work, std::size_t* posted) override;
  [[nodiscard]] std::uint32_t outstanding(int peer) override;
  [[nodiscard]] rma_status_t post_atomic(int peer, rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie) override;
  [[nodiscard]] MessageEndpoint* message_endpoint() override { return &messages_; }
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return channel_->fd; }
  [[nodiscard]] bool arm() override;

 private:
  VerbsTransport(Port port, const VerbsOptions& options);
  [[nodiscard]] Status start(ServiceThread& service);
  [[nodiscard]] Status make_queues();
  void serve_device_event();

  [[nodiscard]] Result<Endpoint> local_end(int peer) override;
  [[nodiscard]] Status bind(int peer, const Endpoint& end) override;
  void send(const DatagramAddress& to, const Handshake& handshake) override {
    datagrams_->send(to, handshake);
  }

  [[nodiscard]] Connection* connection_to(int peer) const {
    // Acquire pairs with the store in local_end().
    return connections_[static_cast<std::size_t>(peer)].load(std::memory_order_acquire);
  }

  const Port port_;
  const std::string name_;  ///< device and port, in the usual form: mlx5_0:1
  const VerbsOptions options_;
  Limits limits_;
  std::vector<std::byte> card_;
  Context context_;
  ProtectionDomain domain_;
  EventChannel channel_;
  CompletionQueue completions_;
  SharedReceives receives_;  ///< for the data queue pairs, which receive no messages
  std::unique_ptr<Credits> credits_;
  VerbsMessageEndpoint messages_;
  std::unique_ptr<Datagrams> datagrams_;
  std::unique_ptr<Wireup> wireup_;
  std::unique_ptr<ConnectionParts> parts_;
  std::vector<std::atomic<Connection*>> connections_;  ///< by peer; owned
  std::mutex regions_lock_;
  std::map<Key, MemoryRegion> regions_;  ///< by local key
};

}  // namespace librma::transport
