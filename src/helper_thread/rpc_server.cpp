#include "helper_thread/rpc_server.hpp"

#include <cstring>

#include "channel/channel.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"

namespace librma {
namespace {

/// The most unacknowledged requests of one rank that are served before the rank is told. The shortest message
/// size has room for their tokens.
constexpr std::size_t kMostDone = 32;

}  // namespace

/// A request from its arrival to its answer: the server fetches its body if necessary, serves it, and writes
/// a long answer.
class RpcServer::Incoming final : public Posted {
 public:
  enum class State : std::uint8_t { fresh, fetching, ready, served, writing, over };

  Incoming(RpcServer& owner, const Asker& whose, const RequestHeader& request)
      : asker(whose), header(request), owner_(owner) {}

  void ended(int /*peer*/, rma_status_t status, std::uint32_t /*bytes*/) override {
    if (status != RMA_SUCCESS) {
      // The connection has failed too, so nobody waits for an answer.
      if (state == State::fetching) owner_.pool_->give_lost(std::exchange(body_buffer, nullptr));
      state = State::over;
      owner_.channel_.fail(asker.rank);
    } else if (state == State::fetching) {
      state = State::ready;
    } else {
      owner_.finish(*this);
      state = State::over;
    }
    owner_.freed_ = true;
  }

  const Asker asker;
  const RequestHeader header;
  State state = State::fresh;
  std::vector<std::byte> body;        ///< the body, if it came with the request
  std::byte* body_buffer = nullptr;   ///< the body, if it was fetched
  std::byte* reply_buffer = nullptr;  ///< for an answer that may be long
  Answer answer;
  [[nodiscard]] bool in_progress() const { return state == State::fetching || state == State::writing; }

