#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/ofi/ofi_driver.hpp"
#include "transport/ofi/ofi_handshakes.hpp"
#include "transport/ofi/ofi_lane.hpp"
#include "transport/ofi/ofi_memory.hpp"
#include "transport/ofi/ofi_message_endpoint.hpp"
#include "transport/ofi/ofi_operations.hpp"
#include "transport/ofi/ofi_wire.hpp"
#include "transport/service_thread.hpp"
#include "transport/transport.hpp"

namespace librma::transport {

/// The options of a transport by libfabric.
struct OfiOptions {
  int rank = 0;
  int ranks = 1;
  Secret secret = {};             ///< secret of this process; peers that call it learn it from its card
  std::uint32_t queue_depth = 0;  ///< most operations to one peer that are posted and not yet polled
  std::uint32_t completions = 0;  ///< the same for all peers together
  std::chrono::milliseconds timeout{0};          ///< a peer that does not answer for this long counts as lost
  std::chrono::milliseconds connect_timeout{0};  ///< the same for a call to connect
};

/// An interface that libfabric drives, with one endpoint for both ways to a peer (FI_EP_RDM). Thread-safe.
///
/// Each operation asks for a completion when the peer has its data (FI_DELIVERY_COMPLETE): a provider may
/// lose what it had taken for complete before, if its connection breaks, and connect anew without a word. So
/// any failure of an operation is the end of the connection for this transport.
class OfiTransport final : public Transport, public OfiWireup::WireupExchange {
 public:
  /// Opens the candidate and registers handlers with `service`, which drive the provider and answer peers
  /// that connect. The caller starts `service` later and stops it before it destroys the transport.
  /// RMA_ERR_SYSTEM, RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED.
  [[nodiscard]] static Result<std::unique_ptr<OfiTransport>> open(const FabricCandidate& candidate,
                                                                  const OfiOptions& options,
                                                                  ServiceThread& service);
  ~OfiTransport() override;

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] Result<Registration> register_memory(std::byte* address, std::size_t bytes) override {
    return memory_.add(address, bytes);
  }
  void deregister_memory(const Registration& registration) override { memory_.remove(registration); }
  [[nodiscard]] std::span<const std::byte> card() const override { return card_; }
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card) override;
  void fail(int peer) override;
  [[nodiscard]] rma_status_t post(int peer, std::span<const Work> work, std::size_t* posted) override;
  [[nodiscard]] std::uint32_t outstanding(int peer) override;
  [[nodiscard]] rma_status_t post_atomic(int peer, rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie) override;
  [[nodiscard]] MessageEndpoint* message_endpoint() override { return &messages_; }
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return data_.event_fd(); }
  [[nodiscard]] bool arm() override;
  void follow(Attendants& attendants) override { driver_.follow(attendants); }
  void watch_writes(const std::function<void()>& written) override { driver_.watch_writes(written); }

 private:
  OfiTransport(const FabricCandidate& candidate, const OfiOptions& options);
  [[nodiscard]] Status start(const FabricCandidate& candidate, ServiceThread& service);
  [[nodiscard]] Status open_objects(const FabricCandidate& candidate);
  [[nodiscard]] Status open_queue();
  [[nodiscard]] Status read_address(const std::string& provider);

  [[nodiscard]] Result<OfiEnd> local_end(int peer) override;
  [[nodiscard]] Status bind(int peer, const OfiEnd& end) override;
  void send(const OfiAddress& to, const OfiHandshake& handshake) override { handshakes_.send(to, handshake); }

  [[nodiscard]] OfiPeer* peer_at(int rank) const {
    // Acquire pairs with the store in local_end().
    return peers_[static_cast<std::size_t>(rank)].load(std::memory_order_acquire);
  }

  const std::string name_;
  const OfiOptions options_;
  const FabricTraits traits_;
  Limits limits_;
  OfiAddress address_;
  std::vector<std::byte> card_;
  Fabric fabric_;
  Domain domain_;
  AddressVector addresses_;
  OfiCompletionQueue queue_;
  OfiEndpoint endpoint_;
  OfiMemory memory_;
  OfiOperations operations_;
  OfiLane data_;
  OfiLane message_lane_;
  std::vector<std::atomic<OfiPeer*>> peers_;  ///< by rank; owned
  using Marks = std::array<std::uint64_t, 2>;
  std::vector<Marks> marks_;  ///< by rank: the memory of OfiPeer::trailers
  Key marks_key_ = 0;
  OfiDriver driver_;
  OfiMessageEndpoint messages_;
  OfiTransfers transfers_;
  OfiHandshakes handshakes_;
  std::unique_ptr<OfiWireup> wireup_;
  std::uint64_t empty_ = 0;  ///< the place of peers' writes without data
  Registration empty_registration_;
};

}  // namespace librma::transport
