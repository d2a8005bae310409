#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "transport/verbs/handshake.hpp"
#include "transport/verbs/objects.hpp"
#include "util/status.hpp"

namespace librma::transport {

/// An unreliable-datagram queue pair for handshakes. A datagram may be lost on its way, or if it arrives
/// while no receive is free.
class Datagrams {
 public:
  using Receiver = std::function<void(std::span<const std::byte>)>;

  Datagrams(const Port& port, ibv_pd* domain) : port_(port), domain_(domain) {}

  /// Makes the queue pair and posts its receives. RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] Status open(ibv_context* context);

  [[nodiscard]] const DatagramAddress& address() const { return address_; }
  /// Returns a descriptor that becomes readable when serve() has something to do.
  [[nodiscard]] int event_fd() const { return channel_->fd; }
  /// Passes the datagrams that have arrived to `receiver`, and arms event_fd() again. Only one
  /// thread calls it.
  void serve(const Receiver& receiver);

  /// Sends a datagram. It is lost if no buffer is free. Thread-safe.
  void send(const DatagramAddress& to, const Handshake& handshake);

 private:
  static constexpr std::size_t kReceives = 64;
  static constexpr std::size_t kSends = 16;
  static constexpr std::size_t kHeader = 40;  ///< the global routing header that precedes every datagram
  static constexpr std::size_t kSlot = 256;
  static_assert(kHeader + sizeof(Handshake) <= kSlot);

  [[nodiscard]] std::byte* slot(std::size_t index) { return memory_.data() + index * kSlot; }
  [[nodiscard]] bool post_receive(std::size_t index);
  [[nodiscard]] ibv_ah* handle_for(const DatagramAddress& to);
  void reap();

  const Port& port_;
  ibv_pd* const domain_;
  std::vector<std::byte> memory_;  ///< kReceives slots, then kSends
  MemoryRegion region_;
  EventChannel channel_;
  CompletionQueue received_;
  CompletionQueue sent_;
  QueuePair queue_pair_;
  DatagramAddress address_;
  std::mutex send_lock_;  ///< guards the members below
  std::vector<std::size_t> free_sends_;
  std::map<std::pair<Gid, std::uint16_t>, AddressHandle> handles_;
};

}  // namespace librma::transport
