/**
 * @file mutex.hpp
 * Mutexes across processes.
 */
#ifndef RMA_MUTEX_HPP
#define RMA_MUTEX_HPP

#include <cstddef>
#include <utility>

#include "rma/error.hpp"
#include "rma/team.hpp"

namespace rma::inline v0 {

/**
 * One mutex of a set, for use with std::lock_guard and std::unique_lock. It is a plain value that refers to
 * the set. The mutex is fair: threads get it in the order in which they asked. A thread that waits long
 * sleeps. Everything that a holder issued while it held the mutex is visible to the next holder.
 */
class Mutex {
 public:
  Mutex(rma_mutexes_t mutexes, std::size_t index, int rank) noexcept
      : mutexes_(mutexes), index_(index), rank_(rank) {}

  /** Locks the mutex. Throws Error (RMA_ERR_STATE) if this thread already holds it. */
  void lock() { check(rma_lock(mutexes_, index_, rank_)); }
  /** Unlocks the mutex. Throws Error (RMA_ERR_STATE) if this thread does not hold it. */
  void unlock() { check(rma_unlock(mutexes_, index_, rank_)); }

 private:
  rma_mutexes_t mutexes_;
  std::size_t index_;
  int rank_;
};

/** A set of mutexes that lie in the memory of the members of a team. The constructor and the destructor are
 * collective over the team. */
class Mutexes {
 public:
  /** Creates `count` mutexes in this member's memory. `count` may differ by member and may be 0. */
  Mutexes(const Team& team, std::size_t count) { check(rma_mutexes_create(team.handle(), count, &handle_)); }
  ~Mutexes() { release(); }
  Mutexes(Mutexes&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), scope_(other.scope_) {}
  Mutexes& operator=(Mutexes&& other) noexcept {
    if (this != &other) {
      release();
      handle_ = std::exchange(other.handle_, nullptr);
      scope_ = other.scope_;
    }
    return *this;
  }
  Mutexes(const Mutexes&) = delete;
  Mutexes& operator=(const Mutexes&) = delete;

  /** Returns mutex `index` of world rank `rank`. Local. The function does not check its arguments; lock()
   *  does. */
  [[nodiscard]] Mutex mutex(std::size_t index, int rank) const noexcept { return {handle_, index, rank}; }

 private:
  void release() noexcept {
    if (handle_ != nullptr && scope_.may_call()) static_cast<void>(rma_mutexes_destroy(&handle_));
  }

  rma_mutexes_t handle_ = nullptr;
  detail::CollectiveScope scope_;
};

}  // namespace rma::inline v0

#endif
