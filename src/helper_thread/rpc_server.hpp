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
#include <utility>
#include <vector>

#include "channel/message.hpp"
#include "fabric/bounce_pool.hpp"
#include "fabric/rails.hpp"
#include "helper_thread/wire.hpp"

namespace librma {

class Channel;

/// The origin of a request, and the place for its answer.
struct Asker {
  int rank = -1;
  std::size_t rail = 0;  ///< the rail that the request came by
  std::uint64_t token = 0;
  std::uint64_t reply_address = 0;
  std::uint64_t reply_key = 0;
  std::uint32_t reply_room = 0;
  bool unacknowledged = false;  ///< no thread waits for this answer alone
};

/// A request that is being served. It is complete, but nothing in its body has been checked.
struct Served {
  const Asker& asker;
  std::span<const std::byte> body;
  std::span<std::byte> room;  ///< for the answer; its size is the asker's room
};

struct Answer {
  /// The most bytes of details in a refusal.
  static constexpr std::size_t kMostOfRefusal = 16;

  rma_status_t status = RMA_SUCCESS;
  std::size_t bytes = 0;  ///< how many bytes of Served::room the answer takes
};

/// Serves one kind of request. It never waits. If the request takes long, the handler starts it and returns
/// no answer, and RpcServer::answer() is called at the end. The handler trusts nothing in the body.
using Handler = std::function<std::optional<Answer>(const Served& request)>;

/// Serves other ranks' requests to this process. It fetches bodies that lie in the asker's memory, calls the
/// handlers in the order in which each rank has asked, and sends the answers. Only the thread that has the
/// channel's turn uses it.
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

  /// Answers a request whose handler returned no answer. The body is short enough for a message.
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
    Queue fresh;           ///< requests not begun; they may need buffers
    Queue started;         ///< older than all fresh ones: being fetched, to be served, or to be dropped
    bool in_turn = false;  ///< listed in turns_
  };
  enum class Prepared : std::uint8_t { yes, no_buffer, no_room };

  void answer_served(const Asker& asker, std::span<const std::byte> body, RequestKind kind);
  [[nodiscard]] std::optional<Answer> call(RequestKind kind, const Served& request);
  /// Records that an unacknowledged request has been served, and tells the asker when kMostDone are recorded.
  void note_done(const Asker& asker);
  void tell_done(int peer);
  /// Begins fresh requests, one of each peer in turn, while there are free buffers.
  void give_turns();
  /// Serves the requests that are ready, and drops those that are over.
  void pump(PeerQueue& peer_queue);
  void reap_replies();
  [[nodiscard]] Prepared prepare(Incoming& incoming);
  [[nodiscard]] bool take_buffers(Incoming& incoming);
  /// Returns the buffers of a request that was not begun.
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
  /// The peers with fresh requests. If buffers are scarce, the first peer gets the next one. A peer goes to
  /// the end with each request that was begun, so it waits for at most one request of each other peer.
  std::deque<int> turns_;
  struct Done {
    std::size_t rail = 0;
    std::vector<std::uint64_t> tokens;
  };
  std::vector<int> owed_;           ///< peers with tokens in done_
  std::map<int, Done> done_;        ///< by peer; served unacknowledged requests that it was not told of
  Queue replying_;                  ///< served requests whose answers are being written
  std::vector<std::byte> scratch_;  ///< for short answers
  bool stalled_ = false;            ///< a request waits for room in an endpoint, or for a buffer
  bool freed_ = false;              ///< a buffer or room has become free since advance() looked
};

}  // namespace librma
