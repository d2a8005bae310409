#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "transport/transport.hpp"

namespace rma::transport {

/// The second way to a device's peers, beside the one for the program's transfers, so that neither waits for
/// the other's threads or bulk: short messages, and the transfers that a process makes for others. It has
/// queues of its own and is polled by itself. A connection has it from the start. Thread-safe.
class MessageEndpoint {
 public:
  MessageEndpoint() = default;
  MessageEndpoint(const MessageEndpoint&) = delete;
  MessageEndpoint& operator=(const MessageEndpoint&) = delete;
  virtual ~MessageEndpoint() = default;

  struct Limits {
    std::uint32_t gather = 1;       ///< local pieces of one transfer
    std::uint32_t max_inline = 0;   ///< bytes of a message that is copied at posting
    std::uint32_t messages = 0;     ///< to one peer that may be posted and not yet polled
    std::uint32_t transfers = 0;    ///< likewise
    std::uint32_t scatters = 0;     ///< post_scatter() for one peer that may wait
    std::uint64_t max_message = 0;  ///< bytes of one transfer
  };
  [[nodiscard]] virtual const Limits& limits() const = 0;

  /// A message into the oldest buffer that the peer has posted, whose completion there carries the size.
  /// RMA_ERR_STATE: no room, poll and try again. RMA_ERR_PEER_LOST.
  [[nodiscard]] virtual rma_status_t post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                                  PostFlags flags) = 0;
  /// A write, in the same queue as the messages: it takes room of it, and what was posted before it has
  /// arrived when it is placed, its bytes in their order. Status as post_message().
  [[nodiscard]] virtual rma_status_t post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                        PostFlags flags) = 0;
  /// A buffer for one message, from any peer. RMA_ERR_STATE: there are as many as the device takes.
  [[nodiscard]] virtual rma_status_t post_buffer(Local buffer, Cookie cookie) = 0;

  /// Who sets buffers aside for a peer that is about to connect, and says how many. Before any connection;
  /// called by whichever thread connects.
  using BufferSource = std::function<std::uint32_t(int peer)>;
  virtual void set_buffer_source(BufferSource source) = 0;
  /// Messages that `peer`, which is connected, has set buffers aside for.
  [[nodiscard]] virtual std::uint32_t buffers_of(int peer) = 0;
  /// Pieces of memory that `peer`, which is connected, takes in one transfer.
  [[nodiscard]] virtual std::uint32_t gather_of(int peer) = 0;

  /// One write or read. Status as post_message().
  [[nodiscard]] virtual rma_status_t post_transfer(int peer, const Work& work) = 0;
  /// `pieces` go, in their order, into the memory of the peer's oldest post_scatter() for this process.
  [[nodiscard]] virtual rma_status_t post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                                 PostFlags flags) = 0;
  /// Memory for one post_gather() of `peer`; its completion carries the size.
  [[nodiscard]] virtual rma_status_t post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) = 0;

  /// As Transport's.
  [[nodiscard]] virtual std::size_t poll(std::span<Completion> completions) = 0;
  [[nodiscard]] virtual int event_fd() const = 0;
  [[nodiscard]] virtual bool arm() = 0;
};

}  // namespace rma::transport
