#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "channel/channel.hpp"
#include "fabric/bounce_pool.hpp"
#include "helper_thread/wire.hpp"

namespace rma {

/// Who asked, and where the answer goes.
struct Asker {
  int rank = -1;
  std::size_t rail = 0;  ///< that the request came by
  std::uint64_t token = 0;
  std::uint64_t reply_address = 0;
  std::uint64_t reply_key = 0;
  std::uint32_t reply_room = 0;
  bool unacknowledged = false;  ///< nobody waits for this answer alone
};

/// A request that is being served: nothing of it has been checked but that it is all there.
struct Served {
  const Asker& asker;
  std::span<const std::byte> body;
  std::span<std::byte> room;  ///< for the answer: as many bytes as the asker has room for
};

struct Answer {
  /// What a refusal may say more.
  static constexpr std::size_t kMostOfRefusal = 16;

  rma_status_t status = RMA_SUCCESS;
  std::size_t bytes = 0;  ///< of Served::room that are the answer
};

/// Serves one kind of request. It never waits: what takes long is started, none is returned, and
/// RpcServer::answer() called at its end. It believes nothing that stands in the body.
using Handler = std::function<std::optional<Answer>(const Served& request)>;

/// Other ranks' requests to this process: takes them in, fetches bodies that lie with the asker, has them
/// served in the order of asking of each rank, and sends the answers. Used by who has the channel's turn.
class RpcServer {
 public:
  RpcServer(Channel& channel, Rails& rails, std::size_t buffer_bytes, std::size_t buffers);
  ~RpcServer();

  /// Before the first request.
  void serve(RequestKind kind, Handler handler) {
    handlers_[static_cast<std::size_t>(kind)] = std::move(handler);
  }

  /// Whether every kind is served.
  [[nodiscard]] bool complete() const {
    return std::all_of(handlers_.begin(), handlers_.end(), [](const Handler& each) { return bool(each); });
  }

  /// Answers a request that was not answered when it was served. A body is short.
  void answer(const Asker& asker, rma_status_t status, std::span<const std::byte> body = {});

 private:
  // Handlers of the channel.
  [[nodiscard]] bool receive(const Message& message);
  bool advance();
  void lost(int peer);

  class Incoming;
  using Queue = std::list<std::unique_ptr<Incoming>>;
  /// One peer's requests that are not served yet, oldest first.
  struct PeerQueue {
    Queue fresh;           ///< not begun: they may need buffers
    Queue started;         ///< before all fresh ones: being fetched, or to be served, or to be dropped
    bool in_turn = false;  ///< listed in turns_
  };
  enum class Prepared : std::uint8_t { yes, no_buffer, no_room };

  void answer_served(const Asker& asker, std::span<const std::byte> body, RequestKind kind);
  [[nodiscard]] std::optional<Answer> call(RequestKind kind, const Served& request);
  /// Remembers that an unacknowledged request has been served, and tells its asker when there are many of
  /// those.
  void note_done(const Asker& asker);
  void tell_done(int peer);
  /// Begins fresh requests, one of each peer in turn, as long as there are buffers.
  void give_turns();
  /// Serves what is ready, and drops what is over.
  void pump(PeerQueue& peer_queue);
  void reap_replies();
  [[nodiscard]] Prepared prepare(Incoming& incoming);
  [[nodiscard]] bool take_buffers(Incoming& incoming);
  /// Those of a request that was not begun.
  void return_buffers(Incoming& incoming);
  void give_buffer(std::byte*& buffer);
  void run(Incoming& incoming);
  [[nodiscard]] bool write_reply(Incoming& incoming);
  void finish(Incoming& incoming);

  Channel& channel_;
  const std::size_t most_in_message_;
  const std::size_t most_in_reply_;
  std::unique_ptr<BouncePool> pool_;
  std::array<Handler, static_cast<std::size_t>(RequestKind::count_)> handlers_;
  std::map<int, PeerQueue> queues_;  ///< by peer
  /// Peers with fresh requests. Where buffers are scarce, the first gets the next: it goes to the end with
  /// each request that was begun, so every peer is waited for by at most one request of each other.
  std::deque<int> turns_;
  struct Done {
    std::size_t rail = 0;
    std::vector<std::uint64_t> tokens;
  };
  std::vector<int> owed_;     ///< peers with tokens in done_
  std::map<int, Done> done_;  ///< by peer; unacknowledged requests served, of which it has not been told
  Queue replying_;            ///< served, and their answers being written
  std::vector<std::byte> scratch_;  ///< for short answers
  bool stalled_ = false;            ///< something waits for room in a endpoint, or for a buffer
  bool freed_ = false;              ///< a buffer or room has become free since that was looked at
};

}  // namespace rma
