#include "channel/channel.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "util/round.hpp"

namespace rma {
namespace {

/// The number of messages under way that were too long to be sent inline.
constexpr std::size_t kSendSlots = 64;

}  // namespace

Channel::Options Channel::Options::from(const Settings& settings, int ranks, bool polls) {
  return {
      .message_bytes = settings.message_bytes,
      .lent = receive_count(ranks, settings.receive_factor, settings.receive_base),
      .own = static_cast<std::uint32_t>(settings.peer_receives),
      .ring = {.slots = settings.ring_slots,
               .slot_bytes = round_up(settings.ring_slot_bytes, RingShape::kLineBytes)},
      .polling = {
          .most = polls ? std::min<std::size_t>(settings.polling_set, static_cast<std::size_t>(ranks)) : 0,
          .promote_messages = static_cast<std::uint32_t>(settings.promote_messages)}};
}

Channel::Channel(Rails& rails, int ranks, const Options& options)
    : rails_(rails),
      options_(options),
      local_(static_cast<std::size_t>(ranks)),
      links_(static_cast<std::size_t>(ranks)),
      polling_(options.polling),
      polled_rings_(options.polling.most),
      ring_memory_(rails, options.ring.bytes(), options.polling.most, BouncePool::Writers::peers),
      image_memory_(rails, options.ring.bytes(), options.polling.most, BouncePool::Writers::self),
      ring_message_(options.ring.slot_bytes) {
  for (std::size_t rail = 0; rail < rails.count(); ++rail) open_rails_.push_back(rail);
  if (!rails.has_local()) return;
  open_rails_.push_back(kLocalRail);
  for (const int peer : options.locals) local_[static_cast<std::size_t>(peer)] = true;
}

Channel::~Channel() {
  for (auto& link : links_) delete link.load(std::memory_order_relaxed);
}

Result<std::unique_ptr<Channel>> Channel::create(Rails& rails, int ranks, const Options& options) {
  std::unique_ptr<Channel> channel(new Channel(rails, ranks, options));
  if (Status status = channel->open(); !status.ok()) return std::move(status).within("messages");
  return channel;
}

Status Channel::open() {
  const auto ended = [this](int peer, rma_status_t status, RingMemory::Piece image) {
    if (status != RMA_SUCCESS) fail(peer);
    if (image != nullptr) image_memory_.give(std::move(image));
  };
  auto slots = SendSlots::create(rails_, options_.message_bytes, kSendSlots, ended);
  if (!slots.ok()) return std::move(slots).status();
  send_slots_ = std::move(slots).value();
  for (const std::size_t rail : open_rails_) {
    if (Status status = open_buffers(rail); !status.ok()) return status;
  }
  return {};
}

Status Channel::open_buffers(std::size_t rail) {
  const auto arrival = [this, rail](MessageBuffers::Slot& slot, int peer, rma_status_t status,
                                    std::uint32_t bytes) { arrived(rail, slot, peer, status, bytes); };
  buffers_[rail] = std::make_unique<MessageBuffers>(rails_, endpoint(rail), rail, options_.message_bytes,
                                                    options_.own, arrival);
  if (Status status = buffers_[rail]->open(options_.lent); !status.ok()) return status;
  endpoint(rail).set_buffer_source([this, rail](int peer) {
    const std::uint32_t own = buffers_[rail]->admit();
    Link& link = link_to(peer);
    const std::lock_guard guard(link.lock);
    link.promise(rail, own);
    return own;
  });
  if (const int fd = endpoint(rail).event_fd(); fd >= 0) event_fds_.push_back(fd);
  return {};
}

Status Channel::connect_local(int peer) {
  const auto card = options_.local_card(peer);
  if (!card.ok()) return {card.status().code(), std::string(card.status().text())};
  return rails_[kLocalRail].connect(peer, card.value());
}

void Channel::on_message(std::uint16_t kind, MessageHandler handler) {
  assert(MessageHeader::ordinary(kind) && kind < kKinds && !handlers_[kind]);
  handlers_[kind] = std::move(handler);
}

Link& Channel::link_to(int peer) {
  std::atomic<Link*>& place = links_[static_cast<std::size_t>(peer)];
  Link* link = place.load(std::memory_order_acquire);  // pairs with the exchange below
  if (link != nullptr) return *link;
  auto made = std::make_unique<Link>();
  if (place.compare_exchange_strong(link, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *link;
}

void Channel::fail(int peer) {
  Link& link = link_to(peer);
  {
    const std::lock_guard guard(link.lock);
    if (std::exchange(link.failed, true)) return;
    link.waiting.clear();
  }
  for (const std::size_t rail : open_rails_) rails_[rail].fail(peer);
  const std::lock_guard guard(lists_lock_);
  lost_.push_back(peer);
}

void Channel::report_lost() {
  std::vector<int> lost;
  {
    const std::lock_guard guard(lists_lock_);
    lost.swap(lost_);
  }
  for (const int peer : lost) {
    forget_rings(peer);
    for (const auto& lost_handler : losses_) lost_handler(peer);
  }
}

bool Channel::progress(Turn turn) {
  std::unique_lock guard(progress_lock_, std::defer_lock);
  if (turn == Turn::wait) {
    guard.lock();
  } else if (!guard.try_lock()) {
    return false;
  }
  bool found = false;
  std::array<transport::Completion, 32> completions;
  for (const std::size_t rail : open_rails_) {
    const std::size_t filled = endpoint(rail).poll(completions);
    found = found || filled != 0;
    for (std::size_t i = 0; i < filled; ++i) {
      const auto [cookie, peer, status, bytes] = completions[i];
      if (cookie != 0) {
        Posted::of(cookie).ended(peer, status, bytes);
      } else if (status != RMA_SUCCESS) {
        // A peer that has ended may have left its last messages in its ring.
        look_at_ring_of(peer);
        fail(peer);
      }
    }
  }
  found = look_at_rings() || found;
  decide();
  found = pump() || found;
  for (const auto& advance : advances_) found = advance() || found;
  report_lost();
  return found;
}

}  // namespace rma
