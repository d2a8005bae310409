#include "core/flights.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "util/statistics.hpp"

namespace rma {
namespace {

/// A thread that sleeps for events wakes at least so often, to see whether its rank is silent for too long.
constexpr int kNap = 100;  // ms

}  // namespace

Status Flights::too_many() {
  return {RMA_ERR_NO_MEMORY, "too many nonblocking operations are open: wait for some of them"};
}

Flights::Flights(int ranks, const WaitPolicy& policy, std::chrono::milliseconds patience)
    : policy_(policy), patience_(patience), peers_(static_cast<std::size_t>(ranks)) {
  // For every rank: what has begun is listed without taking memory.
  unfenced_.reserve(peers_.size());
  fencing_.reserve(peers_.size());
}

Flights::~Flights() {
  if (!events_.empty()) close(events_.front().fd);
}

void Flights::add(Mover& mover) {
  movers_.push_back(&mover);
  if (events_.empty() && !mover.event_fds().empty()) {
    // Where there is no descriptor left, whom nobody can wake wakes after a nap: poll() passes over -1.
    events_.push_back({.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = POLLIN, .revents = 0});
  }
  for (const int fd : mover.event_fds()) events_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
}

void Flights::begin(int rank) {
  peer(rank).under_way.fetch_add(1, std::memory_order_seq_cst);
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
  end_one(its);
}

void Flights::end_one(Peer& its) {
  // After the operation is closed, with release: a fence that sees 0 sees its failure. Also the full barrier
  // between what has become true and the look at asleep_.
  its.under_way.fetch_sub(1, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst)) wake_sleeper();
}

void Flights::wake() {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one in wait_until()
  if (asleep_.load(std::memory_order_relaxed)) wake_sleeper();
}

void Flights::wake_sleeper() {
  if (events_.empty() || !asleep_.exchange(false, std::memory_order_relaxed)) return;
  const std::uint64_t one = 1;
  // Where the counter is full, the thread is woken all the same.
  [[maybe_unused]] const ssize_t written = write(events_.front().fd, &one, sizeof one);
}

void Flights::issued(int rank) {
  // Looked at first: a stream of puts does not write a line that a fence reads.
  std::atomic<std::uint32_t>& under_way = peer(rank).under_way;
  if ((under_way.load(std::memory_order_seq_cst) & kUnreported) == 0) {
    under_way.fetch_or(kUnreported, std::memory_order_seq_cst);
  }
  // Also where another thread has set the flag: it may not have come to the list yet.
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
  if ((events_.front().revents & POLLIN) == 0) return;
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t taken = read(events_.front().fd, &rings, sizeof rings);
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

// Why a fence does not return before the calling thread's own puts are over, whoever else fences the rank.
// A put P whose success is not reported is posted, and then issued() sets kUnreported or finds it set; call
// the value of `under_way` with the flag that issued() wrote or read U. The fence reads a value that is U or
// comes later in the word's modification order (coherence).
// - The flag is set there: this fence takes it, and its flush is posted after P by the same thread.
// - It is not: some fence G took it, after U in that order, and raised the count by the same step until what
//   its flush began is counted. The flush is posted after P. For posting to one rank is one critical section
//   after the other: had G posted first, its step would happen before P was posted and hence before issued(),
//   which could not have seen U, a value before that step. So when the count is 0, G's flush is over, and P
//   before it: what is posted to a rank ends in order. end() releases, the loads here acquire through every
//   step in between (read-modify-writes all), so what end() has recorded is seen.
// Puts whose end is reported are in the count from begin() on, which precedes their posting.
Status Flights::fence(int rank) {
  Peer& its = peer(rank);
  std::uint32_t seen = its.under_way.load(std::memory_order_seq_cst);  // seq_cst: see note_unfenced()
  while ((seen & kUnreported) != 0) {
    // A failed exchange has loaded `seen` anew.
    if (its.under_way.compare_exchange_weak(seen, outstanding(seen) + 1, std::memory_order_seq_cst)) {
      for (Mover* const mover : movers_) mover->flush(rank);
      end_one(its);  // what the flush has begun is in the count by now
      break;
    }
  }
  if (seen != 0) {
    wait_until(rank, [&] { return outstanding(its.under_way.load(std::memory_order_seq_cst)) == 0; });
  }
  // Looked at before it is taken: an exchange would cost every fence as much as the rest of it.
  if (its.failure.load(std::memory_order_seq_cst) == RMA_SUCCESS) return {};
  return failure(its.failure.exchange(RMA_SUCCESS, std::memory_order_seq_cst), rank);
}

void Flights::note_unfenced(int rank) {
  // The caller has stored to or looked at `under_way`, or recorded a failure, before it looks at the flag;
  // fence_all clears the flag before its fence looks at those. All are in one order (seq_cst). So where the
  // caller finds the rank listed, either its own next fence_all finds it in the list, or another thread's has
  // taken it from there and waits for what the caller has issued, and the caller's waits for that one's end.
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
