#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "transport/shm/segment.hpp"
#include "util/status.hpp"

namespace rma::transport {

/// What a process has of another of its host: its segment and its bell, the queue of messages to it (in that
/// segment), and that of the messages from it (in this process's). Sending is thread-safe.
class ShmPeer {
 public:
  /// Opens what the card names; it is not told of anything yet. Status as MappedSegment::of().
  [[nodiscard]] static Result<std::unique_ptr<ShmPeer>> meet(const ShmCard& card, std::size_t seat);

  [[nodiscard]] int rank() const { return rank_; }
  /// Its number among the processes of the host.
  [[nodiscard]] std::size_t seat() const { return seat_; }
  [[nodiscard]] const Descriptor& process_file() const { return process_file_; }

  /// Sits down at `seat` of the peer's segment, once, so that the peer admits the owner of `card`.
  void call(std::size_t seat, const ShmCard& card);
  /// What the peer has said to whom sits at `seat`. With `admitted`, messages can be sent from here on. An
  /// answer that makes no sense is `refused`.
  [[nodiscard]] Seat::Answer open(std::size_t seat);
  /// Messages that the peer has set buffers aside for; none before open().
  [[nodiscard]] std::uint32_t buffers() const;

  /// Sends. RMA_ERR_STATE: no free slot. RMA_ERR_SIZE. RMA_ERR_PEER_LOST.
  [[nodiscard]] rma_status_t post(std::span<const Local> pieces);
  /// Writes to the peer's segment, which `to` names in the peer's addresses. Wakes nobody. RMA_ERR_ADDRESS
  /// when it does not lie there. RMA_ERR_PEER_LOST.
  [[nodiscard]] rma_status_t write(Remote to, std::span<const std::byte> bytes);
  /// Wakes the peer's threads, whether they sleep or not.
  void ring();

  /// Nothing is sent any more.
  void fail() { failed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// Whether the peer has said that it leaves. What it sent before can be seen then.
  [[nodiscard]] bool closed() const {
    return segment_.head().closed.load(std::memory_order_acquire) !=
           0;  // pairs with the store in ~ShmMessageEndpoint
  }

  // For who polls, with the endpoint's turn:
  std::optional<QueueReceiver> from;
  bool gone = false;  ///< the process has ended, or is leaving: after what is in the queue, nothing comes
  bool told = false;  ///< and that was reported

 private:
  ShmPeer(const ShmCard& card, std::size_t seat)
      : rank_(card.rank), seat_(seat), process_(static_cast<pid_t>(card.process)), its_base_(card.base) {}

  const int rank_;
  const std::size_t seat_;
  const pid_t process_;
  const std::uint64_t its_base_;
  MappedSegment segment_;
  Descriptor bell_;
  Descriptor process_file_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> open_ = false;
  std::mutex lock_;  ///< of the following
  bool called_ = false;
  std::optional<QueueSender> to_;
  std::uint32_t buffers_ = 0;  ///< not changed once open_ is true
  std::uint32_t rung_ = 0;     ///< the last of its sleeps that was ended from here
};

}  // namespace rma::transport
