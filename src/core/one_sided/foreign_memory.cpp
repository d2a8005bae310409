#include "core/one_sided/foreign_memory.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "core/one_sided/layout.hpp"
#include "util/text.hpp"

namespace librma {

using transport::Direction;

ForeignMemory::ForeignMemory(PendingOperations& pending, std::unique_ptr<transport::Transport> transport,
                             int ranks, CardSource cards)
    : pending_(pending),
      transport_(std::move(transport)),
      cards_(std::move(cards)),
      owners_(static_cast<std::size_t>(ranks)) {}

ForeignMemory::~ForeignMemory() {
  for (Owner& owner : owners_) delete owner.later.load(std::memory_order_relaxed);
}

rma_status_t ForeignMemory::connect(int rank) try {
  Owner& owner = owners_[static_cast<std::size_t>(rank)];
  rma_status_t known = owner.connected.load(std::memory_order_acquire);  // pairs with the store below
  if (known != RMA_ERR_STATE) return known;
  const std::lock_guard guard(owner.connect_lock);
  known = owner.connected.load(std::memory_order_relaxed);  // another thread may have connected meanwhile
  if (known != RMA_ERR_STATE) return known;
  const auto card = cards_(rank);
  if (!card.ok()) return card.status().code();
  const Status status = transport_->connect(rank, card.value());
  if (status.ok() || status.code() == RMA_ERR_UNSUPPORTED) {
    owner.connected.store(status.code(), std::memory_order_release);
  }
  return status.code();
} catch (const std::bad_alloc&) {
  return RMA_ERR_NO_MEMORY;
}

rma_status_t ForeignMemory::try_to_post(int rank, std::span<const transport::Work> work,
                                        std::size_t* posted) try {
  *posted = 0;
  return transport_->post(rank, work, posted);
} catch (const std::bad_alloc&) {
  return RMA_ERR_NO_MEMORY;  // the work ends with this status, so no fence waits for it for ever
}

rma_status_t ForeignMemory::post(rma_request_t operation, std::span<const transport::Work> work) {
  const int rank = pending_.rank(operation);
  // Counts the work before posting it: another thread may see its completion before the post returns.
  for (std::size_t i = 0; i < work.size(); ++i) pending_.begin(rank, operation);
  std::size_t posted = 0;
  rma_status_t status = RMA_SUCCESS;
  pending_.engine().wait_until(rank, [&] {  // waits for room in the queue
    std::size_t more = 0;
    status = try_to_post(rank, work.subspan(posted), &more);
    posted += more;
    return status != RMA_ERR_STATE;
  });
  for (; posted < work.size(); ++posted) pending_.end(rank, operation, status);
  // Its completions would only collect until a fence, and requests with them.
  if (transport_->limits().completes_at_once) {
    while (progress()) {
    }
  }
  return status;
}

void ForeignMemory::transfer(Direction direction, rma_request_t operation, transport::Remote remote,
                             transport::Local local) {
  const int rank = pending_.rank(operation);
  // The whole transfer counts as outstanding, so that a fence that begins now waits for all its pieces.
  pending_.begin(rank, operation);
  rma_status_t status = connect(rank);
  while (status == RMA_SUCCESS && local.bytes > 0) {
    const std::size_t bytes = std::min<std::uint64_t>(local.bytes, transport_->limits().max_message);
    const transport::Local piece = {local.address, bytes, local.key};
    const transport::Work work = {
        .direction = direction, .remote = remote, .pieces = {&piece, 1}, .cookie = operation, .flags = {}};
    status = post(operation, {&work, 1});
    local.address += bytes;
    local.bytes -= bytes;
    remote.address += bytes;
  }
  pending_.end(rank, operation, status);
}

void ForeignMemory::add(ForeignBatch& batch, Direction direction, rma_request_t operation,
                        transport::Remote remote, const transport::Local& local) {
  const std::uint64_t most = transport_->limits().max_message;
  transport::Local& last = batch.last_;
  const bool alike = !batch.empty() && batch.direction_ == direction;
  if (alike && last.address + last.bytes == local.address &&
      batch.last_remote_.address + last.bytes == remote.address && local.bytes <= most - last.bytes) {
    last.bytes += local.bytes;
    return;
  }
  if (!batch.empty() && (!alike || batch.work_.size() + 1 == ForeignBatch::kMost)) flush(batch, operation);
  if (local.bytes <= most) return batch.add(direction, remote, local);
  flush(batch, operation);
  transfer(direction, operation, remote, local);
}

void ForeignMemory::flush(ForeignBatch& batch, rma_request_t operation) {
  if (batch.empty()) return;
  if (batch.work_.empty()) {
    return transfer(batch.direction_, operation, batch.last_remote_, std::exchange(batch.last_, {}));
  }
  const int rank = pending_.rank(operation);
  pending_.begin(rank, operation);
  const std::span<const transport::Work> work = batch.take(operation);
  rma_status_t status = connect(rank);
  if (status == RMA_SUCCESS) status = post(operation, work);
  pending_.end(rank, operation, status);
}

ForeignMemory::Later& ForeignMemory::later_of(int rank) {
  std::atomic<Later*>& place = owners_[static_cast<std::size_t>(rank)].later;
  Later* later = place.load(std::memory_order_acquire);  // pairs with the exchange below
  if (later != nullptr) return *later;
  auto made = std::make_unique<Later>();
  if (place.compare_exchange_strong(later, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *later;
}

bool ForeignMemory::add_later(Direction direction, int rank, transport::Remote remote,
                              transport::Local local) {
  if (!transport_->limits().completes_at_once) return false;
  Later& later = later_of(rank);
  CompletionContext& context = pending_.contexts().current();
  {
    const std::lock_guard guard(later.lock);
    const bool differs = !later.batch.empty() && later.batch.direction_ != direction;
    if (differs || later.batch.full() || later.context != &context ||
        local.bytes > kLaterBytes - later.used) {
      issue(rank, later);
    }
    if (later.operation == RMA_REQUEST_NULL) {
      later.operation = pending_.open(rank);
      if (later.operation == RMA_REQUEST_NULL) return false;
      later.context = &context;
    }
    if (direction == Direction::write) {
      std::byte* const copy = later.data.get() + later.used;
      local.address = std::copy_n(local.address, local.bytes, copy) - local.bytes;
    }
    add(later.batch, direction, later.operation, remote, local);
    later.used += local.bytes;
  }
  // Behind the adding, which is what CompletionContext::fence() calls the posting. A fence that clears the
  // flag later takes the lock behind this thread.
  context.issued(rank);
  return true;
}

void ForeignMemory::flush(int rank, CompletionContext& context) {
  Later* const later = owners_[static_cast<std::size_t>(rank)].later.load(std::memory_order_acquire);
  if (later == nullptr) return;
  const std::lock_guard guard(later->lock);
  if (later->context == &context) issue(rank, *later);
}

void ForeignMemory::issue(int rank, Later& later) {
  const rma_request_t operation = std::exchange(later.operation, RMA_REQUEST_NULL);
  if (operation == RMA_REQUEST_NULL) return;
  if (!copy_by_helper(rank, later.batch, operation)) flush(later.batch, operation);
  later.used = 0;  // either way has the data of puts already
  pending_.leave(operation);
}

bool ForeignMemory::copy_by_helper(int rank, ForeignBatch& batch, rma_request_t operation) try {
  if (batch.empty() || copy_fallback_ == nullptr) return false;
  const std::size_t pieces = batch.work_.size() + 1;
  std::size_t bytes = batch.last_.bytes;
  for (const transport::Local& this_local : batch.locals_) bytes += this_local.bytes;
  if (permitted(rank) && !helper_is_faster(pieces, bytes)) return false;
  std::vector<Layout::Segment> remote;
  std::vector<Layout::Segment> local;
  remote.reserve(pieces);
  local.reserve(pieces);
  const auto list = [&](const transport::Remote& there, const transport::Local& here) {
    remote.push_back({.address = there.address, .bytes = here.bytes});
    local.push_back({.address = reinterpret_cast<std::uintptr_t>(here.address), .bytes = here.bytes});
  };
  for (std::size_t i = 0; i < batch.work_.size(); ++i) list(batch.work_[i].remote, batch.locals_[i]);
  list(batch.last_remote_, batch.last_);
  // If a part is on its way already, nothing is lost when the whole is moved once more.
  const Status asked =
      copy_fallback_->move(batch.direction_, rank, std::make_shared<Layout>(Layout::list(std::move(remote))),
                           std::make_shared<Layout>(Layout::list(std::move(local))), operation);
  if (asked.ok()) batch.clear();
  return asked.ok();
} catch (const std::bad_alloc&) {
  return false;
}

void ForeignBatch::clear() {
  work_.clear();
  locals_.clear();
  last_ = {};
}

void ForeignBatch::add(Direction direction, transport::Remote remote, const transport::Local& local) {
  if (empty()) {
    clear();
  } else {
    // For the transfer before this one, and for this one.
    const auto make_room = [](auto& list) {
      if (list.capacity() < list.size() + 2) list.reserve(std::max<std::size_t>(2 * list.size(), 16));
    };
    make_room(work_);
    make_room(locals_);
    store_last();
  }
  direction_ = direction;
  last_remote_ = remote;
  last_ = local;
}

void ForeignBatch::store_last() {
  work_.push_back({.direction = direction_, .remote = last_remote_, .pieces = {}, .cookie = 0, .flags = {}});
  locals_.push_back(std::exchange(last_, {}));
}

std::span<const transport::Work> ForeignBatch::take(rma_request_t operation) {
  store_last();
  for (std::size_t i = 0; i < work_.size(); ++i) {
    work_[i].pieces = {&locals_[i], 1};
    work_[i].cookie = operation;
  }
  return work_;
}

bool ForeignMemory::progress() {
  std::array<transport::Completion, 32> completions;
  const std::size_t found = transport_->poll(completions);
  for (std::size_t i = 0; i < found; ++i) {
    pending_.end(completions[i].peer, completions[i].cookie, completions[i].status);
  }
  return found != 0;
}

std::string ForeignMemory::explain(rma_status_t code, int rank) const {
  const std::string_view name = transport_->name();
  switch (code) {
    case RMA_ERR_PEER_LOST:
      return text("rank {} is gone or unreachable by {}", rank, name);
    case RMA_ERR_ADDRESS:
      return text("{} found part of the memory of rank {} not mapped there", name, rank);
    case RMA_ERR_UNSUPPORTED:
      return text(
          "{} is not allowed to reach rank {}'s registered memory, and there are no messages between the "
          "ranks of this host: allocate it by rma_malloc, or let processes of one user trace each other "
          "(kernel.yama.ptrace_scope=0)",
          name, rank);
    default:
      return text("a transfer with rank {} by {} failed", rank, name);
  }
}

}  // namespace librma
