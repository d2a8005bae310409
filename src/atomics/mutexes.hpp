#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "core/job.hpp"
#include "util/status.hpp"
#include "util/wait.hpp"

namespace rma {

/// A fair lock that processes share: a ticket is drawn, and holders follow each other by ticket. Waiters
/// sleep on `serving`, each in one of 32 groups by its ticket, so that an unlock wakes the next one and
/// hardly ever another. All zero is free.
struct alignas(64) TicketMutex {
  std::atomic<std::uint32_t> next = 0;      ///< ticket that the next to come draws
  std::atomic<std::uint32_t> serving = 0;   ///< ticket that holds the mutex, or equal to `next`
  std::atomic<std::uint32_t> sleepers = 0;  ///< threads that sleep, or are about to
  std::atomic<std::uint32_t> remote = 0;    ///< of those that the owner's helper waits for: see RemoteMutexes
  std::atomic<std::uint64_t> holder = 0;    ///< who holds it; 0: nobody, or someone who is about to say so

  /// Whether who holds it, or whose turn it is, has ended; `holder` is 0 in the second case.
  using Lost = std::function<bool(std::uint64_t holder)>;

  /// Pairs with unlock(): what the last holder did is visible. `who` is not 0 and does not hold the mutex.
  ///
  /// False where `lost()`, which is asked when no turn has come for the whole of a kMortalNap: the mutex is
  /// then held by nobody who could unlock it, for ever, as is the ticket of this call.
  [[nodiscard]] bool lock(std::uint64_t who, const WaitPolicy& policy, const Lost& lost);
  /// `who` holds the mutex.
  void unlock();
  /// After an unlock(): the owner's helper may have the next to be served. (Sequentially consistent, as the
  /// unlock.)
  [[nodiscard]] bool awaited_elsewhere() const { return remote.load(std::memory_order_seq_cst) != 0; }
  /// Nobody holds it and nobody waits.
  [[nodiscard]] bool idle() const {
    return next.load(std::memory_order_acquire) == serving.load(std::memory_order_acquire);
  }
};
static_assert(sizeof(TicketMutex) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

class RemoteMutexes;

/// Mutexes created together by the members of a team, each member's in its own memory. A mutex is held by a
/// thread: threads of one process exclude each other too. Thread-safe.
class MutexSet {
 public:
  /// What a member tells the others.
  struct Member {
    int rank = -1;            ///< world rank
    void* address = nullptr;  ///< the member's own, from allocate()
    std::size_t count = 0;    ///< mutexes
  };

  /// Memory for `count` mutexes of this process, free; null for 0. Ranks of other hosts reach them by
  /// `remote`; null where there are none. RMA_ERR_NO_MEMORY, RMA_ERR_SIZE.
  [[nodiscard]] static Result<void*> allocate(Job& job, RemoteMutexes* remote, std::size_t count);
  /// Frees it, when no member will use it any more.
  static void release(Job& job, RemoteMutexes* remote, void* address);

  MutexSet(const Job& job, RemoteMutexes* remote, std::span<const Member> members = {});
  /// One member more, before the set is used. Takes no memory.
  void place(const Member& member) noexcept;

  /// RMA_ERR_RANK when `rank` is no member, RMA_ERR_ARGUMENT when it has no such mutex, RMA_ERR_STATE when
  /// this thread holds it, RMA_ERR_UNSUPPORTED when it lies where no helper reaches, RMA_ERR_PEER_LOST where
  /// it waits for a process of this host that has ended, or over the network for a rank that is lost.
  [[nodiscard]] Status lock(std::size_t index, int rank);
  /// As lock(); RMA_ERR_STATE when this thread does not hold it.
  [[nodiscard]] Status unlock(std::size_t index, int rank);

  /// RMA_ERR_STATE when one of this process's own mutexes is held or waited for.
  [[nodiscard]] Status check_idle() const;

 private:
  struct Block {
    bool member = false;
    std::size_t count = 0;
    TicketMutex* mutexes = nullptr;  ///< null where not mapped here, and for a count of 0
    std::uintptr_t address = 0;      ///< the owner's own
  };

  /// The block that has such a mutex.
  [[nodiscard]] Result<const Block*> find(std::size_t index, int rank) const;
  [[nodiscard]] static Status held_already(std::size_t index, int rank);
  [[nodiscard]] static Status not_held(std::size_t index, int rank);
  [[nodiscard]] Status lock_remote(const Block& block, std::size_t index, int rank);
  [[nodiscard]] Status unlock_remote(const Block& block, std::size_t index, int rank);
  /// A mutex whose holder is `holder`, 0 for a member that has yet to say so, will not be unlocked.
  [[nodiscard]] bool lost(std::uint64_t holder) const;
  /// This thread, as no other thread of the job is called.
  [[nodiscard]] std::uint64_t me() const;

  const Job& job_;
  RemoteMutexes* const remote_;
  std::vector<Block> blocks_;  ///< by world rank
  std::mutex held_lock_;
  /// Of other hosts, by address and rank: which thread of this process holds them.
  std::map<std::pair<std::uintptr_t, int>, std::uint64_t> held_;
};

}  // namespace rma
