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
 * One mutex of a set, for std::lock_guard and std::unique_lock. A plain value that refers to the set. Fair:
 * first come, first served; waiting sleeps. Everything issued while holding it is visible to the next holder.
 */
class Mutex {
 public:
  Mutex(rma_mutexes_t mutexes, std::size_t index, int rank) noexcept
      : mutexes_(mutexes), index_(index), rank_(rank) {}

  /** Throws Error (RMA_ERR_STATE) when this thread holds it. */
  void lock() { check(rma_lock(mutexes_, index_, rank_)); }
  /** Throws Error (RMA_ERR_STATE) when this thread does not hold it. */
  void unlock() { check(rma_unlock(mutexes_, index_, rank_)); }

 private:
  rma_mutexes_t mutexes_;
  std::size_t index_;
  int rank_;
};

/** A set of mutexes, some with each member of a team. Made and destroyed collectively over the team. */
class Mutexes {
 public:
  /** `count` mutexes with this member; may differ by member, and be 0. */
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

  /** Mutex `index` of world rank `rank`. A wrong one shows when it is locked. Local. */
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
