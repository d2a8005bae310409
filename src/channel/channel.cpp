#include "channel/channel.hpp"

#include <algorithm>
#include <cassert>

#include "channel/eager_rings.hpp"
#include "util/round.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {

Channel::Options Channel::Options::from(const Settings& settings, int ranks, bool helper_polls) {
  // A message of RMA_NETWORK_EAGER bytes has the heads of all layers with it.
  constexpr std::size_t kHeads = 256;
  return {.message_bytes = settings.message_bytes,
          .long_bytes = round_up(settings.network_eager_bytes, kHeads) + kHeads,
          .lent = receive_count(ranks, settings.receive_factor, settings.receive_base),
          .own = static_cast<std::uint32_t>(settings.peer_receives),
          .ring = {.slots = settings.ring_slots,
                   .slot_bytes = round_up(settings.ring_slot_bytes, RingShape::kLineBytes)},
          .polling = {.most = std::min<std::size_t>(settings.polling_set, static_cast<std::size_t>(ranks)),
                      .promote_messages = static_cast<std::uint32_t>(settings.promote_messages)},
          .helper_polls = helper_polls};
}

namespace {

/// A ring's reader takes the last bytes of a line for a sign that the others are there. So there are no rings
/// over a network that promises no such order.
PollingSet::Policy polling_of(const Rails& rails, PollingSet::Policy policy) {
  for (std::size_t rail = 0; rail < rails.count(); ++rail) {
    if (!rails[rail].limits().ordered_bytes) policy.most = 0;
  }
  return policy;
}

/// Returns the number of buffers for each peer. Where there are no rings, the buffers take what a peer sends
/// in one go; with few of them it would wait for credits. All buffers together are limited, because every
/// rank may connect.
std::uint32_t own_buffers(std::uint32_t set, bool has_rings, std::size_t ranks) {
  constexpr std::uint32_t kWithoutRings = 32;
  constexpr std::size_t kInAll = 1024;
  if (has_rings) return set;
  return std::max(set, static_cast<std::uint32_t>(std::min<std::size_t>(kWithoutRings, kInAll / ranks)));
}

}  // namespace

Channel::Channel(Rails& rails, int ranks, const Options& options)
    : rails_(rails),
      options_(options),
      local_(static_cast<std::size_t>(ranks)),
      links_(ranks),
      sender_(rails, links_, sleep_, [this](int peer) { fail(peer); }),
      rings_(std::make_unique<EagerRings>(
          rails, links_, options.ring, polling_of(rails, options.polling), options.helper_polls,
          [this](std::size_t rail, int peer, std::span<const std::byte> message) {
            return take_in(rail, peer, message, MessagePath::ring);
          },
          [this](int peer) { refuse(peer); })) {
  for (std::size_t rail = 0; rail < rails.count(); ++rail) open_rails_.push_back(rail);
  if (!rails.has_local()) return;
  open_rails_.push_back(kLocalRail);
  for (const int peer : options.locals) local_[static_cast<std::size_t>(peer)] = true;
}

Result<std::unique_ptr<Channel>> Channel::create(Rails& rails, int ranks, const Options& options) {
  std::unique_ptr<Channel> channel(new Channel(rails, ranks, options));
  if (Status status = channel->open(); !status.ok()) return std::move(status).within("messages");
  return channel;
}

Channel::~Channel() = default;

Status Channel::open() {
  const auto ended = [this](int peer, rma_status_t status, RingMemory::Piece image) {
    if (status != RMA_SUCCESS) fail(peer);
    if (image != nullptr) rings_->give_image(std::move(image));
  };
  MessageSender::Bytes bytes = {};
  for (const std::size_t rail : open_rails_) bytes[rail] = bytes_of(rail);
  RMA_TRY(sender_.open(bytes, ended));
  for (const std::size_t rail : open_rails_) {
    RMA_TRY(open_buffers(rail));
  }
  if (sleep_.open()) event_fds_.push_back(sleep_.fd());
  return {};
}

std::size_t Channel::bytes_of(std::size_t rail) const {
  const bool long_ones = !rails_[rail].limits().ordered_bytes;
  return long_ones ? std::max(options_.long_bytes, options_.message_bytes) : options_.message_bytes;
}

std::size_t Channel::peers_of(std::size_t rail) const {
  const auto here = static_cast<std::size_t>(std::count(local_.begin(), local_.end(), true));
  const std::size_t these = rail == kLocalRail ? here : local_.size() - here;
  // This process is one of them, if it is among those of this rail.
  const bool own = rail == kLocalRail || here == 0;
  return these - (own && these > 0 ? 1 : 0);
}

bool Channel::has_longer_messages() const {
  return std::any_of(open_rails_.begin(), open_rails_.end(),
                     [this](std::size_t rail) { return max_body(rail) > max_body(); });
}

