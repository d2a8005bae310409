#include "channel/channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "util/log.hpp"
#include "util/statistics.hpp"

namespace rma {
namespace {

/// Messages under way that were too long to be copied by the device when they were posted.
constexpr std::size_t kSendSlots = 64;
/// A peer that has used up its credits is lent so many at once.
constexpr std::uint32_t kLoan = 4;
/// A process that lets so many messages to it pile up takes none.
constexpr std::size_t kMostWaiting = 65536;

}  // namespace

/// Registered memory of a message until the device has sent it.
struct Channel::SendSlot final : public Posted {
  SendSlot(Channel& channel, std::byte* bytes) : owner(channel), memory(bytes) {}
  void ended(int peer, rma_status_t status, std::uint32_t /*bytes*/) override {
    {
      const std::lock_guard guard(owner.slots_lock_);
      owner.free_slots_.push_back(this);
    }
    if (status != RMA_SUCCESS) owner.fail(peer);
  }
  Channel& owner;
  std::byte* const memory;
};

Channel::Channel(Rails& rails, int ranks, const Options& options, MessageReceiver& receiver)
    : rails_(rails), options_(options), receiver_(receiver), links_(static_cast<std::size_t>(ranks)) {}

Channel::~Channel() {
  for (auto& link : links_) delete link.load(std::memory_order_relaxed);
}

Result<std::unique_ptr<Channel>> Channel::create(Rails& rails, int ranks, const Options& options,
                                                 MessageReceiver& receiver) {
  std::unique_ptr<Channel> channel(new Channel(rails, ranks, options, receiver));
  if (Status status = channel->open(); !status.ok()) return std::move(status).within("messages");
  return channel;
}

Status Channel::open() {
  auto memory = BouncePool::create(rails_, options_.message_bytes, kSendSlots);
  if (!memory.ok()) return std::move(memory).status();
  send_memory_ = std::move(memory).value();
  for (std::size_t i = 0; i < kSendSlots; ++i) {
    slots_.push_back(std::make_unique<SendSlot>(*this, send_memory_->take()));
    free_slots_.push_back(slots_.back().get());
  }
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    const auto arrival = [this, rail](MessageBuffers::Slot& slot, int peer, rma_status_t status,
                                      std::uint32_t bytes) { arrived(rail, slot, peer, status, bytes); };
    buffers_.push_back(std::make_unique<MessageBuffers>(rails_, lane(rail), rail, options_.message_bytes,
                                                        options_.own, arrival));
    if (Status status = buffers_[rail]->open(options_.lent); !status.ok()) return status;
    lane(rail).set_buffer_source([this, rail](int peer) {
      const std::uint32_t own = buffers_[rail]->admit();
      Link& its = link(peer);
      const std::lock_guard guard(its.lock);
      its.promise(rail, own);
      return own;
    });
    if (const int fd = lane(rail).event_fd(); fd >= 0) event_fds_.push_back(fd);
  }
  return {};
}

