#include "helper_thread/active_messages.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/one_sided/copy.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

constexpr std::size_t kMostFront =
    sizeof(ActiveHeader) + sizeof(std::uint64_t) * RMA_AM_WORDS + sizeof(ActivePlace);
/// The limit of a job of one, whose messages go nowhere.
constexpr std::size_t kMediumAlone = 4096;

bool has_place(ActiveForm form) {
  return form == ActiveForm::long_carried || form == ActiveForm::long_put || form == ActiveForm::data;
}

template <typename Wire>
bool take_wire(std::span<const std::byte>& body, Wire& wire) {
  if (body.size() < sizeof wire) return false;
  std::memcpy(&wire, body.data(), sizeof wire);
  body = body.subspan(sizeof wire);
  return true;
}

std::byte* address_of(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): of this process
}

/// The calling thread runs a handler with this token.
class Handling {
 public:
  Handling(rma_am_token& token, int source, std::size_t rail) : token_(token) {
    token.source = source;
    token.rail = rail;
    token.replied = false;
    token.thread.store(this_thread(), std::memory_order_relaxed);
  }
  ~Handling() { token_.thread.store(0, std::memory_order_relaxed); }
  Handling(const Handling&) = delete;
  Handling& operator=(const Handling&) = delete;

 private:
  rma_am_token& token_;
};

}  // namespace

struct ActiveMessages::Front {
  Front(const ActiveMessage& message, ActiveForm form, ActivePlace place) {
    header.handler = static_cast<std::uint8_t>(message.handler);
    header.form = form;
    header.words = static_cast<std::uint8_t>(message.words.size());
    if (!message.words.empty()) {
      std::memcpy(bytes.data() + size, message.words.data(), message.words.size_bytes());
      size += message.words.size_bytes();
    }
    if (!has_place(form)) return;
    std::memcpy(bytes.data() + size, &place, sizeof place);
    size += sizeof place;
  }
  /// Returns the bytes with the header.
  [[nodiscard]] std::span<const std::byte> encoded() {
    std::memcpy(bytes.data(), &header, sizeof header);
    return {bytes.data(), size};
  }

  ActiveHeader header;
  std::size_t size = sizeof(ActiveHeader);
  std::array<std::byte, kMostFront> bytes;
};

ActiveMessages::ActiveMessages(int rank, int ranks, PendingOperations& pending, Channel* channel,
                               RpcClient* client, Memory memory)
    : rank_(rank),
      pending_(pending),
      channel_(channel),
      client_(client),
      memory_(std::move(memory)),
      most_medium_(channel != nullptr ? channel->max_body() - kMostFront : kMediumAlone),
      peers_(static_cast<std::size_t>(ranks)) {
  if (channel == nullptr) return;
  channel->on_message(kActiveMessage, [this](const Message& message) { return receive(message); });
  channel->on_loss([this](int lost_rank) {
    peer(lost_rank).lost.store(true, std::memory_order_release);
    pending_.engine().wake();
  });
}

Result<int> ActiveMessages::add(rma_am_handler_t handler, void* context) {
  const std::lock_guard guard(adding_);
  const int number = handler_count_.load(std::memory_order_relaxed);
  if (number == RMA_AM_HANDLERS) {
    return Status(RMA_ERR_NO_MEMORY, text("a process has at most {} handlers", RMA_AM_HANDLERS));
  }
  handlers_[static_cast<std::size_t>(number)] = {.run = handler, .context = context};
  handler_count_.store(number + 1, std::memory_order_release);  // pairs with the loads of the count
  return number;
}

bool ActiveMessages::handling() const {
  // Only the thread itself stores its number, so the order does not matter.
  const std::uintptr_t self = this_thread();
  return turn_token_.thread.load(std::memory_order_relaxed) == self ||
         own_token_.thread.load(std::memory_order_relaxed) == self;
}

Status ActiveMessages::check(const ActiveMessage& message, std::size_t most_long) const {
  if (static_cast<unsigned>(message.handler) >=
      static_cast<unsigned>(handler_count_.load(std::memory_order_acquire))) [[unlikely]] {
    return {RMA_ERR_ARGUMENT, text("no handler has the number {}", message.handler)};
  }
  const std::size_t most = message.form == ActiveForm::long_carried ? most_long : most_medium_;
  if (message.payload.size() <= most) [[likely]]
    return {};
  return {RMA_ERR_SIZE,
          text("the payload has {} bytes, and may have {} (rma_am_limits)", message.payload.size(), most)};
}

Status ActiveMessages::lost(int rank) const {
  return {RMA_ERR_PEER_LOST, text("rank {} has ended, or cannot be reached any more", rank)};
}

// ---- Sending ----

Status ActiveMessages::reach(int rank, std::size_t& rail) {
  Peer& to = peer(rank);
  if (const std::int32_t known = to.rail.load(std::memory_order_relaxed); known >= 0) [[likely]] {
    rail = static_cast<std::size_t>(known);
    return {};
  }
  if (client_ == nullptr) {
    return {RMA_ERR_UNSUPPORTED,
            "this job has no registered memory for messages: raise the limit of locked memory (ulimit -l)"};
  }
  RMA_TRY(client_->reach(rank, &rail));
  to.rail.store(static_cast<std::int32_t>(rail), std::memory_order_relaxed);
  return {};
}

