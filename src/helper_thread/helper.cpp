#include "helper_thread/helper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "util/exhausted.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/wait.hpp"

namespace rma {
namespace {

/// A thread that was quick enough once polls at least so often the next time.
constexpr std::uint64_t kFewestSpins = 16;

}  // namespace

Result<std::unique_ptr<Helper>> Helper::create(const Settings& settings, int ranks, Rails& rails,
                                               Network& network, Flights& flights, std::uint64_t spins) {
  std::unique_ptr<Helper> helper(new Helper(rails, network, flights, spins));
  const Channel::Options options = {
      .message_bytes = settings.message_bytes,
      .lent = receive_count(ranks, settings.receive_factor, settings.receive_base),
      .own = static_cast<std::uint32_t>(settings.peer_receives),
      .ring = {.slots = settings.ring_slots,
               .slot_bytes = (settings.ring_slot_bytes + RingShape::kLineBytes - 1) / RingShape::kLineBytes *
                             RingShape::kLineBytes},
      // A helper that never polls would offer rings only to take them back before its next sleep.
      .polling = {.most = spins == 0
                              ? 0
                              : std::min<std::size_t>(settings.polling_set, static_cast<std::size_t>(ranks)),
                  .promote_messages = static_cast<std::uint32_t>(settings.promote_messages)}};
  auto channel = Channel::create(rails, ranks, options, *helper);
  if (!channel.ok()) return std::move(channel).status();
  helper->channel_ = std::move(channel).value();
  helper->asking_ = std::make_unique<Asking>(flights, network, *helper->channel_, rails,
                                             settings.helper_buffer, settings.helper_buffers);
  helper->on_message(kDoneMessage, [asking = helper->asking_.get()](const Message& message) {
    return asking->receive_done(message.peer, message.body);
  });
  helper->serving_ =
      std::make_unique<Serving>(*helper->channel_, rails, settings.helper_buffer, settings.helper_buffers);
  return helper;
}

Helper::~Helper() { stop(); }

Status Helper::start() {
  flights_.add(*this);
  if (rails_.service() == nullptr) return {};
  for (const int fd : channel_->event_fds()) rails_.service()->watch(fd, [this] { work(); });
  static_cast<void>(channel_->arm());  // there are no rings yet to be left
  return rails_.service()->start();
}

void Helper::stop() {
  if (rails_.service() != nullptr) rails_.service()->stop();
}

void Helper::work() {
  channel_->disarm();
  while (true) {
    if (channel_->progress(Channel::Turn::wait)) {
      flights_.wake();
      continue;
    }
    bool found = false;
    for (std::uint64_t i = 0; i < spins_ && !found; ++i) {
      pause_processor();
      found = channel_->progress(Channel::Turn::if_free);
    }
    if (found) {
      spins_ = std::min(most_spins_, 2 * spins_);
      flights_.wake();
      continue;
    }
    spins_ /= 2;
    const bool quiet = channel_->arm();
    if (!channel_->progress(Channel::Turn::wait) && quiet) return;
    channel_->disarm();
    // It came while this thread was about to sleep: polling for longer would have been better.
    spins_ = std::min(most_spins_, std::max(kFewestSpins, 2 * spins_));
    flights_.wake();
  }
}

// Whoever takes messages in cannot leave one half taken in.
bool Helper::progress() try {
  return channel_->progress(Channel::Turn::if_free);
} catch (const std::bad_alloc&) {
  end_exhausted("what takes in messages of other ranks");
}

void Helper::receive(const Message& message) {
  bool good = false;
  if (message.kind == kRequestMessage) {
    good = serving_->receive(message);
  } else if (message.kind == kReplyMessage) {
    good = asking_->receive(message.peer, message.body);
  } else if (message.kind < kMessageKinds && receivers_[message.kind]) {
    good = receivers_[message.kind](message);
  }
  if (good) return;
  count(Counter::messages_refused);
  log(LogLevel::warn,
      fmt::format("rank {} sent a message that makes no sense: it is given up", message.peer));
  channel_->fail(message.peer);
}

void Helper::lost(int peer) {
  asking_->lost(peer);
  serving_->lost(peer);
  for (const auto& told : losses_) told(peer);
}

bool Helper::advance() {
  bool moved = serving_->advance();
  for (const auto& told : rooms_) moved = told() || moved;
  return moved;
}

}  // namespace rma
