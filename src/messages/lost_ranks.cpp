// What a rank does when it loses another, or gives a context up.

#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "messages/messages.hpp"

namespace rma {
namespace {

/// A thread looks at most this often, in ms, whether a rank of this host has ended.
constexpr std::int64_t kLookEvery = 50;

/// A thread that waits asks ranks of other hosts for a sign of life after a quarter of RMA_PEER_TIMEOUT: this
/// many ms for each second of it.
constexpr std::int64_t kProbesEvery = 250;

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
  for (const int rank : job_.local_ranks()) {
    if (rank == job_.rank() || outbox_.lost(rank) || !job_.mapped(rank) || !job_.ended(rank)) continue;
    arrivals_.drain(rank);  // all that the rank sent before it ended
    if (!outbox_.lost(rank)) lose(rank);
  }
}

std::vector<bool> Messages::awaited_ranks() {
  std::vector<bool> awaited(static_cast<std::size_t>(job_.size()),
                            probes_.load(std::memory_order_relaxed) != 0);
  static_cast<void>(operations_.sends().all([&](const SendOperation& one) {
    if (one.open) awaited[static_cast<std::size_t>(one.peer)] = true;
    return false;
  }));
  static_cast<void>(operations_.receives().all([&](const ReceiveOperation& one) {
    // `peer` may be just being set. A receive from any source awaits its peer as well.
    if (one.source == kAnySource) {
      awaited.assign(awaited.size(), true);
    } else {
      awaited[static_cast<std::size_t>(one.source)] = true;
    }
    return false;
  }));
  return awaited;
}

void Messages::probe_awaited_ranks() {
  if (channel_ == nullptr || !rendezvous_.transfers().available()) return;
  const std::int64_t now = monotonic_ms();
  std::int64_t before = probed_.load(std::memory_order_relaxed);
  const auto every = static_cast<std::int64_t>(job_.settings().peer_timeout) * kProbesEvery;
  if (now - before < every || !probed_.compare_exchange_strong(before, now, std::memory_order_relaxed))
    return;
  const std::vector<bool> awaited = awaited_ranks();
  for (int rank = 0; rank < job_.size(); ++rank) {
    std::atomic<bool>& probing = probing_[static_cast<std::size_t>(rank)];
    if (!awaited[static_cast<std::size_t>(rank)] || job_.mapped(rank) || outbox_.lost(rank) ||
        probing.exchange(true, std::memory_order_relaxed)) {
      continue;
    }
    const bool started = rendezvous_.transfers().probe(rank, [this, rank, &probing](rma_status_t status) {
      probing.store(false, std::memory_order_relaxed);
      if (status != RMA_ERR_PEER_LOST) return;
      channel_->fail(rank);
      lose(rank);
    });
    if (!started) probing.store(false, std::memory_order_relaxed);
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