Status ActiveMessages::admit(int rank) {
  Peer& to = peer(rank);
  const auto enter = [&to] {
    std::uint32_t open = to.open.load(std::memory_order_relaxed);
    while (open < kMostOpen) {
      // Relaxed: the count bounds memory, and publishes nothing.
      if (to.open.compare_exchange_weak(open, open + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  };
  if (enter()) [[likely]]
    return {};
  bool entered = false;
  pending_.engine().wait_until(
      rank, [&] { return (entered = enter()) || to.lost.load(std::memory_order_acquire); });
  return entered ? Status() : lost(rank);
}

Status ActiveMessages::place_payload(int rank, const ActiveMessage& message, ActiveForm& form) {
  const std::size_t bytes = message.payload.size();
  form = message.form;
  if (form != ActiveForm::long_carried || bytes == 0) return {};
  if (std::byte* const here = memory_.mapped(message.place, bytes, rank); here != nullptr) {
    copy_bytes(here, message.payload.data(), bytes);
    form = ActiveForm::long_put;
  } else if (bytes > most_medium_) {
    RMA_TRY(memory_.put(message.place, message.payload, rank));
    form = ActiveForm::long_put;
  }
  return {};
}

Status ActiveMessages::post(int rank, std::size_t rail, const ActiveMessage& message, ActiveForm form) {
  Front front(message, form,
              {.address = reinterpret_cast<std::uintptr_t>(message.place), .bytes = message.payload.size()});
  const std::span<const std::byte> head = front.encoded();
  const std::span<const std::byte> tail =
      form == ActiveForm::long_put ? std::span<const std::byte>() : message.payload;
  rma_status_t status = channel_->try_send(rank, rail, kActiveMessage, head, tail);
  if (status == RMA_ERR_STATE) {
    pending_.engine().wait_until(rank, [&] {
      status = channel_->try_send(rank, rail, kActiveMessage, head, tail);
      return status != RMA_ERR_STATE;
    });
  }
  if (status == RMA_SUCCESS) [[likely]]
    return {};
  peer(rank).open.fetch_sub(1, std::memory_order_relaxed);
  return status == RMA_ERR_PEER_LOST ? lost(rank) : Status(status, text("rank {} takes no messages", rank));
}

Status ActiveMessages::request(int rank, const ActiveMessage& message) {
  if (handling()) return {RMA_ERR_STATE, "a handler sends no requests"};
  RMA_TRY(check(message, SIZE_MAX));
  if (rank == rank_) {
    const std::lock_guard guard(own_lock_);
    const Handling own(own_token_, rank, 0);
    handle_own(&own_token_, message);
    return {};
  }
  std::size_t rail = 0;
  RMA_TRY(reach(rank, rail));
  ActiveForm form = message.form;
  RMA_TRY(place_payload(rank, message, form));
  RMA_TRY(admit(rank));
  return post(rank, rail, message, form);
}

void ActiveMessages::send_parts(const rma_am_token_t& token, const ActiveMessage& message, std::size_t from) {
  const auto place = reinterpret_cast<std::uintptr_t>(message.place);
  for (std::size_t at = from; at < message.payload.size(); at += most_medium_) {
    const auto part = message.payload.subspan(at, std::min(most_medium_, message.payload.size() - at));
    Front front({.handler = 0}, ActiveForm::data, {.address = place + at, .bytes = part.size()});
    front.header.reply = 1;
    channel_->send(token.source, token.rail, kActiveMessage, front.encoded(), part);
  }
}

void ActiveMessages::send_reply(const rma_am_token_t& token, const ActiveMessage& message) {
  const std::size_t bytes = message.payload.size();
  ActiveForm form = message.form;
  if (form == ActiveForm::long_carried && bytes != 0) {
    std::byte* const here = memory_.mapped(message.place, bytes, token.source);
    if (here != nullptr) {
      copy_bytes(here, message.payload.data(), bytes);
      form = ActiveForm::long_put;
    } else if (bytes > most_medium_) {
      send_parts(token, message, 0);
      form = ActiveForm::long_put;
    }
  }
  Front front(message, form, {.address = reinterpret_cast<std::uintptr_t>(message.place), .bytes = bytes});
  front.header.reply = 1;
  front.header.done = static_cast<std::uint16_t>(std::exchange(peer(token.source).owed, 0));
  channel_->send(token.source, token.rail, kActiveMessage, front.encoded(),
                 form == ActiveForm::long_put ? std::span<const std::byte>() : message.payload);
}

Status ActiveMessages::reply(rma_am_token_t* token, const ActiveMessage& message) {
  const bool known = token == &turn_token_ || token == &own_token_;
  if (!known || token->thread.load(std::memory_order_relaxed) != this_thread()) {
    return {RMA_ERR_STATE, "a reply is sent by the handler that got the token, while it runs"};
  }
  if (token->replied) return {RMA_ERR_STATE, "the handler has replied already"};
  RMA_TRY(check(message, most_long_reply()));
  token->replied = true;
  if (token == &own_token_) {
    handle_own(nullptr, message);
  } else {
    send_reply(*token, message);
  }
  return {};
}

Status ActiveMessages::wait(const std::function<bool()>& met, int rank) {
  if (handling()) return {RMA_ERR_STATE, "a handler does not wait"};
  bool over = met();
  if (over) return {};
  std::size_t rail = 0;
  if (rank >= 0 && rank != rank_) {
    // Only the loss of a rank that this one has connected with is reported.
    RMA_TRY(reach(rank, rail));
  }
  const std::atomic<bool>* const gone = rank >= 0 ? &peer(rank).lost : nullptr;
  pending_.engine().wait_until(ProgressEngine::kNoRank, [&] {
    return (over = met()) || (gone != nullptr && gone->load(std::memory_order_acquire));
  });
  return over ? Status() : lost(rank);
}

// ---- Receiving ----

bool ActiveMessages::settle(int rank, std::uint32_t count) {
  std::atomic<std::uint32_t>& open = peer(rank).open;
  // Only the thread with the turn makes the count smaller, but for a request that could not be sent.
  if (open.load(std::memory_order_relaxed) < count) return false;
  open.fetch_sub(count, std::memory_order_relaxed);
  return true;
}

bool ActiveMessages::take_place(const Message& message, ActiveForm form, std::span<const std::byte>& body,
                                std::span<std::byte>& payload) {
  ActivePlace place;
  if (!take_wire(body, place)) return false;
  if (place.bytes != 0 && !memory_.in_reach(place.address, place.bytes, message.peer)) return false;
  payload = {address_of(place.address), place.bytes};
  if (form == ActiveForm::long_put) return body.empty();
  if (body.size() != place.bytes) return false;
  std::ranges::copy(body, payload.begin());
  return true;
}

bool ActiveMessages::receive(const Message& message) {
  std::span<const std::byte> body = message.body;
  ActiveHeader header;
  if (!take_wire(body, header) || header.form >= ActiveForm::count_ || header.reply > 1) return false;
  std::array<std::uint64_t, RMA_AM_WORDS> words;
  if (header.words > words.size() || body.size() < header.words * sizeof words[0]) return false;
  if (header.words != 0) std::memcpy(words.data(), body.data(), header.words * sizeof words[0]);
  body = body.subspan(header.words * sizeof words[0]);

  std::span<std::byte> payload;
  if (has_place(header.form)) {
    if (!take_place(message, header.form, body, payload)) return false;
  } else if (header.form == ActiveForm::medium) {
    // The message is a copy of this process, which nobody else changes.
    payload = {const_cast<std::byte*>(body.data()), body.size()};
  } else if (!body.empty()) {
    return false;
  }
  if (header.form == ActiveForm::data) return true;
  if (header.form == ActiveForm::done) return settle(message.peer, header.done);
  if (header.reply != 0 && !settle(message.peer, header.done + 1U)) return false;
  if (header.handler >= handler_count_.load(std::memory_order_acquire)) return false;

  const Handling handled(turn_token_, message.peer, message.rail);
  handle(header.reply == 0 ? &turn_token_ : nullptr, {.source = message.peer,
                                                      .handler = header.handler,
                                                      .word_count = header.words,
                                                      .words = words.data(),
                                                      .payload = payload.data(),
                                                      .bytes = payload.size()});
  if (header.reply == 0 && !turn_token_.replied) owe(message.peer, message.rail);
  return true;
}

void ActiveMessages::handle(rma_am_token_t* token, const rma_am_message_t& message) const {
  const Handler& handler = handlers_[static_cast<std::size_t>(message.handler)];
  handler.run(handler.context, token, &message);
}

void ActiveMessages::owe(int rank, std::size_t rail) {
  std::uint32_t& owed = peer(rank).owed;
  if (++owed < kMostOwed) return;
  Front front({.handler = 0}, ActiveForm::done, {});
  front.header.done = static_cast<std::uint16_t>(std::exchange(owed, 0));
  channel_->send(rank, rail, kActiveMessage, front.encoded(), {});
}

// ---- Messages to this rank ----

void ActiveMessages::handle_own(rma_am_token_t* token, const ActiveMessage& message) const {
  std::array<std::uint64_t, RMA_AM_WORDS> words;
  std::ranges::copy(message.words, words.begin());
  std::vector<std::uint64_t> buffer;
  void* payload = nullptr;
  const std::size_t bytes = message.payload.size();
  if (message.form == ActiveForm::medium) {
    buffer.resize(bytes / sizeof(std::uint64_t) + 1);
    payload = buffer.data();
  } else if (message.form == ActiveForm::long_carried) {
    payload = message.place;
  }
  if (bytes != 0) std::memmove(payload, message.payload.data(), bytes);
  handle(token, {.source = rank_,
                 .handler = message.handler,
                 .word_count = static_cast<int>(message.words.size()),
                 .words = words.data(),
                 .payload = payload,
                 .bytes = bytes});
}

}  // namespace librma
