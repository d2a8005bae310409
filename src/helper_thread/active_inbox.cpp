#include "helper_thread/active_inbox.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "channel/channel.hpp"
#include "helper_thread/wire.hpp"
#include "rings/short_copy.hpp"
#include "util/exhausted.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/system/interruptions.hpp"
#include "util/take_head.hpp"

namespace librma {
namespace {

/// The most messages that a thread takes from one ring before it looks at the next.
constexpr int kFromEach = 32;

}  // namespace

ActiveInbox::ActiveInbox(int ranks, Channel& channel, ActiveOutbox& outbox, ProgressEngine& engine,
                         const ActiveRings& rings, Doorbell* doorbell, TakeIn take_in)
    : channel_(channel),
      outbox_(outbox),
      engine_(engine),
      rings_of_(rings),
      sizes_(ActiveRings::sizes(channel.max_body())),
      take_in_(std::move(take_in)),
      doorbell_(doorbell),
      rings_(static_cast<std::size_t>(doorbell != nullptr ? ranks : 0)),
      copy_(channel.max_body()) {
  channel.on_message(kActiveMessage, [this](const Message& message) { return take_channel(message); });
  channel.on_message(kActiveRing, [this](const Message& message) { return offered(message); });
  channel.on_message(kActiveCall, [this](const Message& message) { return called(message); });
  if (doorbell == nullptr) return;
  listen();
  engine.add(*this);
}

void ActiveInbox::serve_in(transport::ServiceThread& service) {
  if (doorbell_ == nullptr) return;
  clock_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (clock_.open()) service.watch(clock_.get(), [this] { end_nap(); });
  channel_.on_progress([this] { return waiting() && poll_waiting(); });
}

bool ActiveInbox::poll_waiting() {
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn.owns_lock()) return false;
  const bool found = take_some();
  // A thread that goes to sleep later sees what the handlers have done: it takes the turn in arm().
  if (found && asleep_.load(std::memory_order_relaxed)) [[unlikely]]
    engine_.wake();
  return found;
}

bool ActiveInbox::progress() {
  if (!std::exchange(armed_, false)) return poll();
  // The look after arm() must not be left to a thread that began to look before.
  const std::lock_guard turn(turn_);
  return take_all();
}

void ActiveInbox::arm() {
  const std::lock_guard turn(turn_);
  armed_ = true;
  asleep_.store(true, std::memory_order_relaxed);
  static_cast<void>(attended());  // a nap that ends while the program sleeps is the last one
  if (!listening_) listen();
}

void ActiveInbox::close(int rank) {
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    Ring& ring = *rings_[i];
    if (ring.sender != rank) continue;
    const std::lock_guard turn(turn_);
    static_cast<void>(take(ring, static_cast<int>(sizes_.lines)));
    ring.closed.store(true, std::memory_order_relaxed);
  }
}

// ---- Handlers of the channel ----

bool ActiveInbox::offered(const Message& message) {
  std::span<const std::byte> body = message.body;
  const auto offer = take_head<ActiveRingOffer>(body);
  if (!offer || !body.empty() || doorbell_ == nullptr) return false;
  const auto* const there =
      reinterpret_cast<const void*>(offer->address);  // NOLINT(performance-no-int-to-ptr)
  std::byte* const here = rings_of_.mapped(there, sizes_.memory(), message.peer);
  if (here == nullptr || offer->address % alignof(RingLine) != 0) return false;
  // Only the thread with the channel's turn adds rings.
  const std::size_t count = count_.load(std::memory_order_relaxed);
  const std::span known(rings_.data(), count);
  if (std::ranges::any_of(known, [&](const auto& ring) { return ring->sender == message.peer; }))
    return false;
  rings_[count] = std::make_unique<Ring>(message.peer, here, sizes_);
  count_.store(count + 1, std::memory_order_release);  // pairs with the load in waiting()
  look();
  return true;
}

bool ActiveInbox::called(const Message& message) {
  if (!message.body.empty() || doorbell_ == nullptr) return false;
  outbox_.flush(message.peer);
  look();
  return true;
}

bool ActiveInbox::take_channel(const Message& message) {
  const std::lock_guard turn(turn_);
  return take_in_(message.peer, message.rail, message.body);
}

