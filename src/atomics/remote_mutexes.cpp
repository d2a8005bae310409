#include "atomics/remote_mutexes.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "util/bytes_of.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {

RemoteMutexes::RemoteMutexes(int rank, int ranks, const Settings& settings, PendingOperations& pending,
                             Network& network, Channel& channel, RpcClient& client, RpcServer& server,
                             Ended ended)
    : rank_(rank),
      ranks_(ranks),
      patience_(std::chrono::seconds(settings.peer_timeout)),
      pending_(pending),
      network_(network),
      channel_(channel),
      client_(client),
      ended_(std::move(ended)) {
  server.serve(RequestKind::lock, [this](const Served& request) { return serve_lock(request); });
  server.serve(RequestKind::unlock, [this](const Served& request) { return serve_unlock(request); });
  server.serve(RequestKind::poke, [this](const Served& request) { return serve_poke(request); });
  server.serve(RequestKind::holder, [this](const Served& request) { return serve_holder(request); });
  server.serve(RequestKind::leave, [this](const Served& request) { return serve_leave(request); });
  channel.on_message(kLockedMessage, [this](const Message& message) { return locked(message); });
  channel.on_loss([this](int lost_rank) { lost(lost_rank); });
}

void RemoteMutexes::add(TicketMutex* mutexes, std::size_t count) {
  const std::lock_guard guard(lock_);
  own_[reinterpret_cast<std::uintptr_t>(mutexes)] = count;
}

void RemoteMutexes::remove(TicketMutex* mutexes) {
  const std::lock_guard guard(lock_);
  const auto found = own_.find(reinterpret_cast<std::uintptr_t>(mutexes));
  if (found == own_.end()) return;
  // Only lost ranks can still be waiting here, and tickets that were left. The memory is reused, so they must
  // not be served any more.
  waiting_.erase(waiting_.lower_bound(mutexes), waiting_.lower_bound(mutexes + found->second));
  own_.erase(found);
}

TicketMutex* RemoteMutexes::find(std::uintptr_t address) const {
  auto next = own_.upper_bound(address);
  if (next == own_.begin()) return nullptr;
  --next;
  const std::uintptr_t offset = address - next->first;
  if (offset % sizeof(TicketMutex) != 0 || offset / sizeof(TicketMutex) >= next->second) return nullptr;
  return reinterpret_cast<TicketMutex*>(address);  // NOLINT(performance-no-int-to-ptr): of this process
}

Answer RemoteMutexes::serve_lock(const Served& request) {
  MutexRequest wanted;
  if (!read_request(request, wanted, sizeof(LockAnswer))) return {.status = RMA_ERR_ARGUMENT};
  const std::lock_guard guard(lock_);
  TicketMutex* const mutex = find(wanted.address);
  if (mutex == nullptr) return {.status = RMA_ERR_ADDRESS};
  LockAnswer answer;
  const std::uint32_t ticket = mutex->next.fetch_add(1, std::memory_order_relaxed);
  answer.ticket = ticket;
  // This thread counts the waiter first and then reads `serving`. unlock() first advances `serving` and then
  // reads `remote`. All four steps are sequentially consistent, so one of the two sees the other.
  mutex->remote.fetch_add(1, std::memory_order_seq_cst);
  if (mutex->serving.load(std::memory_order_seq_cst) == ticket) {
    mutex->remote.fetch_sub(1, std::memory_order_relaxed);
    mutex->holder.store(wanted.who, std::memory_order_relaxed);
    answer.granted = 1;
  } else {
    waiting_[mutex].push_back({.ticket = ticket,
                               .rank = request.asker.rank,
                               .rail = request.asker.rail,
                               .id = wanted.id,
                               .who = wanted.who});
  }
  std::memcpy(request.room.data(), &answer, sizeof answer);
  return {.bytes = sizeof answer};
}

void RemoteMutexes::serve_next(TicketMutex& mutex) {
  const auto found = waiting_.find(&mutex);
  if (found == waiting_.end()) return;
  std::deque<Waiter>& waiting = found->second;
  while (!waiting.empty() && waiting.front().ticket == mutex.serving.load(std::memory_order_seq_cst)) {
    const Waiter next = waiting.front();
    waiting.pop_front();
    mutex.remote.fetch_sub(1, std::memory_order_relaxed);
    if (next.left || lost_.contains(next.rank)) {
      mutex.unlock();  // on behalf of a rank that is lost, or waits no more
      continue;
    }
    mutex.holder.store(next.who, std::memory_order_relaxed);
    channel_.send(next.rank, next.rail, kLockedMessage, bytes_of(LockedMessage{.id = next.id}), {});
  }
  if (waiting.empty()) waiting_.erase(found);
}

