#include "channel/message_buffers.hpp"

#include <algorithm>

#include "util/log.hpp"

namespace librma {
namespace {

/// The least number of buffers for which memory is registered at once.
constexpr std::uint32_t kChunk = 16;

}  // namespace

MessageBuffers::MessageBuffers(Registrar& registrar, transport::MessageEndpoint& endpoint, std::size_t rail,
                               std::size_t bytes, std::uint32_t own, std::size_t peers, Arrival arrival)
    : registrar_(registrar),
      endpoint_(endpoint),
      rail_(rail),
      bytes_(bytes + endpoint.limits().trailer),
      own_(own),
      arrival_(std::move(arrival)),
      absent_(peers) {}

Status MessageBuffers::open(std::uint32_t lent) {
  const std::lock_guard guard(lock_);
  lendable_ = add(lent);
  if (lendable_ != 0) return {};
  return {RMA_ERR_NO_MEMORY, "no memory for messages can be registered with the network"};
}

std::uint32_t MessageBuffers::admit() {
  const std::lock_guard guard(lock_);
  const std::uint32_t added = add(own_);
  all_registered_ = all_registered_ && added == own_;
  if (absent_ > 0) --absent_;
  // If the limit of locked memory is used up, the peer gets some of the buffers that were to be lent.
  const std::uint32_t instead = std::min(own_ - added, lendable_);
  lendable_ -= instead;
  return added + instead;
}

std::uint32_t MessageBuffers::add(std::uint32_t count) {
  std::uint32_t added = 0;
  while (added < count) {
    std::byte* memory = memory_.empty() ? nullptr : memory_.back()->take();
    if (memory == nullptr) {
      auto more = BouncePool::create(registrar_, bytes_, std::max(kChunk, count - added));
      if (!more.ok()) {
        log(LogLevel::warn, "no more message buffers: {}", more.status().text());
        break;
      }
      memory_.push_back(std::move(more).value());
      continue;
    }
    Slot& slot = slots_.emplace_back(*this, memory, memory_.back()->registered().local_key(rail_));
    if (!post(slot)) {
      slots_.pop_back();
      memory_.back()->give(memory);
      break;
    }
    ++added;
  }
  return added;
}

bool MessageBuffers::post(Slot& slot) {
  return endpoint_.post_buffer({.address = slot.memory_, .bytes = bytes_, .key = slot.key_}, slot.cookie()) ==
         RMA_SUCCESS;
}

void MessageBuffers::repost(Slot& slot) {
  // The queue has room, because the buffer was in it before. If the device is gone, the error does not
  // matter.
  static_cast<void>(post(slot));
}

std::uint32_t MessageBuffers::borrow(std::uint32_t wanted) {
  const std::lock_guard guard(lock_);
  const std::size_t kept = all_registered_ ? 0 : std::min<std::size_t>(lendable_, absent_ * own_);
  const std::uint32_t got = std::min(wanted, lendable_ - static_cast<std::uint32_t>(kept));
  lendable_ -= got;
  scarce_ = got < wanted;
  return got;
}

bool MessageBuffers::take_back() {
  const std::lock_guard guard(lock_);
  if (!scarce_) return false;
  ++lendable_;
  return true;
}

}  // namespace librma
