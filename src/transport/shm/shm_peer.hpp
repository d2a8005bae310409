#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "transport/shm/host_peers.hpp"
#include "transport/shm/segment.hpp"
#include "transport/transport.hpp"
#include "util/status.hpp"

namespace librma::transport {

/// Another process of this host, as this process sees it: its segment and its wakeup, the queue of
/// messages to it (in that segment), and the queue of messages from it (in this process's segment).
/// Sending is thread-safe.
class ShmPeer {
 public:
  /// Maps the segment that `host`, the process of the card, has handed over. The peer does not notice.
  /// Returns the errors of MappedSegment::of(). `host` outlives the result.
  [[nodiscard]] static Result<std::unique_ptr<ShmPeer>> meet(const ShmCard& card, std::size_t seat,
                                                             HostPeer& host);

  [[nodiscard]] int rank() const { return rank_; }
  /// Returns the peer's number among the processes of the host.
  [[nodiscard]] std::size_t seat() const { return seat_; }
  /// Returns a descriptor that is readable once the peer's process has ended.
  [[nodiscard]] int end() const { return host_.end(); }

  /// Writes `card` to `seat` of the peer's segment, so that the peer admits the owner of `card`. Only the
  /// first call does so.
  void call(std::size_t seat, const ShmCard& card);
  /// Returns the peer's answer to the process at `seat`. After `admitted`, messages can be sent. An invalid
  /// answer counts as `refused`.
  [[nodiscard]] Seat::Answer open(std::size_t seat);
  /// Returns how many buffers the peer has set aside for messages of this process; 0 before open().
  [[nodiscard]] std::uint32_t buffers() const;

  /// Sends a message. RMA_ERR_STATE if no slot is free; RMA_ERR_SIZE; RMA_ERR_PEER_LOST.
  [[nodiscard]] rma_status_t post(std::span<const Local> pieces);
  /// Writes to the peer's segment, at `to`, which is an address of the peer. Does not wake the peer.
  /// RMA_ERR_ADDRESS if the bytes do not lie in the segment; RMA_ERR_PEER_LOST.
  [[nodiscard]] rma_status_t write(Remote to, std::span<const std::byte> bytes);
  /// Returns the peer's [address, address + bytes), by the peer's addresses, as mapped here; no value if it
  /// does not lie in the peer's segment.
  [[nodiscard]] std::optional<std::span<std::byte>> memory(std::uint64_t address, std::uint64_t bytes) const {
    if (address < peer_base_) return std::nullopt;
    return segment_.range(address - peer_base_, bytes);
  }
  /// Executes a transfer whose remote memory lies in the peer's segment. Returns whether it does.
  [[nodiscard]] bool copy(const Work& work) const;
  /// Wakes the peer's threads, whether they sleep or not.
  void wake();

  /// Gives the peer up: later sends fail with RMA_ERR_PEER_LOST.
  void fail() { failed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// Returns whether the peer has announced that it leaves. Everything that it sent before is visible then.
  [[nodiscard]] bool closed() const {
    return segment_.head().closed.load(std::memory_order_acquire) !=
           0;  // pairs with the store in ~ShmMessageEndpoint
  }

  // The thread that polls, which holds the endpoint's poll_lock_, uses the members below.
  std::optional<QueueReceiver> from;
  bool gone = false;  ///< the process has ended, or is leaving: no messages will follow those in the queue
  bool told = false;  ///< poll() has reported the end

 private:
  ShmPeer(const ShmCard& card, std::size_t seat, const HostPeer& host)
      : rank_(card.rank), seat_(seat), peer_base_(card.base), host_(host) {}

  const int rank_;
  const std::size_t seat_;
  const std::uint64_t peer_base_;
  const HostPeer& host_;
  MappedSegment segment_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> open_ = false;
  std::mutex lock_;  ///< guards the members below
  bool called_ = false;
  std::optional<QueueSender> to_;
  std::uint32_t buffers_ = 0;   ///< not changed once open_ is true
  std::uint32_t signaled_ = 0;  ///< the last of the peer's sleeps for which this process has signaled
};

}  // namespace librma::transport
