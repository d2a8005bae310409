// The steps of a rank that loses another one, or gives a context up.

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "channel/channel.hpp"
#include "messages/messages.hpp"

namespace librma {
namespace {

/// A thread looks at most this often, in ms, whether a rank of this host has ended.
constexpr std::int64_t kLookEvery = 50;

/// A thread that waits asks ranks of other hosts for a sign of life so often in RMA_PEER_TIMEOUT. It gives a
/// rank up after as many looks without one. Looks are counted, not the time: on a busy host a thread may not
/// run for that long, while the rank has answered.
constexpr int kLooksInTimeout = 4;

}  // namespace

std::int64_t Messages::monotonic_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Messages::look_for_ended_ranks() {
  const std::int64_t now = monotonic_ms();
  std::int64_t before = looked_.load(std::memory_order_relaxed);
  if (now - before < kLookEvery || !looked_.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
    return;
  }
  for (const int rank : job_.local_seats()) {
    if (rank == job_.rank() || outbox_.lost(rank) || !job_.mapped(rank) || !job_.ended(rank)) continue;
    arrivals_.drain(rank);  // all that the rank sent before it ended
    if (!outbox_.lost(rank)) lose(rank);
  }
}

std::vector<Messages::Awaited> Messages::awaited_ranks() {
  std::vector<Awaited> awaited(
      static_cast<std::size_t>(job_.size()),
      probes_.load(std::memory_order_relaxed) != 0 ? Awaited::among_others : Awaited::no);
  const auto note = [&](const PostedReceive& receive) {
    // `peer` may be just being set. A receive from any source awaits its peer as well.
    if (receive.source == kAnySource) {
      for (Awaited& rank : awaited) rank = std::max(rank, Awaited::among_others);
    } else {
      awaited[static_cast<std::size_t>(receive.source)] = Awaited::by_name;
    }
  };
  for (std::size_t rank = 0; rank < awaited.size(); ++rank) {
    std::atomic<bool>& tested = signs_of_life_[rank].tested;
    if (tested.load(std::memory_order_relaxed) && tested.exchange(false, std::memory_order_relaxed))
      awaited[rank] = Awaited::by_name;
  }
  operations_.receives().see_all([&](const ReceiveOperation& receive) {
    if (receive.context != nullptr) note(receive);  // not a spare one
  });
  contexts_.see_all([&](MessageContext& context) {
    const std::lock_guard guard(context.lock);
    context.matcher.see_posted(note);
  });
  outbox_.see_sends(
      [&](const SendOperation& send) { awaited[static_cast<std::size_t>(send.peer)] = Awaited::by_name; });
  return awaited;
}

void Messages::probe_awaited_ranks() {
  if (channel_ == nullptr || !rendezvous_.transfers().available()) return;
  const std::int64_t now = monotonic_ms();
  std::int64_t before = probed_.load(std::memory_order_relaxed);
  const auto every = static_cast<std::int64_t>(job_.settings().peer_timeout) * 1000 / kLooksInTimeout;
  if (now - before < every || !probed_.compare_exchange_strong(before, now, std::memory_order_relaxed))
    return;
  const std::vector<Awaited> awaited = awaited_ranks();
  for (int rank = 0; rank < job_.size(); ++rank) {
    const Awaited how = awaited[static_cast<std::size_t>(rank)];
    if (how != Awaited::no && !job_.mapped(rank) && !outbox_.lost(rank))
      probe_rank(rank, how == Awaited::by_name);
  }
}

// A device need not report that nobody answers: Linux's rdma_rxe repeats a request for ever, if it may repeat
// it seven times. So a silent rank is given up here, as it is by a thread that waits for it in the engine.
void Messages::probe_rank(int rank, bool connects) {
  SignOfLife& sign = signs_of_life_[static_cast<std::size_t>(rank)];
  const std::uint32_t heard = pending_.signs_of(rank);
  if (sign.asked.load(std::memory_order_acquire)) {  // pairs with the exchange below
    if (sign.heard.exchange(heard, std::memory_order_relaxed) != heard) {
      sign.looks.store(0, std::memory_order_relaxed);
    } else if (sign.looks.fetch_add(1, std::memory_order_relaxed) + 1 >= kLooksInTimeout) {
      pending_.engine().give_up(rank);
    }
    return;
  }
  sign.heard.store(heard, std::memory_order_relaxed);
  sign.looks.store(0, std::memory_order_relaxed);
  if (sign.asked.exchange(true, std::memory_order_acq_rel)) return;
  const bool started =
      rendezvous_.transfers().probe(rank, connects, [this, rank, &sign](rma_status_t status) {
        sign.asked.store(false, std::memory_order_relaxed);
        if (status != RMA_ERR_PEER_LOST) return;
        channel_->fail(rank);
        lose(rank);
      });
  if (!started) sign.asked.store(false, std::memory_order_relaxed);
}

void Messages::lose(int rank) {
  outbox_.lose(rank);
  inbox_.close(rank);
  numbers_.lose(rank);
  // Ranks of other worlds come and go. A receive from any rank waits for those that stay.
  const bool ends_wildcards = job_.in_world(rank);
  int none = -1;
  if (ends_wildcards) first_lost_.compare_exchange_strong(none, rank, std::memory_order_relaxed);
  any_lost_.store(true, std::memory_order_release);
  posts_otherwise_.store(true, std::memory_order_release);
  outbox_.take_sends(
      rank, [](const SendOperation& send) { return !send.sharing; },
      [&](const EndedSend& send) { operations_.end(send, RMA_ERR_PEER_LOST); });
  rendezvous_.lose(rank);
  PostedReceive* hopeless = nullptr;
  contexts_.see_all([&](MessageContext& context) {
    const std::lock_guard guard(context.lock);
    hopeless = context.matcher.withdraw_all(
        [&](const PostedReceive& receive) {
          return (receive.source == kAnySource && ends_wildcards) || receive.source == rank;
        },
        hopeless);
  });
  arrivals_.end_all(hopeless, rank);
}

void Messages::revoke(int rank, std::uint32_t number, int lost) {
  // If this rank cannot tell it, the rank has ended, or others tell it.
  if (!outbox_.ready(rank).ok()) return;
  const auto named = static_cast<std::uint32_t>(lost + 1);  // kNobody becomes 0
  outbox_.control(rank, MessageType::revoked, RevokedHead{.context = number, .lost = named});
}

}  // namespace librma