void ActiveInbox::look() {
  {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) {
      // The program runs a handler. The channel's messages do not wait for that, if a nap can do the rest.
      if (start_clock(kShortestNap)) return engine_.wake();
      turn.lock();
    }
    static_cast<void>(take_all());
    if (listening_ && !nap(kShortestNap)) {
      listen();
      static_cast<void>(take_all());
    }
  }
  engine_.wake();
}

void ActiveInbox::end_nap() {
  std::uint64_t ends = 0;
  static_cast<void>(uninterrupted([&] { return read(clock_.get(), &ends, sizeof ends); }));
  {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) {
      // The program runs a handler. The channel's messages do not wait for that.
      if (start_clock(kShortestNap)) return;
      turn.lock();
    }
    static_cast<void>(take_all());
    if (!nap(std::min(2 * nap_, kLongestNap))) {
      listen();
      static_cast<void>(take_all());
    }
  }
  engine_.wake();
}

// ---- With the turn ----

void ActiveInbox::listen() {
  if (std::exchange(listening_, true)) {
    // A sender that found `called` set has published its message before this exchange.
    doorbell_->called.exchange(0, std::memory_order_acq_rel);
  } else {
    doorbell_->listen();
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one in Doorbell::must_look()
}

bool ActiveInbox::attended() {
  const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
  const bool came = std::exchange(seen_taken_, taken_) != taken_;
  return std::exchange(seen_polls_, polls) != polls && came;
}

bool ActiveInbox::nap(std::chrono::microseconds length) {
  if (!attended() || !start_clock(length)) return false;
  nap_ = length;
  // Relaxed: the clock has been started, whose end will show what senders do not call for.
  if (std::exchange(listening_, false)) doorbell_->listeners.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool ActiveInbox::start_clock(std::chrono::microseconds length) const {
  const itimerspec once = {.it_interval = {},
                           .it_value = {.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(length).count()}};
  return clock_.open() && timerfd_settime(clock_.get(), 0, &once, nullptr) == 0;
}

bool ActiveInbox::take(Ring& ring, int most) {
  bool found = false;
  for (int i = 0; i < most && !ring.closed.load(std::memory_order_relaxed); ++i) {
    LineReceiver::Head head;
    const LineReceiver::Found what = ring.receiver.peek(head);
    if (what == LineReceiver::Found::nothing) break;
    found = true;
    if (take_one(ring, what, head)) continue;
    ring.closed.store(true, std::memory_order_relaxed);
    log(LogLevel::warn,
        "rank {} sent an active message of no known form: this process exchanges nothing more "
        "with it",
        ring.sender);
    count(Counter::messages_refused);
    channel_.fail(ring.sender);
  }
  return found;
}

bool ActiveInbox::take_one(Ring& ring, LineReceiver::Found found, const LineReceiver::Head& head) {
  static_assert(sizeof(Envelope) == sizeof(ActiveHeader));
  const std::size_t bytes = head.body.size();
  if (found == LineReceiver::Found::broken || head.type != MessageType::eager ||
      bytes > copy_.size() - sizeof(Envelope)) {
    return false;
  }
  std::memcpy(copy_.data(), &head.envelope, sizeof(Envelope));
  std::byte* const rest = copy_.data() + sizeof(Envelope);
  if (bytes <= RingLine::kBody) {
    copy_short(rest, head.body.data(), bytes);
  } else {
    std::memcpy(rest, head.body.data(), bytes);
  }
  ring.receiver.pop(head, 0);
  if (ring.receiver.may_be_wished_for(head) && ring.receiver.wished_for_room()) outbox_.call(ring.sender);
  return take_in_(ring.sender, kLocalRail, {copy_.data(), sizeof(Envelope) + bytes});
}

// Running out of memory is fatal here: a message that is half taken in cannot be left there.
bool ActiveInbox::take_some() try {
  bool found = false;
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) found = take(*rings_[i], kFromEach) || found;
  if (found) ++taken_;
  return found;
} catch (const std::bad_alloc&) {
  end_exhausted("an active message of another rank");
}

bool ActiveInbox::take_all() {
  bool found = false;
  while (take_some()) found = true;
  return found;
}

}  // namespace librma