Answer RemoteMutexes::serve_unlock(const Served& request) {
  MutexRequest wanted;
  if (!read_request(request, wanted, 0)) return {.status = RMA_ERR_ARGUMENT};
  const std::lock_guard guard(lock_);
  TicketMutex* const mutex = find(wanted.address);
  if (mutex == nullptr) return {.status = RMA_ERR_ADDRESS};
  if (mutex->holder.load(std::memory_order_relaxed) != wanted.who) return {.status = RMA_ERR_STATE};
  mutex->unlock();
  serve_next(*mutex);
  return {};
}

Answer RemoteMutexes::serve_poke(const Served& request) {
  MutexRequest wanted;
  if (!read_request(request, wanted, 0)) return {.status = RMA_ERR_ARGUMENT};
  const std::lock_guard guard(lock_);
  TicketMutex* const mutex = find(wanted.address);
  if (mutex == nullptr) return {.status = RMA_ERR_ADDRESS};
  serve_next(*mutex);
  return {};
}

bool RemoteMutexes::locked(const Message& message) {
  LockedMessage told;
  if (message.body.size() != sizeof told) return false;
  std::memcpy(&told, message.body.data(), sizeof told);
  const std::lock_guard guard(lock_);
  const auto found = mine_.find(told.id);
  if (found == mine_.end() || found->second->rank != message.peer) return false;
  // Release: a thread that sees this also sees the effects of the last holder before its unlock.
  found->second->over.store(true, std::memory_order_release);
  pending_.heard_of(message.peer);
  return true;
}

void RemoteMutexes::lost(int rank) {
  const std::lock_guard guard(lock_);
  lost_.insert(rank);
  for (const auto& [id, wait] : mine_) {
    if (wait->rank != rank) continue;
    wait->status.store(RMA_ERR_PEER_LOST, std::memory_order_relaxed);
    wait->over.store(true, std::memory_order_release);
  }
  std::vector<TicketMutex*> all;
  for (const auto& [mutex, waiting] : waiting_) all.push_back(mutex);
  for (TicketMutex* const mutex : all) serve_next(*mutex);
}

Status RemoteMutexes::ask(RequestKind kind, int rank, std::span<const std::byte> body,
                          std::span<std::byte> answer) {
  const rma_request_t operation = pending_.open(rank);
  if (operation == RMA_REQUEST_NULL) return PendingOperations::too_many();
  Status asked = client_.ask(
      {.rank = rank,
       .kind = kind,
       .head = body,
       .reply_room = answer.size(),
       .operation = operation,
       .answered = [answer](rma_status_t status, std::span<const std::byte> came) -> rma_status_t {
         if (status != RMA_SUCCESS || answer.empty()) return status;
         if (came.size() != answer.size()) return RMA_ERR_SIZE;
         std::memcpy(answer.data(), came.data(), answer.size());
         return RMA_SUCCESS;
       }});
  Status finished = pending_.finish(operation);
  return asked.ok() ? std::move(finished) : std::move(asked);
}

Status RemoteMutexes::wait(Wait& mine) {
  const auto over = [&mine] { return mine.over.load(std::memory_order_acquire); };
  // A waiter gets no message as long as others hold the mutex. So it checks from time to time whether the
  // owner and the holder are still alive.
  while (!over()) {
    const auto until = std::chrono::steady_clock::now() + look_every();
    pending_.engine().wait_until(
        mine.rank, [&] { return over() || std::chrono::steady_clock::now() > until; },
        [rank = mine.rank](WaitNote& note) {
          note.call = "a lock";
          note.about = text("of a mutex of rank {}, on another host", rank);
        });
    if (over()) break;
    RMA_TRY(look_after(mine.rank));
    RMA_TRY(look_at_holder(mine));
  }
  const rma_status_t status = mine.status.load(std::memory_order_relaxed);
  return status == RMA_SUCCESS ? Status() : Status(status, network_.explain(status, mine.rank));
}

Status RemoteMutexes::lock(std::uintptr_t address, int rank, std::uint64_t who) {
  const auto mine = std::make_shared<Wait>();
  mine->rank = rank;
  mine->request = {.address = address, .who = who};
  {
    const std::lock_guard guard(lock_);
    mine->request.id = ++waits_;
    mine_[mine->request.id] = mine;
  }
  LockAnswer answer;
  Status status = ask(RequestKind::lock, rank, bytes_of(mine->request), writable_bytes_of(answer));
  mine->ticket = answer.ticket;
  if (status.ok() && answer.granted == 0) status = wait(*mine);
  const std::lock_guard guard(lock_);
  mine_.erase(mine->request.id);
  return status;
}

Status RemoteMutexes::unlock(std::uintptr_t address, int rank, std::uint64_t who) {
  return ask(RequestKind::unlock, rank, bytes_of(MutexRequest{.address = address, .who = who}), {});
}

Status RemoteMutexes::poke(std::uintptr_t address, int rank) {
  if (rank == rank_) {
    const std::lock_guard guard(lock_);
    if (TicketMutex* const mutex = find(address); mutex != nullptr) serve_next(*mutex);
    return {};
  }
  return ask(RequestKind::poke, rank, bytes_of(MutexRequest{.address = address, .who = me()}), {});
}

}  // namespace librma
