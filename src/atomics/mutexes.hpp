#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/job/job.hpp"
#include "util/status.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

/// The number of a mutex, and the rank whose it is, for a report about a thread that waits for it.
struct MutexPlace {
  std::size_t index = 0;
  int rank = 0;
};

/// A fair lock that processes share. A thread that locks draws a ticket, and holders follow each other in the
/// order of tickets. Waiters sleep on `serving`, each in one of 32 groups by its ticket. So an unlock wakes
/// the next holder and rarely another waiter. All zero is the free state.
struct alignas(64) TicketMutex {
  std::atomic<std::uint32_t> next = 0;      ///< the ticket that the next thread draws
  std::atomic<std::uint32_t> serving = 0;   ///< the holder's ticket; equal to `next` if it is free
  std::atomic<std::uint32_t> sleepers = 0;  ///< threads that sleep, or are about to
  std::atomic<std::uint32_t> remote = 0;    ///< waiters of other hosts: see RemoteMutexes
  std::atomic<std::uint64_t> holder = 0;    ///< 0: nobody, or a thread that is about to store itself

  /// Returns the rank of a holder that is not 0.
  [[nodiscard]] static int rank_of(std::uint64_t holder) { return static_cast<int>((holder >> 32U) - 1); }

  /// Returns whether the holder has ended, or if `holder` is 0, the process whose turn it is. `ticket` is
  /// that of the thread that waits.
  using Lost = std::function<bool(std::uint64_t holder, std::uint32_t ticket)>;

  /// Locks for `who`, which is not 0 and does not hold the mutex. Pairs with unlock(): the effects of the
  /// last holder are visible.
  ///
  /// Calls `lost()` when no turn has changed during a whole kMortalNap. Returns false if it returns true:
  /// then no thread that exists can unlock the mutex any more, and the ticket of this call stays in line. The
  /// owner's helper takes it over if the holder may only be unreachable (RemoteMutexes::leave).
  [[nodiscard]] bool lock(std::uint64_t who, const WaitPolicy& policy, const Lost& lost,
                          const MutexPlace& place = {});
  /// Unlocks; the caller holds the mutex.
  void unlock();
  /// Returns, after an unlock(), whether a rank of another host may be next, which the owner's helper serves.
  /// The load is sequentially consistent, as the step of unlock() is, so one of the two sees the other.
  [[nodiscard]] bool awaited_elsewhere() const { return remote.load(std::memory_order_seq_cst) != 0; }
  /// Returns whether nobody holds the mutex and nobody waits for it.
  [[nodiscard]] bool idle() const {
    return next.load(std::memory_order_acquire) == serving.load(std::memory_order_acquire);
  }
};
static_assert(sizeof(TicketMutex) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

class RemoteMutexes;

/// Returns whether the process of this host has ended that is the `holder` of a mutex. If `holder` is 0,
/// returns whether any process of this host has ended.
[[nodiscard]] bool holder_ended(const Job& job, std::uint64_t holder);

/// Mutexes that the members of a team created together, each member's in its own memory. A thread holds a
/// mutex, so threads of one process exclude each other too. Thread-safe.
class MutexSet {
 public:
  /// The data that a member sends to the others.
  struct Member {
    int rank = -1;            ///< world rank
    void* address = nullptr;  ///< the member's own address, from allocate()
    std::size_t count = 0;    ///< mutexes
  };

  /// Allocates `count` mutexes of this process, which are free. Returns null for 0. Ranks of other hosts
  /// reach them by `remote`, which is null if there are no such ranks. RMA_ERR_NO_MEMORY, RMA_ERR_SIZE.
  [[nodiscard]] static Result<void*> allocate(Job& job, RemoteMutexes* remote, std::size_t count);
  /// Frees the mutexes, after the last use by any member.
  static void release(Job& job, RemoteMutexes* remote, void* address);

  MutexSet(const Job& job, RemoteMutexes* remote, std::span<const Member> members = {});
  /// Adds a member, before the set is used. Does not allocate.
  void place(const Member& member) noexcept;

  /// Locks a mutex. RMA_ERR_RANK if `rank` is not a member, RMA_ERR_ARGUMENT if it has no such mutex,
  /// RMA_ERR_STATE if this thread holds the mutex, RMA_ERR_UNSUPPORTED if no helper reaches the mutex.
  /// RMA_ERR_PEER_LOST, with a text that names it, if this thread would wait for a process that has ended or
  /// is lost: the holder, or the mutex's owner on another host.
  [[nodiscard]] Status lock(std::size_t index, int rank);
  /// Unlocks a mutex. The errors are those of lock(), with RMA_ERR_STATE if this thread does not hold it.
  [[nodiscard]] Status unlock(std::size_t index, int rank);

  /// Returns RMA_ERR_STATE if one of this process's own mutexes is held or waited for.
  [[nodiscard]] Status check_idle() const;

 private:
  struct MutexBlock {
    bool member = false;
    std::size_t count = 0;
    TicketMutex* mutexes = nullptr;  ///< null if not mapped here, and for a count of 0
    std::uintptr_t address = 0;      ///< address at the owner
  };

  /// Returns the block that contains the mutex.
  [[nodiscard]] Result<const MutexBlock*> find(std::size_t index, int rank) const;
  [[nodiscard]] static Status held_already(std::size_t index, int rank);
  [[nodiscard]] static Status not_held(std::size_t index, int rank);
  [[nodiscard]] Status lock_remote(const MutexBlock& block, std::size_t index, int rank);
  [[nodiscard]] Status unlock_remote(const MutexBlock& block, std::size_t index, int rank);
  [[nodiscard]] Status lock_mapped(TicketMutex& mutex, const MutexBlock& block, std::size_t index, int rank);
  /// Returns RMA_ERR_PEER_LOST if the holder, a process of this host, has ended. `holder` is 0 if the holder
  /// has not stored itself yet.
  [[nodiscard]] Status ended(std::uint64_t holder) const;
  /// Returns a number for this thread that no other thread of the job has.
  [[nodiscard]] std::uint64_t me() const;

  const Job& job_;
  RemoteMutexes* const remote_;
  std::vector<MutexBlock> blocks_;  ///< by world rank
  std::mutex held_lock_;
  /// The mutexes of other hosts, by address and rank, with the thread of this process that holds them.
  std::map<std::pair<std::uintptr_t, int>, std::uint64_t> held_;
};

}  // namespace librma
