// The holder of a mutex is lost while ranks of other hosts wait for it.

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "atomics/remote_mutexes.hpp"
#include "util/bytes_of.hpp"
#include "util/text.hpp"

namespace librma {

Answer RemoteMutexes::serve_holder(const Served& request) {
  MutexRequest wanted;
  HolderAnswer answer;
  if (!read_request(request, wanted, sizeof answer)) return {.status = RMA_ERR_ARGUMENT};
  const std::lock_guard guard(lock_);
  TicketMutex* const mutex = find(wanted.address);
  if (mutex == nullptr) return {.status = RMA_ERR_ADDRESS};
  serve_next(*mutex);  // in place of a rank of this host that has ended between
                       // its unlock and its poke
  // The order of the loads does not matter: the asker acts only if both are the same at its request `leave`.
  answer.serving = mutex->serving.load(std::memory_order_relaxed);
  answer.holder = mutex->holder.load(std::memory_order_relaxed);
  const bool unreachable = answer.holder != 0 && lost_.contains(TicketMutex::rank_of(answer.holder));
  answer.ended = unreachable || ended_(answer.holder) ? 1 : 0;
  std::memcpy(request.room.data(), &answer, sizeof answer);
  return {.bytes = sizeof answer};
}

Answer RemoteMutexes::serve_leave(const Served& request) {
  LeaveRequest wanted;
  LeaveAnswer answer;
  if (!read_request(request, wanted, sizeof answer)) return {.status = RMA_ERR_ARGUMENT};
  const std::lock_guard guard(lock_);
  TicketMutex* const mutex = find(wanted.mutex.address);
  if (mutex == nullptr) return {.status = RMA_ERR_ADDRESS};
  if (channel_.local(request.asker.rank)) {
    take_over(*mutex, {.ticket = wanted.ticket, .rank = request.asker.rank, .left = true});
    answer.left = 1;
  } else if (mutex->serving.load(std::memory_order_relaxed) == wanted.serving &&
             mutex->holder.load(std::memory_order_relaxed) == wanted.holder) {
    // If the ticket is not there, the rank holds the mutex, and *locked* is on its way.
    const auto found = waiting_.find(mutex);
    if (found != waiting_.end()) {
      const auto waiter = std::ranges::find(found->second, wanted.ticket, &Waiter::ticket);
      if (waiter != found->second.end() && waiter->rank == request.asker.rank) {
        waiter->left = true;
        answer.left = 1;
      }
    }
  }
  std::memcpy(request.room.data(), &answer, sizeof answer);
  return {.bytes = sizeof answer};
}

void RemoteMutexes::take_over(TicketMutex& mutex, const Waiter& waiter) {
  std::deque<Waiter>& waiting = waiting_[&mutex];
  // Tickets may wrap around, so their distance decides.
  const auto behind = std::ranges::find_if(waiting, [&](const Waiter& other) {
    return static_cast<std::int32_t>(other.ticket - waiter.ticket) > 0;
  });
  waiting.insert(behind, waiter);
  // As in serve_lock(): an unlock sees the waiter, or serve_next() sees that its turn has come.
  mutex.remote.fetch_add(1, std::memory_order_seq_cst);
  serve_next(mutex);
}

Status RemoteMutexes::leave(std::uintptr_t address, int rank, std::uint32_t ticket) {
  if (rank == rank_) {
    const std::lock_guard guard(lock_);
    if (TicketMutex* const mutex = find(address); mutex != nullptr) {
      take_over(*mutex, {.ticket = ticket, .rank = rank_, .left = true});
    }
    return {};
  }
  LeaveAnswer answer;
  const LeaveRequest request = {.mutex = {.address = address, .who = me()}, .ticket = ticket};
  return ask(RequestKind::leave, rank, bytes_of(request), writable_bytes_of(answer));
}

Status RemoteMutexes::look_at_holder(Wait& mine) {
  HolderAnswer now;
  // A waiter that cannot ask now stays in line, and looks again later.
  const auto unless_lost = [](Status status) {
    return status.code() == RMA_ERR_PEER_LOST ? std::move(status) : Status();
  };
  if (Status status = ask(RequestKind::holder, mine.rank, bytes_of(mine.request), writable_bytes_of(now));
      !status.ok()) {
    return unless_lost(std::move(status));
  }
  const HolderAnswer before = std::exchange(mine.seen, now);
  Status lost;
  if (now.holder == 0) {
    // The process whose turn it is may be about to store itself. It has ended if it has not done so until the
    // next look.
    if (now.ended != 0 && before.ended != 0 && before.holder == 0 && before.serving == now.serving)
      lost = {RMA_ERR_PEER_LOST, "it is the turn of a process that has ended"};
  } else if (const int holder = TicketMutex::rank_of(now.holder); now.ended != 0) {
    lost = {RMA_ERR_PEER_LOST, text("rank {}, which holds it, has ended or cannot be reached", holder)};
  } else if (holder != rank_ && holder >= 0 && holder < ranks_) {
    lost = look_after(holder).within(text("rank {} holds it", holder));
  }
  if (lost.code() != RMA_ERR_PEER_LOST) return {};
  LeaveAnswer answer;
  const LeaveRequest request = {
      .mutex = mine.request, .holder = now.holder, .serving = now.serving, .ticket = mine.ticket};
  if (Status status = ask(RequestKind::leave, mine.rank, bytes_of(request), writable_bytes_of(answer));
      !status.ok()) {
    return unless_lost(std::move(status));
  }
  return answer.left != 0 ? std::move(lost) : Status();
}

}  // namespace librma
