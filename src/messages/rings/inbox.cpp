#include "messages/rings/inbox.hpp"

#include <algorithm>

#include "util/log.hpp"
#include "util/try_assign.hpp"

namespace librma {

Result<InboxBlock*> Inbox::provide(Job& job) {
  RMA_TRY_ASSIGN(block, job.provide(Service::messages, InboxBlock::bytes(job.local_seats().size())));
  return reinterpret_cast<InboxBlock*>(block);
}

Inbox::Inbox(Job& job, InboxBlock& block, const LineRingSizes& sizes)
    : job_(job),
      sizes_(sizes),
      block_(&block),
      owned_(job.local_seats().size()),
      rings_(job.local_seats().size()),
      by_rank_(static_cast<std::size_t>(job.size())) {
  const std::vector<int>& locals = job.local_seats();
  own_index_ = static_cast<std::size_t>(std::ranges::find(locals, job.rank()) - locals.begin());
}

void Inbox::announce(int to, const std::byte* ring) {
  InboxBlock& block = *reinterpret_cast<InboxBlock*>(job_.service(Service::messages, to).data());
  block.rings[own_index_].store(reinterpret_cast<std::uintptr_t>(ring), std::memory_order_relaxed);
  block.calls.fetch_add(1, std::memory_order_release);  // pairs with the loads in rings() and find_new()
}

void Inbox::find_new() {
  const std::lock_guard guard(finding_);
  const std::uint32_t calls = block_->calls.load(std::memory_order_acquire);
  const std::vector<int>& locals = job_.local_seats();
  for (std::size_t i = 0; i < locals.size(); ++i) {
    const std::uint64_t address = block_->rings[i].load(std::memory_order_relaxed);
    if (address == 0 || owned_[i]) continue;
    const int sender = locals[i];
    std::byte* const here = job_.direct(reinterpret_cast<const void*>(address), sizes_.memory(), sender);
    if (here == nullptr || address % alignof(RingLine) != 0) {
      log(LogLevel::warn, "rank {} has made no ring where it says that it has", sender);
      block_->rings[i].store(0, std::memory_order_relaxed);
      continue;
    }
    const std::size_t count = count_.load(std::memory_order_relaxed);
    rings_[count] = &owned_[i].emplace(sender, here, sizes_);
    by_rank_[static_cast<std::size_t>(sender)].store(rings_[count], std::memory_order_release);
    count_.store(count + 1, std::memory_order_release);  // pairs with the load in rings()
  }
  seen_calls_.store(calls, std::memory_order_relaxed);
}

bool Inbox::waiting() {
  return std::ranges::any_of(rings(), [](const Ring* ring) { return ring->waiting(); });
}

}  // namespace librma
