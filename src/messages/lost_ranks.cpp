// What a rank does when it loses another, or gives a context up.

#include <chrono>
#include <mutex>
#include <utility>

#include "messages/messages.hpp"

namespace rma {
namespace {

/// A thread looks at most this often, in ms, whether a rank of this host has ended.
constexpr std::int64_t kLookEvery = 50;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void Messages::look_for_ended_ranks() {
  const std::int64_t now = now_ms();
  std::int64_t before = looked_.load(std::memory_order_relaxed);
  if (now - before < kLookEvery || !looked_.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
    return;
  }
  for (const int rank : job_.local_ranks()) {
    if (rank == job_.rank() || outbox_.lost(rank) || !job_.mapped(rank) || !job_.ended(rank)) continue;
    arrivals_.drain(rank);  // all that the rank sent before it ended
    lose(rank);
  }
}

void Messages::lose(int rank) {
  outbox_.lose(rank);
  int none = -1;
  first_lost_.compare_exchange_strong(none, rank, std::memory_order_relaxed);
  any_lost_.store(true, std::memory_order_release);
  for (SendOperation* const send : operations_.sends().all([&](SendOperation& one) {
         return one.peer == rank && !one.sharing && std::exchange(one.open, false);
       })) {
    operations_.end(*send, RMA_ERR_PEER_LOST);
  }
  rendezvous_.lose(rank);
  for (ReceiveOperation* const receive : operations_.receives().all([&](ReceiveOperation& one) {
         if (one.context == nullptr || (one.source != kAnySource && one.source != rank)) return false;
         const std::lock_guard guard(one.context->lock);
         if (one.links[0].queue == nullptr) return false;
         one.context->matcher.withdraw(one);
         one.peer = rank;
         return true;
       })) {
    operations_.end(*receive, RMA_ERR_PEER_LOST);
  }
  pending_.engine().wake();
}

void Messages::revoke(int rank, std::uint32_t number) {
  // If this rank cannot tell it, the rank has ended, or others tell it.
  if (outbox_.ready(rank).ok()) outbox_.control(rank, MessageType::revoked, RevokedHead{.context = number});
}

}  // namespace rma
