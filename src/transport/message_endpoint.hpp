#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "transport/transport.hpp"

namespace rma::transport {

/// A second path to a device's peers, for short messages and for the transfers that a process makes for
/// others. It has queues of its own and is polled by itself. So it never waits for the program's transfers,
/// nor they for it. A connection has it from the start. Thread-safe.
class MessageEndpoint {
 public:
  MessageEndpoint() = default;
  MessageEndpoint(const MessageEndpoint&) = delete;
  MessageEndpoint& operator=(const MessageEndpoint&) = delete;
  virtual ~MessageEndpoint() = default;

  struct Limits {
    std::uint32_t gather = 1;       ///< the maximum number of local pieces of one transfer
    std::uint32_t max_inline = 0;   ///< the size up to which a message is copied at posting, in bytes
    std::uint32_t messages = 0;     ///< to one peer that may be posted and not yet polled
    std::uint32_t transfers = 0;    ///< likewise
    std::uint32_t scatters = 0;     ///< post_scatter() for one peer that may wait
    std::uint64_t max_message = 0;  ///< bytes of one transfer
  };
  [[nodiscard]] virtual const Limits& limits() const = 0;

  /// Posts a message, which goes into the oldest buffer that the peer has posted. The completion there
  /// carries its size. RMA_ERR_STATE: there is no room; poll and try again. RMA_ERR_PEER_LOST.
  [[nodiscard]] virtual rma_status_t post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                                  PostFlags flags) = 0;
  /// Posts a write in the same queue as the messages. Its bytes are placed in order, after everything that
  /// was posted before has arrived. Returns the errors of post_message().
  [[nodiscard]] virtual rma_status_t post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                        PostFlags flags) = 0;
  /// Posts a buffer for one message of any peer. RMA_ERR_STATE: the device takes no more buffers.
  [[nodiscard]] virtual rma_status_t post_buffer(Local buffer, Cookie cookie) = 0;

  /// Sets buffers aside for a peer that is about to connect, and returns how many. The thread that connects
  /// calls it. It is set before any connection is made.
  using BufferSource = std::function<std::uint32_t(int peer)>;
  virtual void set_buffer_source(BufferSource source) = 0;
  /// Returns how many buffers `peer`, which is connected, has set aside for messages of this process.
  [[nodiscard]] virtual std::uint32_t buffers_of(int peer) = 0;
  /// Returns the maximum number of pieces of one transfer by `peer`, which is connected.
  [[nodiscard]] virtual std::uint32_t gather_of(int peer) = 0;

  /// Posts a write or read. Returns the errors of post_message().
  [[nodiscard]] virtual rma_status_t post_transfer(int peer, const Work& work) = 0;
  /// Posts a send of `pieces`, which go in their order into the memory of the peer's oldest post_scatter()
  /// for this process.
  [[nodiscard]] virtual rma_status_t post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                                 PostFlags flags) = 0;
  /// Posts memory for one post_gather() of `peer`. The completion carries its size.
  [[nodiscard]] virtual rma_status_t post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) = 0;

  /// See Transport.
  [[nodiscard]] virtual std::size_t poll(std::span<Completion> completions) = 0;
  [[nodiscard]] virtual int event_fd() const = 0;
  [[nodiscard]] virtual bool arm() = 0;
};

}  // namespace rma::transport
