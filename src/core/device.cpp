#include "core/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "util/wait.hpp"

namespace rma {
Device::Device(std::unique_ptr<transport::Transport> transport, int ranks, CardSource cards)
    : transport_(std::move(transport)), cards_(std::move(cards)), peers_(static_cast<std::size_t>(ranks)) {}

rma_status_t Device::connect(int rank) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  if (peer.connected.load(std::memory_order_acquire)) return RMA_SUCCESS;  // pairs with the store below
  const std::lock_guard guard(peer.connect_lock);
  if (peer.connected.load(std::memory_order_relaxed)) return RMA_SUCCESS;
  const auto card = cards_(rank);
  if (!card.ok()) return card.status().code();
  const Status status = transport_->connect(rank, card.value());
  if (status.ok()) peer.connected.store(true, std::memory_order_release);
  return status.code();
}

void Device::transfer(Direction direction, rma_request_t operation, transport::Remote remote,
                      transport::Local local) {
  const int rank = requests_.rank(operation);
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  // Counts as outstanding itself, so that a fence that begins now waits for all its pieces.
  peer.outstanding.fetch_add(1, std::memory_order_seq_cst);
  note_unfenced(rank);
  rma_status_t status = connect(rank);
  if (status != RMA_SUCCESS) {
    requests_.add_part(operation);
    requests_.finish_part(operation, status);
  }
  while (status == RMA_SUCCESS && local.bytes > 0) {
    const std::size_t bytes = std::min<std::uint64_t>(local.bytes, transport_->limits().max_message);
    const transport::Local piece = {local.address, bytes, local.key};
    // Counted before it is posted: its completion may be seen by another thread before the post returns.
    requests_.add_part(operation);
    peer.outstanding.fetch_add(1, std::memory_order_relaxed);
    do {
      status = direction == Direction::write
                   ? transport_->post_write(rank, remote, {&piece, 1}, operation, {})
                   : transport_->post_read(rank, {&piece, 1}, remote, operation, {});
      if (status == RMA_ERR_STATE) progress();  // the queue is full; completions make room
    } while (status == RMA_ERR_STATE);
    if (status != RMA_SUCCESS) {
      ended({.cookie = operation, .peer = rank, .status = status, .bytes = 0});
      break;
    }
    local.address += bytes;
    local.bytes -= bytes;
    remote.address += bytes;
  }
  peer.outstanding.fetch_sub(1, std::memory_order_release);
}

void Device::write(rma_request_t operation, transport::Remote to, transport::Local from) {
  transfer(Direction::write, operation, to, from);
}

void Device::read(rma_request_t operation, transport::Local to, transport::Remote from) {
  transfer(Direction::read, operation, from, to);
}

void Device::progress() {
  const std::unique_lock guard(poll_lock_, std::try_to_lock);
  if (!guard.owns_lock()) {
    pause_processor();
    return;
  }
  std::array<transport::Completion, 32> completions;
  const std::size_t found = transport_->poll(completions);
  for (std::size_t i = 0; i < found; ++i) ended(completions[i]);
}

void Device::ended(const transport::Completion& completion) {
  const rma_request_t operation = completion.cookie;
  Peer& peer = peers_[static_cast<std::size_t>(completion.peer)];
  if (requests_.finish_part(operation, completion.status) == RequestTable::End::left) close_left(operation);
  // After the operation is closed, with release: a fence that sees 0 sees its failure.
  peer.outstanding.fetch_sub(1, std::memory_order_release);
}

void Device::close_left(rma_request_t operation) {
  const int rank = requests_.rank(operation);
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  const rma_status_t status = requests_.close(operation);
  rma_status_t none = RMA_SUCCESS;  // the first failure stays
  if (status == RMA_SUCCESS) return;
  peer.failure.compare_exchange_strong(none, status, std::memory_order_seq_cst);
  note_unfenced(rank);  // a fence may have passed already, where nothing was outstanding
}

void Device::leave(rma_request_t operation) {
  requests_.leave(operation);
  if (requests_.finish_part(operation, RMA_SUCCESS) == RequestTable::End::left) close_left(operation);
}

bool Device::test(rma_request_t request) {
  if (requests_.complete(request)) return true;
  progress();
  return requests_.complete(request);
}

Status Device::wait(rma_request_t request) {
  while (!requests_.complete(request)) progress();
  const int rank = requests_.rank(request);
  return failure(requests_.close(request), rank);
}

Status Device::finish(rma_request_t operation) {
  detach(operation);
  return wait(operation);
}

Status Device::fence(int rank) {
  Peer& peer = peers_[static_cast<std::size_t>(rank)];
  // Pairs with the fetch_sub of who ends something; seq_cst for note_unfenced.
  while (peer.outstanding.load(std::memory_order_seq_cst) != 0) progress();
  // Looked at before it is taken: an exchange would cost every fence as much as the rest of it.
  if (peer.failure.load(std::memory_order_seq_cst) == RMA_SUCCESS) return {};
  return failure(peer.failure.exchange(RMA_SUCCESS, std::memory_order_seq_cst), rank);
}

void Device::note_unfenced(int rank) {
  // The caller has counted itself in `outstanding`, or recorded its failure, before it looks at the flag;
  // fence_all clears the flag before it looks at those. All in one order (seq_cst), so that one of the two
  // sees the other.
  std::atomic<bool>& listed = peers_[static_cast<std::size_t>(rank)].unfenced;
  if (listed.load(std::memory_order_seq_cst)) return;
  const std::lock_guard guard(unfenced_lock_);
  if (listed.load(std::memory_order_relaxed)) return;
  unfenced_.push_back(rank);
  any_unfenced_.store(true, std::memory_order_relaxed);
  listed.store(true, std::memory_order_seq_cst);  // last: who finds it set finds any_unfenced_ set
}

Status Device::fence_all() {
  // Cleared by the end of a fence_all only, so that nobody passes while another thread still waits.
  if (!any_unfenced_.load(std::memory_order_acquire)) return {};  // pairs with the store below
  const std::lock_guard one_at_a_time(fence_all_lock_);
  std::vector<int> ranks;
  {
    const std::lock_guard guard(unfenced_lock_);
    ranks.swap(unfenced_);
    for (const int rank : ranks) {
      peers_[static_cast<std::size_t>(rank)].unfenced.store(false, std::memory_order_seq_cst);
    }
  }
  Status first;
  for (const int rank : ranks) {
    Status status = fence(rank);
    if (first.ok()) first = std::move(status);
  }
  const std::lock_guard guard(unfenced_lock_);
  if (unfenced_.empty()) any_unfenced_.store(false, std::memory_order_release);
  return first;
}

Status Device::failure(rma_status_t code, int rank) const {
  switch (code) {
    case RMA_SUCCESS:
      return {};
    case RMA_ERR_PEER_LOST:
      return {code, fmt::format("rank {} is gone or unreachable by {}", rank, name())};
    case RMA_ERR_ADDRESS:
      return {code, fmt::format("{} found part of the memory of rank {} not mapped there", name(), rank)};
    case RMA_ERR_UNSUPPORTED:
      return {
          code,
          fmt::format("{} is not allowed to reach rank {}'s registered memory: allocate it by rma_malloc, or "
                      "let processes of one user trace each other (kernel.yama.ptrace_scope=0)",
                      name(), rank)};
    default:
      return {code, fmt::format("a transfer with rank {} by {} failed", rank, name())};
  }
}

}  // namespace rma
