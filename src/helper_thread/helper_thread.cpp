#include "helper_thread/helper_thread.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>

#include "util/exhausted.hpp"
#include "util/waiting/wait.hpp"

namespace librma {
namespace {

/// The least number of polls before a sleep, after a message has arrived just before the last sleep.
constexpr std::uint64_t kFewestSpins = 16;

}  // namespace

Status HelperThread::start() {
  pending_.engine().add(*this);
  if (service_ == nullptr) return {};
  for (const int fd : channel_.event_fds()) service_->watch(fd, [this] { work(); });
  service_->watch(
      -1, [this] { return send_held(); }, [] {});
  static_cast<void>(channel_.arm());  // succeeds: no peer has a ring yet
  return service_->start();
}

void HelperThread::stop() {
  if (service_ != nullptr) service_->stop();
}

void HelperThread::work() {
  channel_.disarm();
  while (true) {
    if (channel_.progress(Channel::Turn::wait)) {
      pending_.engine().wake();
      continue;
    }
    bool found = false;
    for (std::uint64_t i = 0; i < spins_ && !found; ++i) {
      pause_processor();
      found = channel_.progress(Channel::Turn::if_free);
    }
    if (found) {
      spins_ = std::min(most_spins_, 2 * spins_);
      pending_.engine().wake();
      continue;
    }
    spins_ /= 2;
    const bool quiet = channel_.arm();
    if (!channel_.progress(Channel::Turn::wait) && quiet) return;
    channel_.disarm();
    // A message came while this thread was about to sleep. Longer polling would have been better.
    spins_ = std::min(most_spins_, std::max(kFewestSpins, 2 * spins_));
    pending_.engine().wake();
  }
}

transport::ServiceThread::Sleep HelperThread::send_held() {
  if (!channel_.holds_messages()) return {};
  if (channel_.progress(Channel::Turn::if_free)) pending_.engine().wake();
  // Another thread that makes progress may have passed the messages by, and may do so no more.
  constexpr std::chrono::microseconds kAgain{100};
  return {.until_readable = true,
          .at_most = channel_.holds_messages() ? std::optional(kAgain) : std::nullopt};
}

void HelperThread::arm() {
  channel_.expect_all();
  armed_.store(true, std::memory_order_relaxed);  // the engine's lock orders it before progress()
}

// Running out of memory is fatal here: a message that is half taken in cannot be left there.
bool HelperThread::progress() try {
  // The look after arm() must not be left to a thread that began to look before.
  const bool first =
      armed_.load(std::memory_order_relaxed) && armed_.exchange(false, std::memory_order_relaxed);
  return channel_.progress(first ? Channel::Turn::wait : Channel::Turn::if_free);
} catch (const std::bad_alloc&) {
  end_exhausted("a message of another rank");
}

}  // namespace librma
