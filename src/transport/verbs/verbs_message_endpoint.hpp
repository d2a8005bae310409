#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "transport/message_endpoint.hpp"
#include "transport/verbs/connection.hpp"
#include "transport/verbs/objects.hpp"

namespace librma::transport {

/// A port's message endpoint: the `messages` and `transfers` queue pairs of its connections, which share one
/// completion queue and one queue of message buffers. Thread-safe.
class VerbsMessageEndpoint final : public MessageEndpoint {
 public:
  struct Options {
    std::uint32_t buffers = 0;      ///< the maximum number of posted message buffers
    std::uint32_t completions = 0;  ///< the maximum number of messages and transfers under way, to
                                    ///< all peers together
    std::uint32_t inline_bytes = 0;
    std::uint64_t max_message = 0;
  };
  /// Returns the connection to a peer; null if there is none yet.
  using Connections = std::function<Connection*(int peer)>;

  VerbsMessageEndpoint(std::string name, Connections connections)
      : name_(std::move(name)), connections_(std::move(connections)) {}

  /// Makes the queues, within the device's limits. RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] Status create(ibv_context* context, ibv_pd* domain, const ibv_device_attr& device,
                              const Options& options);
  /// Returns the completion queue's room for work under way.
  [[nodiscard]] Credits& credits() { return *credits_; }
  /// Fills in the endpoint's part of the objects that connections share.
  void describe(ConnectionParts& parts) const;
  /// Sets message buffers aside for `peer`, to which a connection is being made, and enters them into `end`.
  void admit(int peer, Endpoint& end);

  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] rma_status_t post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                          PostFlags flags) override;
  [[nodiscard]] rma_status_t post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                PostFlags flags) override;
  [[nodiscard]] rma_status_t post_buffer(Local buffer, Cookie cookie) override;
  void set_buffer_source(BufferSource source) override { source_ = std::move(source); }
  [[nodiscard]] std::uint32_t buffers_of(int peer) override;
  [[nodiscard]] std::uint32_t gather_of(int peer) override;
  [[nodiscard]] rma_status_t post_transfer(int peer, const Work& work) override;
  [[nodiscard]] rma_status_t post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                         PostFlags flags) override;
  [[nodiscard]] rma_status_t post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) override;
  [[nodiscard]] std::size_t poll(std::span<Completion> completions) override;
  [[nodiscard]] int event_fd() const override { return channel_->fd; }
  [[nodiscard]] bool arm(Events events) override;

 private:
  /// Says that this process posts something whose completion is to raise an event, whatever was armed for.
  void expect_event();
  /// Posts something to the queue `transfers` of a connection.
  template <typename Post>
  [[nodiscard]] rma_status_t move(int peer, const Post& post);
  /// Returns the peer whose queue pair has this number; -1 if there is none. Says whether a receive there is
  /// a scatter or a message buffer.
  [[nodiscard]] int owner(std::uint32_t queue_pair, bool* scatter);

  const std::string name_;
  const Connections connections_;
  BufferSource source_;
  Limits limits_;
  EventChannel channel_;
  CompletionQueue completions_;
  SharedReceives buffers_;
  std::unique_ptr<Credits> credits_;
  SendQueue::Options message_options_;
  SendQueue::Options transfer_options_;
  std::mutex arming_;  ///< held while the completion queue is armed
  /// Transfers, gathers and scatters that are posted and not yet polled.
  std::atomic<std::int64_t> moving_ = 0;
  std::atomic<bool> solicited_only_ = false;  ///< armed for solicited events, and for no others
  std::mutex owners_lock_;
  std::map<std::uint32_t, std::uint32_t> owners_;  ///< a queue's number (see Connection::Queue), by the
                                                   ///< device's number of the queue pair
};

/// The outcome of a request, after its queue has handled the completion.
struct EndedRequest {
  Completion completion;
  bool report = false;         ///< the poster waits for it
  std::uint32_t queue = 0;     ///< Connection::Queue
  std::uint32_t requests = 0;  ///< how many requests of that queue have ended with this completion
};
/// Handles the completion of a request of any of a connection's queues. If the request failed, the whole
/// connection fails. `name` is the name of the device, for the log.
[[nodiscard]] EndedRequest end_request(const VerbsMessageEndpoint::Connections& connections,
                                       const std::string& name, const ibv_wc& work);

/// Removes all events from the channel and asks `queue` for the next one.
void rearm(const EventChannel& channel, ibv_cq* queue, bool solicited_only = false);
[[nodiscard]] Result<EventChannel> make_channel(ibv_context* context);
[[nodiscard]] rma_status_t status_of(ibv_wc_status status);

}  // namespace librma::transport
