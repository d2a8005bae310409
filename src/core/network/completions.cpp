#include "core/network/completions.hpp"

#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "fabric/bounce_pool.hpp"
#include "util/exhausted.hpp"
#include "util/statistics.hpp"

namespace librma {

Fragment& Completions::begin(NetworkPeer& peer, const Span& span, rma_request_t operation) {
  Fragment& fragment = fragments_.take();
  fragment = {.rank = peer.rank, .span = span, .operation = operation};
  pending_.begin(peer.rank, operation);
  return fragment;
}

Fragment& Completions::begin(NetworkPeer& peer, const Span& span, CompletionContext& context) {
  Fragment& fragment = fragments_.take();
  fragment = {.rank = peer.rank, .span = span, .context = &context};
  pending_.begin(peer.rank, context);
  peer.unacknowledged.fetch_add(1, std::memory_order_relaxed);
  return fragment;
}

void Completions::end(Fragment& fragment, rma_status_t status) {
  if (status == RMA_SUCCESS && fragment.copy_to != nullptr) {
    std::memcpy(fragment.copy_to, fragment.buffer, fragment.span.bytes);
  }
  if (fragment.buffer != nullptr && status == RMA_ERR_PEER_LOST) {
    fragment.pool->give_lost(fragment.buffer);
  } else if (fragment.buffer != nullptr) {
    fragment.pool->give(fragment.buffer);
  }
  report_end(fragment, status);
}

void Completions::report_end(Fragment& fragment, rma_status_t status) {
  const int rank = fragment.rank;
  const rma_request_t operation = fragment.operation;
  CompletionContext* const context = fragment.context;
  fragments_.give(
      fragment);  // ends the use of a registration: from here on the memory is the program's again
  if (operation != RMA_REQUEST_NULL) return pending_.end(rank, operation, status);
  connections_.peer(rank).unacknowledged.fetch_sub(1, std::memory_order_release);  // pairs with drain()
  pending_.end(rank, *context, status);
}

void Completions::end_unposted(Fragment& fragment, rma_status_t status) {
  if (queue_retry(fragment)) return;
  if (fragment.buffer != nullptr) fragment.pool->give(fragment.buffer);
  report_end(fragment, status);
}

// Nothing here needs memory. If that changed, completions that were taken out of a device's queue would be
// lost, and threads would wait for them for ever.
bool Completions::progress() noexcept try {
  std::array<transport::Completion, 32> completions;
  bool found = false;
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    const std::size_t filled = rails_[rail].poll(completions);
    for (std::size_t i = 0; i < filled; ++i) take_in(rail, completions[i]);
    found = found || filled != 0;
  }
  return post_retries() || found;
} catch (const std::bad_alloc&) {
  end_exhausted("the completions of a device");
}

void Completions::take_in(std::size_t rail, const transport::Completion& completion) {
  const auto [cookie, rank, ended, bytes] = completion;
  if (ended != RMA_SUCCESS) connections_.rail_failed(connections_.peer(rank), rail);
  // The system may withdraw the memory of a process that is killed before it closes its connections. So a
  // refusal is the first sign of the end, if the rank keeps the memory registered until then.
  const auto meaning = [ended = completion.status](bool lasts) {
    return ended == RMA_ERR_ADDRESS && lasts ? RMA_ERR_PEER_LOST : ended;
  };
  if (cookie == 0) {
    const bool users = connections_.peer(rank).unsignaled_to_user.load(std::memory_order_relaxed);
    pending_.unsignaled_failed(rank, meaning(!users));
    pending_.heard_of(rank);
    return;
  }
  Fragment& fragment = Fragment::of(cookie);
  const rma_status_t status = meaning(fragment.span.lasts);
  if (status == RMA_ERR_PEER_LOST && queue_retry(fragment)) return;
  end(fragment, status);
}

void Completions::post_later(Fragment& fragment) { add_retry(fragment); }

void Completions::add_retry(Fragment& fragment) {
  const std::lock_guard guard(retry_lock_);
  retries_.push(fragment);
  any_retries_.store(true, std::memory_order_seq_cst);
}

bool Completions::queue_retry(Fragment& fragment) {
  if (!fragment.movable || !ConnectionManager::any_alive(connections_.peer(fragment.rank))) return false;
  count(Counter::rail_failover);
  pending_.heard_of(fragment.rank);
  add_retry(fragment);
  return true;
}

bool Completions::post_retries() {
  if (!any_retries_.load(std::memory_order_seq_cst)) return false;
  Fragment* waiting = nullptr;
  {
    const std::lock_guard guard(retry_lock_);
    any_retries_.store(false, std::memory_order_relaxed);  // the lock orders it
    waiting = retries_.take_all();
  }
  bool progressed = false;
  while (waiting != nullptr) {
    Fragment* const fragment = std::exchange(waiting, waiting->next);
    NetworkPeer& peer = connections_.peer(fragment->rank);
    const std::size_t rail = ConnectionManager::next_rail(peer);
    const transport::Local local = fragment->local(rail);
    transport::Work work = fragment->work(rail);
    const std::size_t bytes = fragment->span.bytes;
    if (bytes != 0) work.pieces = {&local, 1};  // else it is a probe
    std::size_t posted = 0;
    const rma_status_t status = rails_[rail].post(peer.rank, {&work, 1}, &posted);
    if (posted != 0) {
      count_rail_bytes(rail, bytes);
      progressed = true;
    } else if (status == RMA_ERR_STATE) {  // the device's queue is full
      add_retry(*fragment);
    } else {
      connections_.rail_failed(peer, rail);
      if (!queue_retry(*fragment)) {
        end(*fragment, status);
        progressed = true;
      }
    }
  }
  return progressed;
}

}  // namespace librma
