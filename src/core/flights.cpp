#include "core/flights.hpp"

#include <algorithm>
#include <array>

#include "util/statistics.hpp"

namespace rma {
namespace {

/// A thread that sleeps for events wakes at least so often, to see whether its rank is silent for too long.
constexpr int kNap = 100;  // ms

}  // namespace

Flights::Flights(int ranks, const WaitPolicy& policy, std::chrono::milliseconds patience)
    : policy_(policy), patience_(patience), peers_(static_cast<std::size_t>(ranks)) {
  // For every rank: what has begun is listed without taking memory.
  unfenced_.reserve(peers_.size());
  fencing_.reserve(peers_.size());
}

void Flights::add(Mover& mover) {
  movers_.push_back(&mover);
  for (const int fd : mover.event_fds()) events_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
}

void Flights::begin(int rank) {
  peer(rank).outstanding.fetch_add(1, std::memory_order_seq_cst);
  note_unfenced(rank);
}

void Flights::end(int rank, rma_request_t operation, rma_status_t status) {
  Peer& its = peer(rank);
  if (operation == RMA_REQUEST_NULL) {
    failed(rank, status);
  } else if (requests_.finish_part(operation, status) == RequestTable::End::left) {
    close_left(operation);
  }
  its.ends.fetch_add(1, std::memory_order_relaxed);
  // After the operation is closed, with release: a fence that sees 0 sees its failure.
  its.outstanding.fetch_sub(1, std::memory_order_release);
}

void Flights::issued(int rank) {
  // Looked at first: a stream of puts does not write a line that a fence reads.
  std::atomic<bool>& unreported = peer(rank).unreported;
  if (unreported.load(std::memory_order_seq_cst)) return;
  unreported.store(true, std::memory_order_seq_cst);
  note_unfenced(rank);
}

void Flights::failed(int rank, rma_status_t status) {
  if (status == RMA_SUCCESS) return;
  rma_status_t none = RMA_SUCCESS;  // the first failure stays
  peer(rank).failure.compare_exchange_strong(none, status, std::memory_order_seq_cst);
  note_unfenced(rank);  // a fence may have passed already, where nothing was outstanding
}

bool Flights::progress_locked() {
  bool found = false;
  for (Mover* const mover : movers_) found = mover->progress() || found;
  if (found) news_.ring();
  return found;
}

void Flights::progress() {
  const std::unique_lock guard(poll_lock_, std::try_to_lock);
  if (guard.owns_lock()) {
    progress_locked();
  } else {
    pause_processor();
  }
}

Flights::Watch Flights::start_watch(int rank) {
  return {.rank = rank,
          .ends = peer(rank).ends.load(std::memory_order_relaxed),
          .since = std::chrono::steady_clock::now()};
}

void Flights::sleep_for_events() {
  if (events_.empty()) {
    sched_yield();  // what has no events is over when it is looked at
    return;
  }
  count(Counter::sleep);
  // An error is an early end of the sleep.
  static_cast<void>(poll(events_.data(), events_.size(), kNap));
}

void Flights::look_after(Watch& watch) {
  const std::uint32_t ends = peer(watch.rank).ends.load(std::memory_order_relaxed);
  const auto now = std::chrono::steady_clock::now();
  if (ends != watch.ends) {
    watch.ends = ends;
    watch.since = now;
  } else if (now - watch.since > patience_) {
    watch.since = now;
    for (Mover* const mover : movers_) mover->give_up(watch.rank);
  }
}

void Flights::close_left(rma_request_t operation) {
  const int rank = requests_.rank(operation);
  failed(rank, requests_.close(operation));
}

void Flights::leave(rma_request_t operation) {
  requests_.leave(operation);
  if (requests_.finish_part(operation, RMA_SUCCESS) == RequestTable::End::left) close_left(operation);
}

bool Flights::test(rma_request_t request) {
  if (requests_.complete(request)) return true;
  progress();
  return requests_.complete(request);
}

Status Flights::wait(rma_request_t request) {
  const int rank = requests_.rank(request);
  wait_until(rank, [&] { return requests_.complete(request); });
  return failure(requests_.close(request), rank);
}

Status Flights::finish(rma_request_t operation) {
  detach(operation);
  return wait(operation);
}

Status Flights::fence(int rank) {
  Peer& its = peer(rank);
  if (its.unreported.load(std::memory_order_seq_cst) &&
      its.unreported.exchange(false, std::memory_order_seq_cst)) {
    for (Mover* const mover : movers_) mover->flush(rank);
  }
  // Pairs with the fetch_sub of who ends something; seq_cst for note_unfenced.
  if (its.outstanding.load(std::memory_order_seq_cst) != 0) {
    wait_until(rank, [&] { return its.outstanding.load(std::memory_order_seq_cst) == 0; });
  }
  // Looked at before it is taken: an exchange would cost every fence as much as the rest of it.
  if (its.failure.load(std::memory_order_seq_cst) == RMA_SUCCESS) return {};
  return failure(its.failure.exchange(RMA_SUCCESS, std::memory_order_seq_cst), rank);
}

void Flights::note_unfenced(int rank) {
  // The caller has counted itself in `outstanding`, or recorded what it leaves, before it looks at the flag;
  // fence_all clears the flag before it looks at those. All in one order (seq_cst), so that one of the two
  // sees the other.
  std::atomic<bool>& listed = peer(rank).unfenced;
  if (listed.load(std::memory_order_seq_cst)) return;
  const std::lock_guard guard(unfenced_lock_);
  if (listed.load(std::memory_order_relaxed)) return;
  unfenced_.push_back(rank);
  any_unfenced_.store(true, std::memory_order_relaxed);
  listed.store(true, std::memory_order_seq_cst);  // last: who finds it set finds any_unfenced_ set
}

Status Flights::fence_all() {
  // Cleared by the end of a fence_all only, so that nobody passes while another thread still waits.
  if (!any_unfenced_.load(std::memory_order_acquire)) return {};  // pairs with the store below
  const std::lock_guard one_at_a_time(fence_all_lock_);
  fencing_.clear();
  {
    const std::lock_guard guard(unfenced_lock_);
    fencing_.swap(unfenced_);
    for (const int rank : fencing_) peer(rank).unfenced.store(false, std::memory_order_seq_cst);
  }
  Status first;
  for (const int rank : fencing_) {
    Status status = fence(rank);
    if (first.ok()) first = std::move(status);
  }
  const std::lock_guard guard(unfenced_lock_);
  if (unfenced_.empty()) any_unfenced_.store(false, std::memory_order_release);
  return first;
}

Status Flights::failure(rma_status_t code, int rank) const {
  if (code == RMA_SUCCESS) return {};
  return {code, peers_[static_cast<std::size_t>(rank)].mover->explain(code, rank)};
}

}  // namespace rma
