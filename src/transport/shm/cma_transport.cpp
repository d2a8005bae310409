#include "transport/shm/cma_transport.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "transport/shm/wakeup.hpp"
#include "util/interruptions.hpp"

namespace rma::transport {
namespace {

constexpr std::uint32_t kMaxGather = 64;
/// The kernel copies at most 2 GiB minus a page in one call.
constexpr std::uint64_t kMaxMessage = std::uint64_t{1} << 30;

Status connected_status(int peer, bool permitted) {
  if (permitted) return {};
  return {RMA_ERR_UNSUPPORTED, fmt::format("this process may not access the memory of peer {}", peer)};
}

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
              .atomics64 = false},
      card_(card_of({.process = getpid(), .files = {}, .connection = {}})),
      processes_(static_cast<std::size_t>(peers)) {}

bool CmaTransport::available() {
  char from = 1;
  char to = 0;
  const iovec local = {.iov_base = &to, .iov_len = 1};
  const iovec remote = {.iov_base = &from, .iov_len = 1};
  return uninterrupted([&] { return process_vm_readv(getpid(), &local, 1, &remote, 1, 0); }) == 1 && to == 1;
}

std::vector<std::byte> CmaTransport::card_of(const HostPeer& process) {
  const std::array<int, 2> words = {process.process, process.end()};
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

Result<Registration> CmaTransport::register_memory(std::byte* address, std::size_t bytes) {
  return Registration{
      .base = reinterpret_cast<std::uintptr_t>(address), .bytes = bytes, .local = 0, .remote = 0};
}

void CmaTransport::deregister_memory(const Registration& /*registration*/) {}

Status CmaTransport::connect(int peer, std::span<const std::byte> card) {
  std::array<int, 2> words = {};
  if (card.size() != sizeof words) {
    return {RMA_ERR_LAUNCH, fmt::format("the cma card of peer {} has {} bytes", peer, card.size())};
  }
  std::memcpy(words.data(), card.data(), sizeof words);
  const auto [number, end] = words;
  Process& process = processes_[static_cast<std::size_t>(peer)];
  const std::lock_guard guard(lock_);
  if (process.connected.load(std::memory_order_relaxed) && process.number == number && process.end == end) {
    return connected_status(peer, process.permitted);
  }
  process.number = number;
  process.end = end;
  process.permitted = permitted(number);
  // The number was the peer's when the two processes met. If the peer still runs, it still is.
  if (!runs(process)) return {RMA_ERR_PEER_LOST, fmt::format("peer {} has ended", peer)};
  process.connected.store(true, std::memory_order_release);  // pairs with the load in transfer()
  return connected_status(peer, process.permitted);
}

bool CmaTransport::permitted(pid_t process) const {
  if (!allowed_ || process <= 0) return false;
  // Nothing is mapped at address 0. The kernel checks the permission before the address.
  std::byte byte = {};
  const iovec here = {.iov_base = &byte, .iov_len = sizeof byte};
  const iovec there = {.iov_base = nullptr, .iov_len = sizeof byte};
  return uninterrupted([&] { return process_vm_readv(process, &here, 1, &there, 1, 0); }) >= 0 ||
         status_of(errno) != RMA_ERR_UNSUPPORTED;
}

void CmaTransport::fail(int peer) {
  processes_[static_cast<std::size_t>(peer)].connected.store(false, std::memory_order_relaxed);
}

bool CmaTransport::runs(const Process& process) {
  return process.end < 0 || !has_ended(process.end);
}

bool CmaTransport::keeps_number(Process& process) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t tick = now.tv_sec * kSecond + now.tv_nsec;
  if (process.ran.load(std::memory_order_relaxed) == tick) return true;
  if (!runs(process)) return false;
  process.ran.store(tick, std::memory_order_relaxed);
  return true;
}

rma_status_t CmaTransport::post(int peer, std::span<const Work> work, std::size_t* posted) {
  *posted = 0;
  for (const Work& one : work) {
    if (const rma_status_t status = move(peer, one); status != RMA_SUCCESS) return status;
    ++*posted;
  }
  return RMA_SUCCESS;
}

rma_status_t CmaTransport::transfer(Process& process, Direction direction, std::span<const iovec> local,
                                    const iovec& there) {
  // Pairs with the store in connect().
  if (!process.connected.load(std::memory_order_acquire)) return RMA_ERR_PEER_LOST;
  if (!process.permitted) return RMA_ERR_UNSUPPORTED;
  const bool read = direction == Direction::read;
  if (!read && !keeps_number(process)) return RMA_ERR_PEER_LOST;
  const auto call = read ? process_vm_readv : process_vm_writev;
  const ssize_t moved = call(process.number, local.data(), local.size(), &there, 1, 0);
  const int error = errno;
  // A failure may also come from another process that has got the peer's number.
  const bool whole = moved >= 0 && static_cast<std::size_t>(moved) == there.iov_len;
  if (!whole && !runs(process)) return RMA_ERR_PEER_LOST;
  if (read && !keeps_number(process)) return RMA_ERR_PEER_LOST;
  if (moved < 0) return status_of(error);
  // The kernel stops before the first page that is not mapped in the peer.
  return whole ? RMA_SUCCESS : RMA_ERR_ADDRESS;
}

rma_status_t CmaTransport::move(int peer, const Work& work) {
  const auto [direction, remote, pieces, cookie, flags] = work;
  std::array<iovec, kMaxGather> local = {};
  if (pieces.size() > local.size()) return RMA_ERR_ARGUMENT;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    local[i] = {.iov_base = pieces[i].address, .iov_len = pieces[i].bytes};
    bytes += pieces[i].bytes;
  }
  if (bytes > kMaxMessage) return RMA_ERR_SIZE;
  const iovec there = {.iov_base = reinterpret_cast<void*>(remote.address), .iov_len = bytes};
  const rma_status_t status =
      transfer(processes_[static_cast<std::size_t>(peer)], direction, {local.data(), pieces.size()}, there);
  if (status == RMA_ERR_UNSUPPORTED) return status;
  if (status == RMA_SUCCESS && flags.unsignaled) return RMA_SUCCESS;
  const std::lock_guard guard(lock_);
  completed_.push_back({.cookie = cookie, .peer = peer, .status = status, .bytes = 0});
  return RMA_SUCCESS;
}

rma_status_t CmaTransport::read(int peer, std::uintptr_t address, std::span<std::byte> into) {
  return move_all(peer, Direction::read, address, into);
}

rma_status_t CmaTransport::write(int peer, std::uintptr_t address, std::span<const std::byte> from) {
  // The cast is safe: the kernel only reads the memory.
  return move_all(peer, Direction::write, address, {const_cast<std::byte*>(from.data()), from.size()});
}

rma_status_t CmaTransport::move_all(int peer, Direction direction, std::uintptr_t address,
                                    std::span<std::byte> local) {
  Process& process = processes_[static_cast<std::size_t>(peer)];
  while (!local.empty()) {
    const std::size_t bytes = std::min<std::size_t>(local.size(), kMaxMessage);
    const iovec here = {.iov_base = local.data(), .iov_len = bytes};
    const iovec there = {.iov_base = reinterpret_cast<void*>(address), .iov_len = bytes};
    const rma_status_t status = transfer(process, direction, {&here, 1}, there);
    if (status != RMA_SUCCESS) return status;
    local = local.subspan(bytes);
    address += bytes;
  }
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
