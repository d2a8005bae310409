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
#include "util/system/interruptions.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma::transport {
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

std::size_t bytes_of(const Work& work) {
  std::size_t bytes = 0;
  for (const Local& piece : work.pieces) bytes += piece.bytes;
  return bytes;
}

/// Returns whether a work request keeps to the limits.
rma_status_t check(const Work& work) {
  if (work.pieces.size() > kMaxGather) return RMA_ERR_ARGUMENT;
  return bytes_of(work) > kMaxMessage ? RMA_ERR_SIZE : RMA_SUCCESS;
}

}  // namespace

CmaTransport::CmaTransport(int peers, bool allowed)
    : allowed_(allowed),
      limits_{.max_message = kMaxMessage,
              .max_gather = kMaxGather,
              .max_inline = 0,
              .max_outstanding = 0xffffffff,
              .atomics64 = false,
              .completes_at_once = true},
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

bool CmaTransport::runs(const Process& process) { return process.end < 0 || !has_ended(process.end); }

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
  {
    const std::lock_guard guard(lock_);
    completed_.promise(work.size());  // throws before anything has moved
  }
  const Undo rest([&] {
    const std::lock_guard guard(lock_);
    completed_.withdraw(work.size() - *posted);
  });
  Process& process = processes_[static_cast<std::size_t>(peer)];
  IovecPair memory;
  while (*posted < work.size()) {
    const std::span<const Work> left = work.subspan(*posted);
    const Direction direction = left.front().direction;
    RMA_TRY(check(left.front()));
    memory.clear();
    std::size_t count = 0;
    while (count < left.size() && left[count].direction == direction && check(left[count]) == RMA_SUCCESS &&
           memory.add(left[count], kMaxMessage)) {
      ++count;
    }
    std::size_t moved = 0;
    rma_status_t status = transfer(process, direction, memory, &moved);
    std::size_t whole = 0;  // the kernel copies in order
    while (whole < count && bytes_of(left[whole]) <= moved) moved -= bytes_of(left[whole++]);
    if (status == RMA_SUCCESS) whole = count;
    if (whole == 0 && count > 1) {
      // The failure may be that of a later one. The first has its own if it goes alone.
      memory.clear();
      static_cast<void>(memory.add(left.front(), kMaxMessage));
      status = transfer(process, direction, memory, &moved);
    }
    if (whole == 0 && status == RMA_ERR_UNSUPPORTED) return status;
    complete(peer, left.first(std::max<std::size_t>(whole, 1)), whole == 0 ? status : RMA_SUCCESS);
    *posted += std::max<std::size_t>(whole, 1);
  }
  return RMA_SUCCESS;
}

rma_status_t CmaTransport::transfer(Process& process, Direction direction, IovecPair& memory,
                                    std::size_t* moved) {
  *moved = 0;
  // Pairs with the store in connect().
  if (!process.connected.load(std::memory_order_acquire)) return RMA_ERR_PEER_LOST;
  if (!process.permitted) return RMA_ERR_UNSUPPORTED;
  const bool read = direction == Direction::read;
  const auto call = read ? process_vm_readv : process_vm_writev;
  while (memory.bytes() != 0) {
    if (!read && !keeps_number(process)) return RMA_ERR_PEER_LOST;
    const std::span<const iovec> local = memory.local();
    const std::span<const iovec> remote = memory.remote();
    const ssize_t found = uninterrupted(
        [&] { return call(process.number, local.data(), local.size(), remote.data(), remote.size(), 0); });
    const int error = errno;
    // A failure may also come from another process that has got the peer's number.
    const bool whole = found >= 0 && static_cast<std::size_t>(found) == memory.bytes();
    if (!whole && !runs(process)) return RMA_ERR_PEER_LOST;
    if (read && !keeps_number(process)) return RMA_ERR_PEER_LOST;
    if (found < 0) return status_of(error);
    // The kernel stops before the first page that is not mapped in the peer. The next call says why.
    if (found == 0) return RMA_ERR_ADDRESS;
    memory.skip(static_cast<std::size_t>(found));
    *moved += static_cast<std::size_t>(found);
  }
  return RMA_SUCCESS;
}

void CmaTransport::complete(int peer, std::span<const Work> work, rma_status_t status) {
  const std::lock_guard guard(lock_);
  for (const Work& this_work : work) {
    if (status == RMA_SUCCESS && this_work.flags.unsignaled) {
      completed_.withdraw(1);
    } else {
      completed_.add({.cookie = this_work.cookie, .peer = peer, .status = status, .bytes = 0});
      any_completed_.store(true, std::memory_order_seq_cst);  // seen by polls from here on, as with the lock
    }
  }
}

bool CmaTransport::Pieces::add(std::uintptr_t address, std::span<std::byte> local) {
  while (!local.empty() && status_ == RMA_SUCCESS) {
    const std::size_t added = memory_.add_front(local, address, kMaxMessage);
    if (added == 0) static_cast<void>(move());
    local = local.subspan(added);
    address += added;
  }
  return status_ == RMA_SUCCESS;
}

rma_status_t CmaTransport::Pieces::move() {
  std::size_t moved = 0;
  if (status_ == RMA_SUCCESS) status_ = transfer(process_, direction_, memory_, &moved);
  memory_.clear();
  return status_;
}

rma_status_t CmaTransport::post_atomic(int /*peer*/, rma_atomic_op_t /*op*/, Remote /*target*/,
                                       std::uint64_t /*operand*/, std::uint64_t /*compare*/, Local /*old*/,
                                       Cookie /*cookie*/) {
  return RMA_ERR_UNSUPPORTED;
}

std::size_t CmaTransport::poll(std::span<Completion> completions) {
  if (!any_completed_.load(std::memory_order_seq_cst)) return 0;
  const std::lock_guard guard(lock_);
  const std::size_t taken = completed_.take(completions);
  any_completed_.store(completed_.size() != 0, std::memory_order_relaxed);  // the lock orders it
  return taken;
}

bool CmaTransport::arm() {
  const std::lock_guard guard(lock_);
  return completed_.size() == 0;
}

}  // namespace librma::transport
