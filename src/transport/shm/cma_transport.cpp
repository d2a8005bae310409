#include "transport/shm/cma_transport.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace rma::transport {
namespace {

constexpr std::uint32_t kMaxGather = 64;
/// The kernel moves at most 2 GiB less a page in one call.
constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 30;

rma_status_t status_of(int error_number) {
  switch (error_number) {
    case ESRCH:
      return RMA_ERR_PEER_LOST;
    case EFAULT:
      return RMA_ERR_ADDRESS;
    case EPERM:
    case ENOSYS:
      return RMA_ERR_UNSUPPORTED;
    case ENOMEM:
      return RMA_ERR_NO_MEMORY;
    default:
      return RMA_ERR_SYSTEM;
  }
}

}  // namespace

CmaTransport::CmaTransport(int peers, bool allowed)
    : allowed_(allowed),
      limits_{.max_message = kMaxMessage,
              .max_gather = kMaxGather,
              .max_inline = 0,
              .max_outstanding = 0xffffffff,
              .atomics64 = false,
              .needs_registration = false,
              .ordered = true},
      card_(card_of(getpid())),
      processes_(static_cast<std::size_t>(peers)) {}

bool CmaTransport::available() {
  char from = 1;
  char to = 0;
  const iovec local = {.iov_base = &to, .iov_len = 1};
  const iovec remote = {.iov_base = &from, .iov_len = 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1 && to == 1;
}

std::vector<std::byte> CmaTransport::card_of(pid_t process) {
  std::vector<std::byte> card(sizeof process);
  std::memcpy(card.data(), &process, sizeof process);
  return card;
}

Result<Registration> CmaTransport::register_memory(std::byte* address, std::size_t bytes) {
  return Registration{
      .base = reinterpret_cast<std::uintptr_t>(address), .bytes = bytes, .local = 0, .remote = 0};
}

void CmaTransport::deregister_memory(const Registration& /*registration*/) {}

Status CmaTransport::connect(int peer, std::span<const std::byte> card) {
  pid_t process = 0;
  if (card.size() != sizeof process) {
    return {RMA_ERR_LAUNCH, fmt::format("the cma card of peer {} has {} bytes", peer, card.size())};
  }
  std::memcpy(&process, card.data(), sizeof process);
  // Relaxed: whoever posts has learnt in another way that this has returned.
  processes_[static_cast<std::size_t>(peer)].store(process, std::memory_order_relaxed);
  return {};
}

void CmaTransport::fail(int peer) {
  processes_[static_cast<std::size_t>(peer)].store(0, std::memory_order_relaxed);
}

rma_status_t CmaTransport::post(int peer, std::span<const Work> work, std::size_t* posted) {
  *posted = 0;
  for (const Work& one : work) {
    if (const rma_status_t status = move(peer, one); status != RMA_SUCCESS) return status;
    ++*posted;
  }
  return RMA_SUCCESS;
}

rma_status_t CmaTransport::move(int peer, const Work& work) {
  const auto [direction, remote, pieces, cookie, flags] = work;
  const pid_t process = processes_[static_cast<std::size_t>(peer)].load(std::memory_order_relaxed);
  if (!allowed_) return RMA_ERR_UNSUPPORTED;
  std::array<iovec, kMaxGather> local = {};
  if (pieces.size() > local.size()) return RMA_ERR_ARGUMENT;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    local[i] = {.iov_base = pieces[i].address, .iov_len = pieces[i].bytes};
    bytes += pieces[i].bytes;
  }
  if (bytes > kMaxMessage) return RMA_ERR_SIZE;
  const iovec there = {.iov_base = reinterpret_cast<void*>(remote.address), .iov_len = bytes};
  const auto call = direction == Direction::read ? process_vm_readv : process_vm_writev;
  const ssize_t moved = call(process, local.data(), pieces.size(), &there, 1, 0);
  rma_status_t status = RMA_SUCCESS;
  if (moved < 0) {
    status = status_of(errno);
  } else if (static_cast<std::size_t>(moved) != bytes) {
    status = RMA_ERR_ADDRESS;  // the kernel stops in front of the first page that is not mapped there
  }
  if (status == RMA_SUCCESS && flags.unsignalled) return RMA_SUCCESS;
  const std::lock_guard guard(lock_);
  completed_.push_back({.cookie = cookie, .peer = peer, .status = status, .bytes = 0});
  return RMA_SUCCESS;
}

rma_status_t CmaTransport::post_atomic(int /*peer*/, rma_atomic_op_t /*op*/, Remote /*target*/,
                                       std::uint64_t /*operand*/, std::uint64_t /*compare*/, Local /*old*/,
                                       Cookie /*cookie*/) {
  return RMA_ERR_UNSUPPORTED;
}

std::size_t CmaTransport::poll(std::span<Completion> completions) {
  const std::lock_guard guard(lock_);
  const std::size_t count = std::min(completions.size(), completed_.size());
  std::copy_n(completed_.begin(), count, completions.begin());
  completed_.erase(completed_.begin(), completed_.begin() + static_cast<std::ptrdiff_t>(count));
  return count;
}

bool CmaTransport::arm() {
  const std::lock_guard guard(lock_);
  return completed_.empty();
}

}  // namespace rma::transport
