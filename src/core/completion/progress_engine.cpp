#include "core/completion/progress_engine.hpp"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "util/statistics.hpp"
#include "util/text.hpp"

namespace librma {
namespace {

/// A thread that sleeps for events wakes at least this often, to see whether its rank has been silent for too
/// long.
constexpr int kNap = 100;  // ms

/// A thread gives a rank up after more than this many looks that find no sign of life. Before each of them it
/// has polled for completions.
constexpr int kFewestLooks = 4;

}  // namespace

ProgressEngine::~ProgressEngine() {
  if (!events_.empty()) close(events_.front().fd);
}

void ProgressEngine::add(ProgressSource& source) {
  sources_.push_back(&source);
  source.follow(attendants_);
  if (events_.empty() && !source.event_fds().empty()) {
    // If no descriptor is left, this is -1, which poll() ignores. Nobody can wake the sleeper then; its nap
    // ends it.
    events_.push_back({.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = POLLIN, .revents = 0});
  }
  for (const int fd : source.event_fds()) events_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
}

void ProgressEngine::wake_sleeper() {
  if (!asleep_.exchange(false, std::memory_order_relaxed)) return;
  if (events_.empty()) {
    if (doorbell_ != nullptr) doorbell_->wake();
    return;
  }
  const std::uint64_t increment = 1;
  // If the counter is full, the write fails, but the thread wakes all the same.
  [[maybe_unused]] const ssize_t written = write(events_.front().fd, &increment, sizeof increment);
}

bool ProgressEngine::progress_locked() {
  bool found = false;
  for (ProgressSource* const source : sources_) found = source->progress() || found;
  if (found) news_.wake();
  return found;
}

bool ProgressEngine::progress() {
  bool found = false;
  if (const std::unique_lock guard(poll_lock_, std::try_to_lock); guard.owns_lock()) {
    found = progress_locked();
  } else {
    pause_processor();
  }
  return follow_up() || found;
}

bool ProgressEngine::follow_up() {
  if (follow_up_ == nullptr || !follow_up_->work()) return false;
  news_.wake();  // one of the threads that sleep there may wait for what has ended
  return true;
}

ProgressEngine::Watch ProgressEngine::start_watch(int rank) const {
  if (rank == kNoRank) return {.rank = rank, .signs = 0, .looked = {}};
  return {.rank = rank, .signs = signs_(rank), .looked = std::chrono::steady_clock::now()};
}

std::uint32_t ProgressEngine::announce_sleep() {
  if (doorbell_ == nullptr) return 0;
  if (events_.empty()) {
    doorbell_->sleepers.fetch_add(1, std::memory_order_seq_cst);  // pairs with the fence of those who wake
  } else {
    doorbell_->listen();
  }
  return doorbell_->wakeups.load(std::memory_order_acquire);
}

void ProgressEngine::end_sleep() {
  if (doorbell_ == nullptr) return;
  std::atomic<std::uint32_t>& sleepers = events_.empty() ? doorbell_->sleepers : doorbell_->listeners;
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void ProgressEngine::sleep_for_events(std::uint32_t seen) {
  if (events_.empty()) {
    if (doorbell_ == nullptr) {
      sched_yield();  // progress sources without events complete when they are polled
      return;
    }
    count(Counter::sleep);
    static_cast<void>(Doorbell::Sleeper(*doorbell_, Waker::mortal).sleep(seen));
    return;
  }
  count(Counter::sleep);
  // An error only ends the sleep early.
  static_cast<void>(poll(events_.data(), events_.size(), kNap));
  if ((events_.front().revents & POLLIN) == 0) return;
  std::uint64_t wakeups = 0;
  [[maybe_unused]] const ssize_t taken = read(events_.front().fd, &wakeups, sizeof wakeups);
}

void ProgressEngine::describe_operations(int rank, WaitNote& note) {
  note.call = "operations";
  if (rank == kNoRank) return;
  note.about = text("the end of operations to rank {}", rank);
  note.ranks = {rank};
}

void ProgressEngine::look_after(Watch& watch) {
  if (watch.rank == kNoRank) return;
  const std::uint32_t signs = signs_(watch.rank);
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::steady_clock::duration longest = patience_ / kFewestLooks;
  watch.silent += std::min(now - watch.looked, longest);
  watch.looked = now;
  if (signs == watch.signs && watch.silent <= patience_) return;
  watch.silent = {};
  if (signs == watch.signs) give_up(watch.rank);
  watch.signs = signs;
}

void ProgressEngine::give_up(int rank) {
  for (ProgressSource* const source : sources_) source->give_up(rank);
}

void ProgressEngine::flush(int rank, CompletionContext& context) {
  for (ProgressSource* const source : sources_) source->flush(rank, context);
}

}  // namespace librma