 private:
  RpcServer& owner_;
};

RpcServer::RpcServer(Channel& channel, Rails& rails, std::size_t buffer_bytes, std::size_t buffers)
    : channel_(channel),
      most_in_message_(channel.max_body() - sizeof(RequestHeader)),
      most_in_reply_(channel.max_body() - sizeof(ReplyHeader)),
      scratch_(most_in_reply_) {
  channel.on_message(kRequestMessage, [this](const Message& message) { return receive(message); });
  channel.on_loss([this](int peer) { lost(peer); });
  channel.on_progress([this] { return advance(); });
  auto pool = BouncePool::create(rails, buffer_bytes, buffers);
  if (pool.ok()) {
    pool_ = std::move(pool).value();
  } else {
    log(LogLevel::warn, "no buffers to serve long requests of other ranks: {}", pool.status().text());
  }
}

RpcServer::~RpcServer() = default;

std::optional<Answer> RpcServer::call(RequestKind kind, const Served& request) {
  const Handler& handler = handlers_[static_cast<std::size_t>(kind)];
  count(Counter::helper_served);
  std::optional<Answer> answer = handler(request);
  if (answer && answer->status != RMA_SUCCESS) {
    count(Counter::helper_refused);
    answer->bytes = std::min(answer->bytes, Answer::kMostOfRefusal);
  }
  return answer;
}

bool RpcServer::receive(const Message& message) {
  RequestHeader header;
  if (message.body.size() < sizeof header) return false;
  std::memcpy(&header, message.body.data(), sizeof header);
  const std::span<const std::byte> body = message.body.subspan(sizeof header);
  if (header.body_address == 0 ? header.body_bytes != body.size() : !body.empty()) return false;
  if (header.kind >= RequestKind::count_ || !handlers_[static_cast<std::size_t>(header.kind)]) return false;
  const Asker asker = {.rank = message.peer,
                       .rail = message.rail,
                       .token = header.token,
                       .reply_address = header.reply_address,
                       .reply_key = header.reply_key,
                       .reply_room = header.reply_room,
                       .unacknowledged = header.unacknowledged != 0};
  PeerQueue& peer_queue = queues_[message.peer];
  const bool whole = header.body_address == 0 && header.reply_room <= most_in_reply_;
  if (whole && peer_queue.fresh.empty() && peer_queue.started.empty()) {
    answer_served(asker, body, header.kind);
    return true;
  }
  if (peer_queue.fresh.size() + peer_queue.started.size() >= kMostOpenRequests) return false;
  auto incoming = std::make_unique<Incoming>(*this, asker, header);
  incoming->body.assign(body.begin(), body.end());
  peer_queue.fresh.push_back(std::move(incoming));
  if (!std::exchange(peer_queue.in_turn, true)) turns_.push_back(message.peer);
  give_turns();
  return true;
}

void RpcServer::answer_served(const Asker& asker, std::span<const std::byte> body, RequestKind kind) {
  const std::span<std::byte> room(scratch_.data(), std::min<std::size_t>(asker.reply_room, scratch_.size()));
  if (const auto given = call(kind, {.asker = asker, .body = body, .room = room})) {
    answer(asker, given->status, room.first(given->bytes));
  }
}

void RpcServer::answer(const Asker& asker, rma_status_t status, std::span<const std::byte> body) {
  if (asker.unacknowledged && status == RMA_SUCCESS && body.empty()) {
    note_done(asker);
    return;
  }
  const ReplyHeader header = {.token = asker.token,
                              .status = static_cast<std::int32_t>(status),
                              .bytes = static_cast<std::uint32_t>(body.size())};
  channel_.send(asker.rank, asker.rail, kReplyMessage,
                {reinterpret_cast<const std::byte*>(&header), sizeof header}, body);
}

void RpcServer::note_done(const Asker& asker) {
  Done& done = done_[asker.rank];
  if (!done.tokens.empty() && done.rail != asker.rail) tell_done(asker.rank);
  done.rail = asker.rail;
  if (done.tokens.empty()) owed_.push_back(asker.rank);
  done.tokens.push_back(asker.token);
  if (done.tokens.size() == kMostDone) tell_done(asker.rank);
}

void RpcServer::tell_done(int peer) {
  Done& done = done_[peer];
  if (done.tokens.empty()) return;
  channel_.send(peer, done.rail, kDoneMessage, std::as_bytes(std::span(done.tokens)), {});
  done.tokens.clear();
}

bool RpcServer::take_buffers(Incoming& incoming) {
  // Takes both buffers or none. Two requests that each held one and waited for another would wait for ever.
  const bool fetch = incoming.header.body_address != 0;
  const bool reply = incoming.asker.reply_room > most_in_reply_;
  if (fetch && (incoming.body_buffer = pool_->take()) == nullptr) return false;
  if (!reply || (incoming.reply_buffer = pool_->take()) != nullptr) return true;
  return_buffers(incoming);
  return false;
}

void RpcServer::return_buffers(Incoming& incoming) {
  // Does not call give_buffer(), which sets freed_: a waiting request gains nothing from buffers that were
  // free before.
  for (std::byte** const buffer : {&incoming.body_buffer, &incoming.reply_buffer}) {
    if (*buffer != nullptr) pool_->give(std::exchange(*buffer, nullptr));
  }
}

void RpcServer::give_buffer(std::byte*& buffer) {
  if (buffer == nullptr) return;
  pool_->give(std::exchange(buffer, nullptr));
  freed_ = true;
}

RpcServer::Prepared RpcServer::prepare(Incoming& incoming) {
  const RequestHeader& header = incoming.header;
  const bool fetch = header.body_address != 0;
  const bool long_reply = incoming.asker.reply_room > most_in_reply_;
  constexpr std::size_t kMostForOne = 2;
  const bool usable = pool_ != nullptr && pool_->usable() >= kMostForOne;
  const std::size_t most = usable ? pool_->bytes() : 0;
  if ((fetch && header.body_bytes > most) || (long_reply && incoming.asker.reply_room > most)) {
    // The asker has another RMA_HELPER_BUFFER, or this process has no buffers. The status tells the asker
    // which.
    answer(incoming.asker, usable ? RMA_ERR_SIZE : RMA_ERR_NO_MEMORY);
    incoming.state = Incoming::State::over;
    return Prepared::yes;
  }
  if (!take_buffers(incoming)) return Prepared::no_buffer;
  if (!fetch) {
    incoming.state = Incoming::State::ready;
    return Prepared::yes;
  }
  const transport::Local piece = {.address = incoming.body_buffer,
                                  .bytes = header.body_bytes,
                                  .key = pool_->registered().local_key(incoming.asker.rail)};
  const rma_status_t status =
      channel_.endpoint(incoming.asker.rail)
          .post_transfer(incoming.asker.rank, {.direction = transport::Direction::read,
                                               .remote = {header.body_address, header.body_key},
                                               .pieces = {&piece, 1},
                                               .cookie = incoming.cookie(),
                                               .flags = {}});
  if (status == RMA_ERR_STATE) {
    // The next request in turn may take them meanwhile, so no request that is not begun makes another wait.
    return_buffers(incoming);
    return Prepared::no_room;
  }
  incoming.state = status == RMA_SUCCESS ? Incoming::State::fetching : Incoming::State::over;
  if (status != RMA_SUCCESS) channel_.fail(incoming.asker.rank);
  return Prepared::yes;
}

void RpcServer::run(Incoming& incoming) {
  const std::span<const std::byte> body =
      incoming.body_buffer != nullptr
          ? std::span<const std::byte>(incoming.body_buffer, incoming.header.body_bytes)
          : std::span<const std::byte>(incoming.body);
  const Asker& asker = incoming.asker;
  if (incoming.reply_buffer == nullptr) {
    answer_served(asker, body, incoming.header.kind);
    incoming.state = Incoming::State::over;
    return;
  }
  const std::span<std::byte> room(incoming.reply_buffer, asker.reply_room);
  const auto given = call(incoming.header.kind, {.asker = asker, .body = body, .room = room});
  incoming.state = Incoming::State::over;
  if (!given) return;
  if (given->bytes <= most_in_reply_) {
    answer(asker, given->status, room.first(given->bytes));
    return;
  }
  incoming.answer = *given;
  incoming.state = Incoming::State::served;
}

bool RpcServer::write_reply(Incoming& incoming) {
  const Asker& asker = incoming.asker;
  const transport::Local piece = {.address = incoming.reply_buffer,
                                  .bytes = incoming.answer.bytes,
                                  .key = pool_->registered().local_key(asker.rail)};
  const rma_status_t status =
      channel_.endpoint(asker.rail)
          .post_transfer(asker.rank, {.direction = transport::Direction::write,
                                      .remote = {asker.reply_address, asker.reply_key},
                                      .pieces = {&piece, 1},
                                      .cookie = incoming.cookie(),
                                      .flags = {}});
  if (status == RMA_ERR_STATE) return false;
  incoming.state = status == RMA_SUCCESS ? Incoming::State::writing : Incoming::State::over;
  if (status != RMA_SUCCESS) channel_.fail(asker.rank);
  return true;
}

void RpcServer::finish(Incoming& incoming) {
  const ReplyHeader header = {.token = incoming.asker.token,
                              .status = RMA_SUCCESS,
                              .bytes = static_cast<std::uint32_t>(incoming.answer.bytes),
                              .written = 1};
  channel_.send(incoming.asker.rank, incoming.asker.rail, kReplyMessage,
                {reinterpret_cast<const std::byte*>(&header), sizeof header}, {});
}

void RpcServer::give_turns() {
  std::size_t without_room = 0;  // peers in a row whose endpoint had no room
  while (without_room < turns_.size()) {
    const int peer = turns_.front();
    PeerQueue& peer_queue = queues_[peer];
    if (!peer_queue.fresh.empty()) {
      const Prepared prepared = prepare(*peer_queue.fresh.front());
      // No other peer overtakes the first one. Otherwise a request for two buffers might never find both
      // free.
      stalled_ = stalled_ || prepared != Prepared::yes;
      if (prepared == Prepared::no_buffer) return;
      without_room = prepared == Prepared::no_room ? without_room + 1 : 0;
      if (prepared == Prepared::yes)
        peer_queue.started.splice(peer_queue.started.end(), peer_queue.fresh, peer_queue.fresh.begin());
    }
    turns_.pop_front();
    peer_queue.in_turn = !peer_queue.fresh.empty();
    if (peer_queue.in_turn) turns_.push_back(peer);
    pump(peer_queue);
  }
}

void RpcServer::pump(PeerQueue& peer_queue) {
  Queue& queue = peer_queue.started;
  while (!queue.empty()) {
    Incoming& first = *queue.front();
    if (first.state == Incoming::State::ready) run(first);
    if (first.state == Incoming::State::fetching) return;
    if (first.state == Incoming::State::served) {
      if (!write_reply(first)) {
        stalled_ = true;
        return;
      }
    }
    if (first.body_buffer != nullptr) give_buffer(first.body_buffer);
    if (first.state == Incoming::State::over) {
      give_buffer(first.reply_buffer);
      queue.pop_front();
    } else {
      replying_.splice(replying_.end(), queue, queue.begin());
    }
  }
}

void RpcServer::reap_replies() {
  for (auto reply = replying_.begin(); reply != replying_.end();) {
    if ((*reply)->state == Incoming::State::over) {
      give_buffer((*reply)->reply_buffer);
      reply = replying_.erase(reply);
    } else {
      ++reply;
    }
  }
}

bool RpcServer::advance() {
  bool moved = false;
  while (freed_ || stalled_) {
    moved = moved || freed_;
    freed_ = false;
    stalled_ = false;
    reap_replies();
    for (auto& [peer, peer_queue] : queues_) pump(peer_queue);
    give_turns();
    if (!freed_) break;
  }
  // Acknowledges last, so that requests that came in together are acknowledged together.
  moved = moved || !owed_.empty();
  for (const int peer : owed_) tell_done(peer);
  owed_.clear();
  return moved;
}

void RpcServer::lost(int peer) {
  done_[peer].tokens.clear();
  const auto found = queues_.find(peer);
  if (found == queues_.end()) return;
  PeerQueue& peer_queue = found->second;
  peer_queue.started.splice(peer_queue.started.end(), peer_queue.fresh);
  for (auto& incoming : peer_queue.started) {
    if (!incoming->in_progress()) incoming->state = Incoming::State::over;
  }
  freed_ = true;
}

}  // namespace librma
