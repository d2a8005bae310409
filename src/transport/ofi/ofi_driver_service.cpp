// The part of the driver that the service thread executes: when it sleeps, where, and for how long.

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "transport/ofi/ofi_driver.hpp"

namespace librma::transport {

void OfiDriver::watch(ServiceThread& service, std::function<bool()> serve) {
  serve_ = std::move(serve);
  service.watch(call_.get(), [this] {
    std::uint64_t calls = 0;
    [[maybe_unused]] const ssize_t taken = read(call_.get(), &calls, sizeof calls);
    polls_seen_ = polls_.load(std::memory_order_relaxed);
    serve_queue();
  });
  service.watch(
      objects_.fd, [this] { return prepare(); }, [this] { serve_queue(); });
}

void OfiDriver::follow(Attendants& attendants) {
  attendants_ = &attendants;
  attendants.follow([this] { call_service(); });
}

void OfiDriver::serve_queue() {
  rely_no_more();
  if (polls_.load(std::memory_order_relaxed) == polls_seen_ && !attended(look())) {
    drive();
    confirm_waiting();
  } else {
    confirm_due_.store(true, std::memory_order_relaxed);
  }
  if (watched_.load(std::memory_order_acquire)) written_();
  soon_ = serve_();
}

ServiceThread::Sleep OfiDriver::prepare() {
  using std::chrono_literals::operator""us;
  const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
  const bool polled = std::exchange(polls_seen_, polls) != polls;
  const Attendants::Look now = look();
  const bool same_waits = std::exchange(look_seen_, now) == now;
  const bool leaves_it = polled || attended(now) || objects_.fd < 0;
  if (leaves_it && same_waits && napping() && rely(now)) {
    return {.until_readable = false, .at_most = soon_ ? std::optional(kSoon) : std::nullopt};
  }
  const Quiet quiet = leaves_it ? Quiet::another_drives : may_sleep();
  if (quiet == Quiet::another_drives) {
    nap_ = leaves_it && objects_.fd >= 0 ? std::min(2 * nap_, kLongestNap) : kShortestNap;
    service_.store(Service::naps, std::memory_order_seq_cst);  // pairs with the load in rouse()
    return {.until_readable = false, .at_most = nap_};
  }
  nap_ = kShortestNap;
  service_.store(Service::at_queue, std::memory_order_seq_cst);
  if (quiet == Quiet::no) return {.until_readable = false, .at_most = 0us};
  // Pairs with the load in add_unconfirmed(): one of the two threads sees the other's store.
  const bool soon = soon_ || to_confirm_.load(std::memory_order_seq_cst) != nullptr;
  return {.until_readable = true, .at_most = soon ? std::optional(kSoon) : std::nullopt};
}

bool OfiDriver::rely(Attendants::Look now) {
  if (objects_.fd < 0 || !Attendants::any(now)) return false;
  attendants_->rely();
  service_.store(Service::relies, std::memory_order_seq_cst);  // pairs with the load in rouse()
  if (look() == now && attended(now)) {
    // The thread that drives sends the confirmations that the end of a nap would have sent.
    confirm_due_.store(true, std::memory_order_relaxed);
    return true;
  }
  rely_no_more();
  return false;
}

void OfiDriver::rely_no_more() {
  if (service_.load(std::memory_order_relaxed) != Service::relies) return;
  service_.store(Service::naps, std::memory_order_seq_cst);
  attendants_->rely_no_more();
}

void OfiDriver::rouse() {
  sleeper_.store(Sleeper::about, std::memory_order_seq_cst);
  if (objects_.fd >= 0 && service_.load(std::memory_order_seq_cst) != Service::at_queue) call_service();
}

OfiDriver::Quiet OfiDriver::may_sleep() {
  const std::unique_lock guard(queue_lock_, std::try_to_lock);
  if (!guard.owns_lock()) return Quiet::another_drives;
  std::array<fid*, 1> queues = {&objects_.queue->fid};
  if (fi_trywait(objects_.fabric, queues.data(), 1) != 0) return Quiet::no;
  if (!signaled_) return Quiet::yes;
  const auto table = memory_.keep_table();
  if (!table.owns_lock()) return Quiet::another_drives;
  // net and tcp signal each completion at the descriptor, and take the signal back only in this call, if it
  // may wait. Without it the descriptor stays readable. Whatever happens ends the wait.
  constexpr int kLeastWait = 1;  // ms
  Entries entries;
  signaled_ = false;
  const ssize_t read = fi_cq_sread(objects_.queue, entries.data(), entries.size(), nullptr, kLeastWait);
  static_cast<void>(take_in(entries, read));
  return signaled_ ? Quiet::no : Quiet::yes;
}

}  // namespace librma::transport
