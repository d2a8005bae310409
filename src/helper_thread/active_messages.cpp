#include "helper_thread/active_messages.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/one_sided/copy.hpp"
#include "helper_thread/active_front.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// The limit of a job of one, whose messages go nowhere.
constexpr std::size_t kMediumAlone = 4096;

/// rma_am_poll looks at the channel once in so many polls that find nothing, if messages come by rings.
constexpr unsigned kPollsOfRings = 64;

}  // namespace

ActiveMessages::ActiveMessages(const Ranks& ranks, PendingOperations& pending, Channel* channel,
                               RpcClient* client, Memory memory)
    : rank_(ranks.own),
      rings_to_all_(ranks.rings_to_all),
      pending_(pending),
      client_(client),
      memory_(std::move(memory)),
      most_medium_(channel != nullptr ? channel->max_body() - ActiveFront::kMost : kMediumAlone),
      peers_(static_cast<std::size_t>(ranks.all)) {
  if (channel == nullptr) return;
  outbox_.emplace(ranks.all, *channel, memory_.rings);
  inbox_.emplace(ranks.all, *channel, *outbox_, pending.engine(), memory_.rings,
                 memory_.rings.doorbell(rank_),
                 [this](int source, std::size_t rail, std::span<const std::byte> body) {
                   return receive(source, rail, body);
                 });
  channel->on_loss([this](int lost_rank) {
    outbox_->close(lost_rank);
    inbox_->close(lost_rank);
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
  ActivePeer& to = peer(rank);
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
  ActivePeer& to = peer(rank);
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
  if (bytes == 0) return {};
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
  ActiveFront front(
      message, form,
      {.address = reinterpret_cast<std::uintptr_t>(message.place), .bytes = message.payload.size()});
  const std::span<const std::byte> head = front.encoded();
  const std::span<const std::byte> tail =
      form == ActiveForm::long_put ? std::span<const std::byte>() : message.payload;
  rma_status_t status = outbox_->try_send(rank, rail, head, tail);
  if (status == RMA_ERR_STATE) {
    pending_.engine().wait_until(rank, [&] {
      status = outbox_->try_send(rank, rail, head, tail);
      return status != RMA_ERR_STATE;
    });
  }
  if (status == RMA_SUCCESS) [[likely]]
    return {};
  peer(rank).open.fetch_sub(1, std::memory_order_relaxed);
  return status == RMA_ERR_PEER_LOST ? lost(rank) : Status(status, text("rank {} takes no messages", rank));
}

bool ActiveMessages::send_at_once(int rank, const ActiveMessage& message, ActiveHeader header) {
  const std::span<const std::byte> words = std::as_bytes(message.words);
  if (message.form != ActiveForm::words || words.size() > RingLine::kBody) return false;
  header.handler = static_cast<std::uint8_t>(message.handler);
  header.words = static_cast<std::uint8_t>(message.words.size());
  return outbox_->send_at_once(rank, header, words);
}

Status ActiveMessages::request(int rank, const ActiveMessage& message) {
  if (handling()) return {RMA_ERR_STATE, "a handler sends no requests"};
  RMA_TRY(check(message, SIZE_MAX));
  if (rank == rank_) {
    const std::lock_guard guard(own_lock_);
    const ActiveHandling own(own_token_, rank, 0);
    handle_own(&own_token_, message);
    return {};
  }
  std::size_t rail = 0;
  RMA_TRY(reach(rank, rail));
  ActiveForm form = message.form;
  if (form == ActiveForm::long_carried) {
    RMA_TRY(place_payload(rank, message, form));
  }
  RMA_TRY(admit(rank));
  if (send_at_once(rank, message, {})) [[likely]]
    return {};
  return post(rank, rail, message, form);
}

void ActiveMessages::send_parts(const rma_am_token_t& token, const ActiveMessage& message, std::size_t from) {
  const auto place = reinterpret_cast<std::uintptr_t>(message.place);
  for (std::size_t at = from; at < message.payload.size(); at += most_medium_) {
    const auto part = message.payload.subspan(at, std::min(most_medium_, message.payload.size() - at));
    ActiveFront front({.handler = 0}, ActiveForm::data, {.address = place + at, .bytes = part.size()});
    front.header.reply = 1;
    outbox_->send(token.source, token.rail, front.encoded(), part);
  }
}

void ActiveMessages::send_reply(const rma_am_token_t& token, const ActiveMessage& message) {
  const std::size_t bytes = message.payload.size();
  std::uint32_t& owed = peer(token.source).owed;
  if (send_at_once(token.source, message, {.reply = 1, .done = static_cast<std::uint16_t>(owed)})) {
    owed = 0;
    return;
  }
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
  ActiveFront front(message, form,
                    {.address = reinterpret_cast<std::uintptr_t>(message.place), .bytes = bytes});
  front.header.reply = 1;
  front.header.done = static_cast<std::uint16_t>(std::exchange(owed, 0));
  outbox_->send(token.source, token.rail, front.encoded(),
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

Status ActiveMessages::poll(const WaitPolicy& policy) {
  if (handling()) return {RMA_ERR_STATE, "a handler does not poll"};
  if (poll_rings()) return {};
  if (rings_to_all_) {
    // Relaxed: the number orders nothing.
    const unsigned polls = empty_polls_.load(std::memory_order_relaxed) + 1;
    empty_polls_.store(polls, std::memory_order_relaxed);
    if (polls % kPollsOfRings != 0) {
      let_others_run(policy);
      return {};
    }
  }
  if (!pending_.engine().progress()) let_others_run(policy);
  return {};
}

// This is not poll_and_yield(), because each poll takes messages in. They may be the first of many, so after
// them the count of polls starts anew.
template <typename Condition>
bool ActiveMessages::poll_rings_until(const WaitPolicy& policy, const Condition& condition) {
  for (std::uint64_t i = 0; i < policy.spins; ++i) {
    if (poll_rings()) {
      if (condition()) return true;
      i = 0;
      continue;
    }
    if (condition()) return true;
    if (i % kPollsOfRings == kPollsOfRings - 1) {
      pending_.engine().progress();
    } else if (i >= kEagerPolls) {
      pause_processor();
    }
  }
  return false;
}

Status ActiveMessages::wait(const WaitPolicy& policy, const std::function<bool()>& met, int rank) {
  if (handling()) return {RMA_ERR_STATE, "a handler does not wait"};
  bool over = met();
  if (over) return {};
  std::size_t rail = 0;
  if (rank >= 0 && rank != rank_) {
    // Only the loss of a rank that this one has connected with is reported.
    RMA_TRY(reach(rank, rail));
  }
  const std::atomic<bool>* const gone = rank >= 0 ? &peer(rank).lost : nullptr;
  const auto ended = [&] {
    return (over = met()) || (gone != nullptr && gone->load(std::memory_order_acquire));
  };
  if (rings_to_all_ && poll_rings_until(policy, ended)) return over ? Status() : lost(rank);
  pending_.engine().wait_until(ProgressEngine::kNoRank, ended);
  return over ? Status() : lost(rank);
}

}  // namespace librma
