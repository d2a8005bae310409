#pragma once

#include <cstdint>

#include "transport/verbs/queue_pair.hpp"

namespace rma::transport {

/// What all connections of a port share.
struct ConnectionParts {
  const Port& port;
  ibv_pd* domain = nullptr;
  ibv_cq* data_completions = nullptr;
  ibv_cq* control_completions = nullptr;
  ibv_srq* data_receives = nullptr;
  ibv_srq* control_receives = nullptr;
  Credits& data_credits;
  Credits& control_credits;
  SendQueue::Shape data_shape;
  SendQueue::Shape control_shape;
  std::uint8_t acknowledge_timeout = 0;  ///< in the device's terms: 4.096 us * 2^n
};

/// The two queue pairs of a peer: `data` for RDMA and atomics, `control` for messages, so that bulk never
/// delays these.
class Connection {
 public:
  /// The numbers of its queues in completions are 2 * peer and 2 * peer + 1.
  Connection(int peer, const ConnectionParts& parts);

  /// Makes both queue pairs. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status create();
  /// What the peer has to know.
  [[nodiscard]] const Endpoint& local_end() const { return local_; }
  /// Makes both queue pairs send to, and receive from, the peer's. RMA_ERR_SYSTEM when the device refuses
  /// what the peer says.
  [[nodiscard]] Status bind(const Endpoint& end);

  [[nodiscard]] SendQueue& data() { return data_; }
  [[nodiscard]] SendQueue& control() { return control_; }
  /// A connection fails as a whole.
  void fail() {
    data_.fail();
    control_.fail();
  }

 private:
  [[nodiscard]] Status bind_one(SendQueue& queue, const Endpoint& end, std::uint32_t remote_queue_pair,
                                std::uint32_t remote_packet, std::uint32_t local_packet) const;

  const ConnectionParts& parts_;
  SendQueue data_;
  SendQueue control_;
  Endpoint local_;
};

/// Where packets to a port with this GID or LID go.
[[nodiscard]] ibv_ah_attr address_of(const Port& port, const Gid& gid, std::uint16_t lid);

}  // namespace rma::transport