Link& Channel::link(int peer) {
  std::atomic<Link*>& place = links_[static_cast<std::size_t>(peer)];
  Link* its = place.load(std::memory_order_acquire);  // pairs with the exchange below
  if (its != nullptr) return *its;
  auto made = std::make_unique<Link>();
  if (place.compare_exchange_strong(its, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *its;
}

rma_status_t Channel::open_link(Link& its, int peer, std::size_t rail) {
  if (its.failed) return RMA_ERR_PEER_LOST;
  if (its.rail()) return RMA_SUCCESS;
  const std::uint32_t credits = lane(rail).buffers_of(peer);
  if (credits < Link::kFewestCredits) return RMA_ERR_UNSUPPORTED;
  its.open(rail, credits);
  return RMA_SUCCESS;
}

rma_status_t Channel::post(Link& its, int peer, std::uint16_t kind, std::span<const std::byte> head,
                           std::span<const std::byte> tail) {
  if (!its.may_send(kind)) return RMA_ERR_STATE;
  const std::size_t rail = *its.rail();
  transport::HelperLane& way = lane(rail);
  const MessageHeader header = its.next(kind, head.size() + tail.size());
  const std::size_t bytes = sizeof header + header.bytes;
  const bool small = bytes <= way.limits().max_inline;
  constexpr std::size_t kMostInline = 512;
  alignas(8) std::array<std::byte, kMostInline> copy;
  SendSlot* slot = nullptr;
  if (!small || bytes > kMostInline) {
    const std::lock_guard guard(slots_lock_);
    if (free_slots_.empty()) return RMA_ERR_STATE;
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  std::byte* const memory = slot != nullptr ? slot->memory : copy.data();
  std::memcpy(memory, &header, sizeof header);
  std::copy(head.begin(), head.end(), memory + sizeof header);
  std::copy(tail.begin(), tail.end(), memory + sizeof header + head.size());
  const transport::Local piece = {
      .address = memory, .bytes = bytes, .key = slot != nullptr ? send_memory_->registered().local[rail] : 0};
  const rma_status_t status =
      slot != nullptr ? way.post_message(peer, {&piece, 1}, slot->cookie(), {})
                      : way.post_message(peer, {&piece, 1}, 0, {.inline_data = true, .unsignalled = true});
  if (status == RMA_SUCCESS) {
    its.sent(header);
    count(Counter::message);
    return status;
  }
  if (slot != nullptr) {
    const std::lock_guard guard(slots_lock_);
    free_slots_.push_back(slot);
  }
  return status;
}

rma_status_t Channel::try_send(int peer, std::size_t rail, std::uint16_t kind,
                               std::span<const std::byte> head, std::span<const std::byte> tail) {
  Link& its = link(peer);
  rma_status_t status = RMA_SUCCESS;
  {
    const std::lock_guard guard(its.lock);
    status = open_link(its, peer, rail);
    if (status != RMA_SUCCESS) return status;
    if (!its.waiting.empty()) return RMA_ERR_STATE;
    status = post(its, peer, kind, head, tail);
  }
  if (status == RMA_ERR_PEER_LOST) fail(peer);
  return status;
}

void Channel::send(int peer, std::size_t rail, std::uint16_t kind, std::span<const std::byte> head,
                   std::span<const std::byte> tail) {
  Link& its = link(peer);
  rma_status_t status = RMA_SUCCESS;
  {
    const std::lock_guard guard(its.lock);
    if (open_link(its, peer, rail) != RMA_SUCCESS) return;
    status = its.waiting.empty() ? post(its, peer, kind, head, tail) : RMA_ERR_STATE;
    if (status == RMA_ERR_STATE && its.waiting.size() < kMostWaiting) {
      Link::Waiting message = {.kind = kind, .body = {head.begin(), head.end()}};
      message.body.insert(message.body.end(), tail.begin(), tail.end());
      its.waiting.push_back(std::move(message));
      list(its, peer);
      return;
    }
  }
  if (status != RMA_SUCCESS) fail(peer);
}

void Channel::list(Link& its, int peer) {
  if (std::exchange(its.listed, true)) return;
  const std::lock_guard guard(lists_lock_);
  listed_.push_back(peer);
}

void Channel::fail(int peer) {
  Link& its = link(peer);
  {
    const std::lock_guard guard(its.lock);
    if (std::exchange(its.failed, true)) return;
    its.waiting.clear();
  }
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) rails_[rail].fail(peer);
  const std::lock_guard guard(lists_lock_);
  lost_.push_back(peer);
}

void Channel::arrived(std::size_t rail, MessageBuffers::Slot& slot, int peer, rma_status_t status,
                      std::uint32_t bytes) {
  bool honest = status == RMA_SUCCESS && peer >= 0 && bytes <= options_.message_bytes;
  if (honest) honest = take_in(rail, peer, {slot.memory(), bytes});
  if (!honest && status == RMA_SUCCESS) {
    count(Counter::messages_refused);
    log(LogLevel::warn, fmt::format("rank {} sent a message that makes no sense: it is given up", peer));
  }
  if (!honest && peer >= 0) fail(peer);
  MessageHeader header;
  std::memcpy(&header, slot.memory(), sizeof header);
  buffers_[rail]->repost(slot);
  if (honest) give_back(rail, peer, header.wants_more != 0);
}

bool Channel::take_in(std::size_t rail, int peer, std::span<const std::byte> bytes) {
  MessageHeader header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::span<const std::byte> body = bytes.subspan(sizeof header);
  if (header.bytes != body.size()) return false;
  Link& its = link(peer);
  {
    const std::lock_guard guard(its.lock);
    if (its.failed) return true;
    // Who answers does so the way the question came, if nothing was sent before.
    static_cast<void>(open_link(its, peer, rail));
    switch (its.arrived(rail, header)) {
      case Link::Order::broken:
        return false;
      case Link::Order::early:
        its.keep(header, body);
        return true;
      case Link::Order::next:
        its.delivered();
    }
    if (!its.waiting.empty()) list(its, peer);
  }
  if (header.kind != MessageHeader::kCredits) {
    receiver_.receive({.peer = peer, .rail = rail, .kind = header.kind, .body = body});
  }
  while (true) {
    std::optional<Link::Waiting> kept;
    {
      const std::lock_guard guard(its.lock);
      if (!its.failed) kept = its.next_kept();
      if (kept) its.delivered();
    }
    if (!kept) return true;
    if (kept->kind != MessageHeader::kCredits) {
      receiver_.receive({.peer = peer, .rail = rail, .kind = kept->kind, .body = kept->body});
    }
  }
}

void Channel::give_back(std::size_t rail, int peer, bool wants_more) {
  Link& its = link(peer);
  const std::lock_guard guard(its.lock);
  if (its.failed) return;
  const bool withdrawn = its.promised() > options_.own && buffers_[rail]->take_back();
  its.freed(withdrawn);
  if (wants_more && !withdrawn) its.lend(buffers_[rail]->borrow(kLoan));
  if (its.owes()) list(its, peer);
}

bool Channel::pump() {
  std::vector<int> listed;
  {
    const std::lock_guard guard(lists_lock_);
    if (listed_.empty()) return false;
    listed.swap(listed_);
  }
  bool moved = false;
  for (const int peer : listed) {
    Link& its = link(peer);
    rma_status_t status = RMA_SUCCESS;
    {
      const std::lock_guard guard(its.lock);
      its.listed = false;
      if (its.failed || !its.rail()) continue;
      while (status == RMA_SUCCESS && !its.waiting.empty()) {
        const Link::Waiting& first = its.waiting.front();
        status = post(its, peer, first.kind, first.body, {});
        if (status != RMA_SUCCESS) break;
        its.waiting.pop_front();
        moved = true;
      }
      if (status != RMA_ERR_PEER_LOST && its.owes()) {
        status = post(its, peer, MessageHeader::kCredits, {}, {});
        moved = moved || status == RMA_SUCCESS;
      }
      // What waits for credits is listed again when they come; what waits for the device, at once.
      const bool can =
          (!its.waiting.empty() && its.has_credit()) || (its.owes() && its.may_send(MessageHeader::kCredits));
      if (can && status != RMA_ERR_PEER_LOST) list(its, peer);
    }
    if (status == RMA_ERR_PEER_LOST) fail(peer);
  }
  return moved;
}

void Channel::report_lost() {
  std::vector<int> lost;
  {
    const std::lock_guard guard(lists_lock_);
    lost.swap(lost_);
  }
  for (const int peer : lost) receiver_.lost(peer);
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
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    const std::size_t filled = lane(rail).poll(completions);
    found = found || filled != 0;
    for (std::size_t i = 0; i < filled; ++i) {
      const auto [cookie, peer, status, bytes] = completions[i];
      if (cookie != 0) {
        Posted::of(cookie).ended(peer, status, bytes);
      } else if (status != RMA_SUCCESS) {
        fail(peer);
      }
    }
  }
  found = pump() || found;
  found = receiver_.advance() || found;
  report_lost();
  return found;
}

void Channel::arm() {
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) static_cast<void>(lane(rail).arm());
}

}  // namespace rma
