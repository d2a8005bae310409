#include "twosided_compat/messages/send_buffer.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "rma/messages.h"
#include "twosided_compat/objects/library_failure.hpp"

namespace librma::mpi {
namespace {

/// Messages begin at a cache line. MPI_BSEND_OVERHEAD has room for that.
constexpr std::uintptr_t kAlignment = 64;
static_assert(kAlignment <= MPI_BSEND_OVERHEAD);

std::byte* aligned(std::byte* address) {
  const std::uintptr_t past = reinterpret_cast<std::uintptr_t>(address) % kAlignment;
  return past == 0 ? address : address + (kAlignment - past);
}

}  // namespace

SendBuffer::SendBuffer(void* memory, std::size_t bytes)
    : memory_(memory),
      bytes_(memory == MPI_BUFFER_AUTOMATIC ? 0 : bytes),
      behind_(static_cast<std::byte*>(memory)) {}

bool SendBuffer::is_free(std::byte* place, std::size_t bytes) const {
  const std::byte* const end = static_cast<std::byte*>(memory_) + bytes_;
  if (bytes > static_cast<std::size_t>(end - place)) return false;
  const auto next = taken_.lower_bound(place);
  if (next != taken_.end() && next->first < place + bytes) return false;
  return next == taken_.begin() || std::prev(next)->second <= place;
}

std::byte* SendBuffer::find_place(std::size_t bytes) const {
  auto* const beginning = static_cast<std::byte*>(memory_);
  // An empty buffer has room for as many messages as fit one behind the other, wherever the last one lay.
  if (!taken_.empty() && is_free(behind_, bytes)) return behind_;
  if (is_free(beginning, bytes)) return beginning;
  for (const auto& [begin, end] : taken_) {
    if (is_free(end, bytes)) return end;
  }
  return nullptr;
}

SendBuffer::Pendings::iterator SendBuffer::end(Pendings::iterator message, rma_status_t status) {
  if (status != RMA_SUCCESS) failed_ = checked(status);
  taken_.erase(message->second.place);
  return pending_.erase(message);
}

void SendBuffer::sweep(bool all) {
  for (auto message = pending_.begin(); message != pending_.end();) {
    int done = 0;
    rma_status_t status = RMA_SUCCESS;
    if (!message->second.awaited) status = rma_test(&message->second.request, &done);
    if (done != 0) {
      message = end(message, status);
    } else if (all) {
      ++message;
    } else {
      return;
    }
  }
}

int SendBuffer::send(const Send& message, int dest, int tag) {
  const std::size_t bytes = message.buffer.bytes;
  const std::lock_guard guard(lock_);
  sweep(false);
  Pending pending;
  std::byte* data = nullptr;
  if (is_automatic()) {
    pending.own = std::make_unique_for_overwrite<std::byte[]>(bytes);
    data = pending.own.get();
  } else {
    const std::size_t needed = bytes + MPI_BSEND_OVERHEAD;
    const bool fits = bytes <= bytes_ && needed <= bytes_;
    if (fits) pending.place = find_place(needed);
    if (fits && pending.place == nullptr) {
      sweep(true);
      pending.place = find_place(needed);
    }
    if (pending.place == nullptr) {
      return failure(
          MPI_ERR_BUFFER,
          fmt::format("the attached buffer of {} bytes, with {} messages in it, has no room for {} bytes and "
                      "the {} of MPI_BSEND_OVERHEAD",
                      bytes_, pending_.size(), bytes, MPI_BSEND_OVERHEAD));
    }
    data = aligned(pending.place);
  }
  pack(message.buffer, data);
  // Under the lock, so that messages of one thread are sent in their order and no flush misses this one.
  if (const rma_status_t status = rma_send_nb(data, bytes, message.comm->world_rank(dest), tag,
                                              message.comm->context(), &pending.request);
      status != RMA_SUCCESS) {
    return checked(status);
  }
  if (pending.place != nullptr) {
    behind_ = pending.place + bytes + MPI_BSEND_OVERHEAD;
    taken_.emplace(pending.place, behind_);
  }
  pending_.emplace(++newest_, std::move(pending));
  sweep(false);  // a short message is mostly sent already
  return MPI_SUCCESS;
}

int SendBuffer::flush() {
  std::unique_lock guard(lock_);
  const std::uint64_t last = newest_;
  while (!pending_.empty() && pending_.begin()->first <= last) {
    auto message = pending_.begin();
    while (message != pending_.end() && message->second.awaited) ++message;
    if (message == pending_.end() || message->first > last) {
      ended_.wait(guard);  // other threads wait for all that are left
      continue;
    }
    message->second.awaited = true;
    rma_request_t request = message->second.request;
    guard.unlock();
    const rma_status_t status = rma_wait(&request);
    guard.lock();
    end(message, status);
    ended_.notify_all();
  }
  return std::exchange(failed_, MPI_SUCCESS);
}

std::uint64_t SendBuffer::newest() const {
  const std::lock_guard guard(lock_);
  return newest_;
}

bool SendBuffer::is_sent(std::uint64_t number) {
  const std::lock_guard guard(lock_);
  sweep(true);
  return pending_.empty() || pending_.begin()->first > number;
}

}  // namespace librma::mpi
