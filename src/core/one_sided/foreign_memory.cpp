#include "core/one_sided/foreign_memory.hpp"

#include <algorithm>
#include <array>
#include <new>

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

rma_status_t ForeignMemory::post(Direction direction, rma_request_t operation, transport::Remote remote,
                                 const transport::Local& piece) try {
  const int rank = pending_.rank(operation);
  return direction == Direction::write ? transport_->post_write(rank, remote, {&piece, 1}, operation, {})
                                       : transport_->post_read(rank, {&piece, 1}, remote, operation, {});
} catch (const std::bad_alloc&) {
  return RMA_ERR_NO_MEMORY;  // the piece ends with this status, so no fence waits for it for ever
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
    // Counts the piece before posting it: another thread may see its completion before the post returns.
    pending_.begin(rank, operation);
    pending_.engine().wait_until(rank, [&] {  // waits for room in the queue
      status = post(direction, operation, remote, piece);
      return status != RMA_ERR_STATE;
    });
    if (status != RMA_SUCCESS) pending_.end(rank, operation, status);
    local.address += bytes;
    local.bytes -= bytes;
    remote.address += bytes;
  }
  pending_.end(rank, operation, status);
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
