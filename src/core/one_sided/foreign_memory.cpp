#include "core/one_sided/foreign_memory.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "util/text.hpp"

namespace rma {

using transport::Direction;

ForeignMemory::ForeignMemory(PendingOperations& pending, std::unique_ptr<transport::Transport> transport,
                             int ranks, CardSource cards)
    : pending_(pending),
      transport_(std::move(transport)),
      cards_(std::move(cards)),
      owners_(static_cast<std::size_t>(ranks)) {}

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

void ForeignBatch::add(Direction direction, transport::Remote remote, const transport::Local& local) {
  if (empty()) {
    work_.clear();
    locals_.clear();
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

}  // namespace rma
