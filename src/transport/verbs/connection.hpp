#pragma once

#include <atomic>
#include <cstdint>

#include "transport/verbs/queue_pair.hpp"

namespace rma::transport {

/// What all connections of a port share.
struct ConnectionParts {
  const Port& port;
  ibv_pd* domain = nullptr;
  ibv_cq* data_completions = nullptr;
  ibv_srq* data_receives = nullptr;
  ibv_cq* lane_completions = nullptr;
  ibv_srq* message_buffers = nullptr;
  Credits& data_credits;
  Credits& lane_credits;
  SendQueue::Shape data_shape;
  SendQueue::Shape message_shape;
  SendQueue::Shape transfer_shape;
  std::uint8_t acknowledge_timeout = 0;  ///< in the device's terms: 4.096 us * 2^n
};

/// The three queue pairs of a peer: `data` for the program's RDMA and atomics, `messages`, which bulk never
/// delays, and `transfers` for what is moved on behalf of others.
class Connection {
 public:
  /// Which queue a completion's number means: kQueues * peer + this.
  enum Queue : std::uint8_t { kData, kMessages, kTransfers };
  static constexpr std::uint32_t kQueues = 3;

  Connection(int peer, const ConnectionParts& parts);

  /// Makes the queue pairs. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status create();
  /// What the peer has to know. Its `buffers` are the caller's to fill in.
  [[nodiscard]] const Endpoint& local_end() const { return local_; }
  /// Makes the queue pairs send to, and receive from, the peer's. RMA_ERR_SYSTEM when the device refuses
  /// what the peer says.
  [[nodiscard]] Status bind(const Endpoint& end);

  [[nodiscard]] SendQueue& data() { return data_; }
  [[nodiscard]] SendQueue& messages() { return messages_; }
  [[nodiscard]] SendQueue& transfers() { return transfers_; }
  [[nodiscard]] SendQueue& queue(std::uint32_t which) {
    return which == kData ? data_ : which == kMessages ? messages_ : transfers_;
  }
  /// Pieces of memory that the peer takes in one transfer, once bound.
  [[nodiscard]] std::uint32_t gather() const { return gather_.load(std::memory_order_acquire); }
  /// Messages that the peer has set buffers aside for, once bound.
  [[nodiscard]] std::uint32_t buffers() const { return buffers_.load(std::memory_order_acquire); }
  /// A connection fails as a whole.
  void fail() {
    data_.fail();
    messages_.fail();
    transfers_.fail();
  }

 private:
  [[nodiscard]] Status bind_one(SendQueue& queue, const Endpoint& end, std::uint32_t remote_queue_pair,
                                std::uint32_t remote_packet, std::uint32_t local_packet) const;

  const ConnectionParts& parts_;
  SendQueue data_;
  SendQueue messages_;
  SendQueue transfers_;
  std::atomic<std::uint32_t> buffers_ = 0;
  std::atomic<std::uint32_t> gather_ = 0;
  Endpoint local_;
};

/// Where packets to a port with this GID or LID go.
[[nodiscard]] ibv_ah_attr address_of(const Port& port, const Gid& gid, std::uint16_t lid);

}  // namespace rma::transport
