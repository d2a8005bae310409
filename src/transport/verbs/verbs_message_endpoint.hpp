#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "transport/message_endpoint.hpp"
#include "transport/verbs/connection.hpp"
#include "transport/verbs/objects.hpp"

namespace rma::transport {

/// A port's message endpoint: the `messages` and `transfers` queue pairs of its connections, which share one
/// completion queue and one queue of message buffers. Thread-safe.
class VerbsMessageEndpoint final : public MessageEndpoint {
 public:
  struct Options {
    std::uint32_t buffers = 0;      ///< message buffers that may be posted at the same time
    std::uint32_t completions = 0;  ///< messages and transfers, to all peers, that may be under way
    std::uint32_t inline_bytes = 0;
    std::uint64_t max_message = 0;
  };
  /// The connection to a peer; null before there is one.
  using Connections = std::function<Connection*(int peer)>;

  VerbsMessageEndpoint(std::string name, Connections connections)
      : name_(std::move(name)), connections_(std::move(connections)) {}

  /// Makes the queues, with at most what the device can do. RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] Status create(ibv_context* context, ibv_pd* domain, const ibv_device_attr& device,
                              const Options& options);
  /// Room for what is under way.
  [[nodiscard]] Credits& credits() { return *credits_; }
  /// Fills in what connections have to know of the endpoint.
  void describe(ConnectionParts& parts) const;
  /// A connection to `peer` is being made: sets message buffers aside for it.
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
  [[nodiscard]] bool arm() override;

 private:
  /// Whose queue pair has the number; -1 for none. Tells scatters from message buffers.
  [[nodiscard]] int owner(std::uint32_t queue_pair, bool* scatter);

  const std::string name_;
  const Connections connections_;
  BufferSource source_;
  Limits limits_;
  EventChannel channel_;
  CompletionQueue completions_;
  SharedReceives buffers_;
  std::unique_ptr<Credits> credits_;
  SendQueue::Shape message_shape_;
  SendQueue::Shape transfer_shape_;
  std::mutex owners_lock_;
  std::map<std::uint32_t, std::uint32_t> owners_;  ///< Connection's number of a queue, by queue pair
};

/// What a request's completion says, once its queue has taken it in.
struct EndedRequest {
  Completion completion;
  bool report = false;  ///< somebody waits for it
};
/// Takes in the completion of a request, of any of a connection's queues; one that failed fails the whole
/// connection. `name` is the device's, for the log.
[[nodiscard]] EndedRequest end_request(const VerbsMessageEndpoint::Connections& connections,
                                       const std::string& name, const ibv_wc& work);

/// Takes all events off a channel and asks `queue` for one more.
void rearm(const EventChannel& channel, ibv_cq* queue);
[[nodiscard]] Result<EventChannel> make_channel(ibv_context* context);
[[nodiscard]] rma_status_t status_of(ibv_wc_status status);

}  // namespace rma::transport
