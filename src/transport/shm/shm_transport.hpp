#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "transport/shm/cma_transport.hpp"
#include "transport/shm/shm_message_endpoint.hpp"
#include "transport/transport.hpp"

namespace librma::transport {

/// The transport between processes of one host: messages through shared memory (ShmMessageEndpoint),
/// transfers by cross memory attach. Peers are named by their ranks.
class ShmTransport final : public Transport {
 public:
  /// Returns the errors of ShmMessageEndpoint::create().
  [[nodiscard]] static Result<std::unique_ptr<ShmTransport>> open(const ShmOptions& options);

  [[nodiscard]] std::string_view name() const override { return "shm"; }
  [[nodiscard]] const Limits& limits() const override { return moves_.limits(); }
  [[nodiscard]] Result<Registration> register_memory(std::byte* address, std::size_t bytes) override {
    return moves_.register_memory(address, bytes);
  }
  void deregister_memory(const Registration& registration) override {
    moves_.deregister_memory(registration);
  }
  [[nodiscard]] PeerMemory* peer_memory() override { return &messages_->segment(); }
  [[nodiscard]] std::span<const std::byte> card() const override {
    return std::as_bytes(std::span(&messages_->card(), 1));
  }
  /// Connects with `peer`. RMA_ERR_LAUNCH and RMA_ERR_VERSION if the card is not valid or not the peer's;
  /// RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card) override;
  void fail(int peer) override;
  [[nodiscard]] rma_status_t post(int peer, std::span<const Work> work, std::size_t* posted) override;
  [[nodiscard]] std::uint32_t outstanding(int /*peer*/) override { return 0; }
  [[nodiscard]] rma_status_t post_atomic(int /*peer*/, rma_atomic_op_t /*op*/, Remote /*target*/,
                                         std::uint64_t /*operand*/, std::uint64_t /*compare*/, Local /*old*/,
                                         Cookie /*cookie*/) override {
    return RMA_ERR_UNSUPPORTED;
  }
  [[nodiscard]] MessageEndpoint* message_endpoint() override { return messages_.get(); }
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override {
    return moves_.poll(completions);
  }
  [[nodiscard]] int event_fd() const override { return -1; }
  [[nodiscard]] bool arm() override { return moves_.arm(); }

 private:
  ShmTransport(std::unique_ptr<ShmMessageEndpoint> messages, const HostPeers& host, int peers, bool cma)
      : messages_(std::move(messages)), host_(host), peers_(peers), moves_(peers, cma) {}

  const std::unique_ptr<ShmMessageEndpoint> messages_;
  const HostPeers& host_;
  const int peers_;  ///< peers' ranks are below this
  CmaTransport moves_;
};

}  // namespace librma::transport
