#pragma once

#include <atomic>
#include <cstdint>

#include "transport/verbs/queue_pair.hpp"

namespace librma::transport {

/// The objects and limits that all connections of a port share.
struct ConnectionParts {
  const Port& port;
  ibv_pd* domain = nullptr;
  ibv_cq* data_completions = nullptr;
  ibv_srq* data_receives = nullptr;
  ibv_cq* lane_completions = nullptr;
  ibv_srq* message_buffers = nullptr;
  Credits& data_credits;
  Credits& lane_credits;
  SendQueue::Options data_options;
  SendQueue::Options message_options;
  SendQueue::Options transfer_options;
  std::uint8_t acknowledge_timeout = 0;  ///< the device's exponent n; the timeout is 4.096 us * 2^n
};

/// The three queue pairs to a peer. `data` carries the program's RDMA and atomics. `messages` carries
/// messages, which large transfers never delay. `transfers` carries RDMA on behalf of other ranks.
class Connection {
 public:
  /// A queue's number in completions is kQueues * peer + this.
  enum Queue : std::uint8_t { kData, kMessages, kTransfers };
  static constexpr std::uint32_t kQueues = 3;

  Connection(int peer, const ConnectionParts& parts);

  /// Makes the queue pairs. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status create();
  /// Returns the data that the peer needs to connect. The caller fills in its `buffers`.
  [[nodiscard]] const Endpoint& local_end() const { return local_; }
  /// Connects the queue pairs to those of the peer. RMA_ERR_SYSTEM if the peer's data are invalid or the
  /// device refuses them.
  [[nodiscard]] Status bind(const Endpoint& end);

  [[nodiscard]] SendQueue& data() { return data_; }
  [[nodiscard]] SendQueue& messages() { return messages_; }
  [[nodiscard]] SendQueue& transfers() { return transfers_; }
  [[nodiscard]] SendQueue& queue(std::uint32_t which) {
    return which == kData ? data_ : which == kMessages ? messages_ : transfers_;
  }
  /// Returns how many pieces of memory the peer accepts in one transfer; 0 before bind().
  [[nodiscard]] std::uint32_t gather() const { return gather_.load(std::memory_order_acquire); }
  /// Returns how many buffers the peer has set aside for this process's messages; 0 before bind().
  [[nodiscard]] std::uint32_t buffers() const { return buffers_.load(std::memory_order_acquire); }
  /// Makes all three queue pairs fail: a connection fails as a whole.
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

/// Returns the address of a port with this GID or LID, as the device needs it.
[[nodiscard]] ibv_ah_attr address_of(const Port& port, const Gid& gid, std::uint16_t lid);

}  // namespace librma::transport
