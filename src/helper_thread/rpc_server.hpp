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

/// The rank that sent a request, and the place for the answer.
struct Asker {
  int rank = -1;
  std::size_t rail = 0;  ///< by which the request came
  std::uint64_t token = 0;
  std::uint64_t reply_address = 0;
  std::uint64_t reply_key = 0;
  std::uint32_t reply_room = 0;
  bool unacknowledged = false;  ///< only a fence waits for the answer
};

/// A request that is being served. Its size was checked, and nothing else.
struct Served {
  const Asker& asker;
  std::span<const std::byte> body;
  std::span<std::byte> room;  ///< for the answer; as large as the asker's room
};

struct Answer {
  /// The maximum number of bytes that a refusal carries.
  static constexpr std::size_t kMostOfRefusal = 16;

  rma_status_t status = RMA_SUCCESS;
  std::size_t bytes = 0;  ///< of the answer, in Served::room
};

/// Serves one kind of request. It never waits. If the work takes long, it starts the work and returns no
/// answer; RpcServer::answer() is called at the end of the work. It checks everything in the body.
using Handler = std::function<std::optional<Answer>(const Served& request)>;

/// The requests of other ranks to this process. It takes them in, fetches bodies that lie in the asker's
/// memory, calls the handlers in the order in which each rank has sent its requests, and sends the answers.
/// Used by the thread that has the channel's turn.
class RpcServer {
 public:
  RpcServer(Channel& channel, Rails& rails, std::size_t buffer_bytes, std::size_t buffers);
  ~RpcServer();

  /// Registers the handler of a kind. Called before the first request.
  void serve(RequestKind kind, Handler handler) {
    handlers_[static_cast<std::size_t>(kind)] = std::move(handler);
  }

  /// Returns whether every kind has a handler.
  [[nodiscard]] bool complete() const {
    return std::all_of(handlers_.begin(), handlers_.end(), [](const Handler& each) { return bool(each); });
  }

  /// Answers a request whose handler returned no answer. The body fits into a message.
  void answer(const Asker& asker, rma_status_t status, std::span<const std::byte> body = {});

 private:
  // Handlers of the channel.
  [[nodiscard]] bool receive(const Message& message);
  bool advance();
  void lost(int peer);

  class Incoming;
  using Queue = std::list<std::unique_ptr<Incoming>>;
  /// The requests of one peer that are not served yet, oldest first.
  struct PeerQueue {
    Queue fresh;           ///< not begun yet; they may need buffers
    Queue started;         ///< older than all fresh ones; they are fetched, served or dropped
    bool in_turn = false;  ///< listed in turns_
  };
  enum class Prepared : std::uint8_t { yes, no_buffer, no_room };

  void answer_served(const Asker& asker, std::span<const std::byte> body, RequestKind kind);
  [[nodiscard]] std::optional<Answer> call(RequestKind kind, const Served& request);
  /// Takes note that an unacknowledged request has been served. Tells its asker once there are many of them.
  void note_done(const Asker& asker);
  void tell_done(int peer);
  /// Begins fresh requests, one of each peer in turn, while there are buffers.
  void give_turns();
  /// Serves the requests that are ready, and drops those that are over.
  void pump(PeerQueue& peer_queue);
  void reap_replies();
  [[nodiscard]] Prepared prepare(Incoming& incoming);
  [[nodiscard]] bool take_buffers(Incoming& incoming);
  /// Gives back the buffers of a request that was not begun.
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
  /// Peers with fresh requests. If buffers are scarce, the first peer gets the next one. It goes to the end
  /// when one of its requests has begun. So a peer waits for at most one request of each other peer.
  std::deque<int> turns_;
  struct Done {
    std::size_t rail = 0;
    std::vector<std::uint64_t> tokens;
  };
  std::vector<int> owed_;           ///< peers with tokens in done_
  std::map<int, Done> done_;        ///< by peer: unacknowledged requests that were served and not reported
  Queue replying_;                  ///< served; their answers are being written
  std::vector<std::byte> scratch_;  ///< for short answers
  bool stalled_ = false;            ///< a request waits for room at an endpoint, or for a buffer
  bool freed_ = false;              ///< a buffer or room has become free since the last look
};

}  // namespace rma
