#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "transport/transport.hpp"

namespace librma::transport {

/// The second way to a device's peers, beside the one for the program's transfers. It carries short messages,
/// and the transfers that a process makes for others. So neither way waits for the other's threads or bulk
/// data. It has its own queues and its own poll(). Each connection has it from the start. Thread-safe.
class MessageEndpoint {
 public:
  MessageEndpoint() = default;
  MessageEndpoint(const MessageEndpoint&) = delete;
  MessageEndpoint& operator=(const MessageEndpoint&) = delete;
  virtual ~MessageEndpoint() = default;

  struct Limits {
    std::uint32_t gather = 1;       ///< most local pieces of one transfer
    std::uint32_t max_inline = 0;   ///< most bytes of a message that is copied at posting
    std::uint32_t messages = 0;     ///< most messages to one peer that may be posted and not yet polled
    std::uint32_t transfers = 0;    ///< most transfers to one peer that may be posted and not yet polled
    std::uint32_t scatters = 0;     ///< most post_scatter() for one peer that may wait
    std::uint64_t max_message = 0;  ///< most bytes of one transfer
    std::uint32_t trailer = 0;      ///< bytes of a posted buffer that the endpoint needs behind a message
  };
  [[nodiscard]] virtual const Limits& limits() const = 0;

  /// Sends a message into the oldest buffer that the peer has posted. The completion there carries the size.
  /// RMA_ERR_STATE if there is no room; poll and try again. RMA_ERR_PEER_LOST.
  [[nodiscard]] virtual rma_status_t post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                                  PostFlags flags) = 0;
  /// Posts a write in the queue of the messages, and takes room of it. Everything that was posted before has
  /// arrived when the write is placed, and the bytes are placed in the order of their addresses. Returns the
  /// same statuses as post_message().
  [[nodiscard]] virtual rma_status_t post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                        PostFlags flags) = 0;
  /// Posts a buffer for one message, from any peer, and for Limits::trailer bytes behind it. RMA_ERR_STATE if
  /// the device takes no more.
  [[nodiscard]] virtual rma_status_t post_buffer(Local buffer, Cookie cookie) = 0;

  /// Sets buffers aside for a peer that is about to connect, and returns how many. Registered before any
  /// connection. The thread that connects calls it.
  using BufferSource = std::function<std::uint32_t(int peer)>;
  virtual void set_buffer_source(BufferSource source) = 0;
  /// Returns the number of message buffers that `peer`, which is connected, has set aside for this process.
  [[nodiscard]] virtual std::uint32_t buffers_of(int peer) = 0;
  /// Returns the most pieces of memory that `peer`, which is connected, takes in one transfer.
  [[nodiscard]] virtual std::uint32_t gather_of(int peer) = 0;

  /// Posts one write or read. Returns the same statuses as post_message().
  [[nodiscard]] virtual rma_status_t post_transfer(int peer, const Work& work) = 0;
  /// Sends `pieces`, in their order, into the memory of the peer's oldest post_scatter() for this process.
  [[nodiscard]] virtual rma_status_t post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                                 PostFlags flags) = 0;
  /// Posts memory for one post_gather() of `peer`. Its completion carries the size.
  [[nodiscard]] virtual rma_status_t post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) = 0;

  /// Says which completions raise the next event.
  enum class Events : std::uint8_t {
    all,
    /// Those of messages that were sent as solicited and of gathers, and of transfers, gathers and scatters
    /// that this process has posted. An endpoint may raise more events.
    solicited,
  };
  /// These three work as those of Transport do.
  [[nodiscard]] virtual std::size_t poll(std::span<Completion> completions) = 0;
  [[nodiscard]] virtual int event_fd() const = 0;
  [[nodiscard]] virtual bool arm(Events events) = 0;
  /// Returns whether the service thread will ask all that it watches (ServiceThread::Prepare) without a
  /// call: within two milliseconds, or when the thread of the program that waits and polls this endpoint is
  /// through. The end of this state is stored before the thread asks; that store and this load are
  /// sequentially consistent.
  [[nodiscard]] virtual bool asks_by_clock() const { return false; }
};

}  // namespace librma::transport