Status Channel::open_buffers(std::size_t rail) {
  const auto arrival = [this, rail](MessageBuffers::Slot& slot, int peer, rma_status_t status,
                                    std::uint32_t bytes) { arrived(rail, slot, peer, status, bytes); };
  const std::uint32_t own = own_buffers(options_.own, rails_[rail].limits().ordered_bytes, local_.size());
  buffers_[rail] = std::make_unique<MessageBuffers>(rails_, endpoint(rail), rail, bytes_of(rail), own,
                                                    peers_of(rail), arrival);
  RMA_TRY(buffers_[rail]->open(options_.lent));
  endpoint(rail).set_buffer_source([this, rail](int peer) -> std::uint32_t {
    // A device connects the ranks of this host, too, for atomics. They send messages by the local transport.
    if (local(peer) != (rail == kLocalRail)) return 0;
    const std::uint32_t admitted = buffers_[rail]->admit();
    Link& link = links_.to(peer);
    const std::lock_guard guard(link.lock);
    link.promise(rail, admitted);
    return admitted;
  });
  if (const int fd = endpoint(rail).event_fd(); fd >= 0) event_fds_.push_back(fd);
  return {};
}

Status Channel::connect_local(int peer) {
  RMA_TRY_ASSIGN(card, options_.local_card(peer));
  return rails_[kLocalRail].connect(peer, card);
}

void Channel::on_message(std::uint16_t kind, MessageHandler handler, MessageEvent event) {
  assert(MessageHeader::ordinary(kind) && kind < kKinds && !handlers_[kind]);
  if (event == MessageEvent::unsolicited) sender_.leave_unsolicited(kind);
  handlers_[kind] = std::move(handler);
}

rma_status_t Channel::open(int peer, std::size_t* rail) {
  Link& link = links_.to(peer);
  if (local(peer)) {
    *rail = kLocalRail;
    {
      const std::lock_guard guard(link.lock);
      if (link.rail()) return link.failed ? RMA_ERR_PEER_LOST : RMA_SUCCESS;
    }
    // Without the lock: the peer may connect at the same time, and what answers it takes the lock.
    if (const Status connected = connect_local(peer); !connected.ok()) return connected.code();
  }
  const std::lock_guard guard(link.lock);
  const rma_status_t status = sender_.open_link(link, peer, *rail);
  if (status == RMA_SUCCESS) *rail = *link.rail();
  return status;
}

void Channel::fail(int peer) {
  if (!links_.fail(peer)) return;
  for (const std::size_t rail : open_rails_) rails_[rail].fail(peer);
  links_.list_lost(peer);
}

void Channel::report_lost() {
  for (const int peer : links_.take_lost()) {
    rings_->forget(peer);
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
        rings_->look_at_peer(peer);
        fail(peer);
      }
    }
  }
  found = rings_->look() || found;
  rings_->decide();
  found = sender_.pump() || found;
  for (const auto& advance : advances_) found = advance() || found;
  report_lost();
  if (sleep_.depth() == HelperSleep::Depth::solicited && links_.unsent()) sleep_.stir();
  return found;
}

bool Channel::prepare_sleep(HelperSleep::Depth depth) {
  rings_->prepare_sleep(depth);
  static_cast<void>(sender_.pump());
  sleep_.set(depth);
  return rings_->may_sleep();
}

void Channel::arm_endpoints(HelperSleep::Depth depth) {
  const auto events = depth == HelperSleep::Depth::all ? transport::MessageEndpoint::Events::all
                                                       : transport::MessageEndpoint::Events::solicited;
  for (const std::size_t rail : open_rails_) static_cast<void>(endpoint(rail).arm(events));
}

bool Channel::arm() {
  const std::lock_guard turn(progress_lock_);
  auto depth = HelperSleep::Depth::all;
  bool quiet = false;
  if (sleep_.fd() >= 0 && expecting_.load(std::memory_order_relaxed) == 0) {
    depth = HelperSleep::Depth::solicited;
    quiet = prepare_sleep(depth);
    if (links_.unsent()) depth = HelperSleep::Depth::all;
  }
  if (depth == HelperSleep::Depth::all) quiet = prepare_sleep(depth);
  arm_endpoints(depth);
  return quiet;
}

void Channel::expect_all() {
  expecting_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard turn(progress_lock_);
  if (sleep_.depth() != HelperSleep::Depth::solicited) return;  // the helper sees the count when it arms
  if (prepare_sleep(HelperSleep::Depth::all)) {
    arm_endpoints(HelperSleep::Depth::all);
  } else {
    // The helper makes progress until it may sleep.
    sleep_.set(HelperSleep::Depth::solicited);
    sleep_.stir();
  }
}

void Channel::disarm() {
  const std::lock_guard turn(progress_lock_);
  sleep_.end();
  rings_->resume();
}

}  // namespace librma
