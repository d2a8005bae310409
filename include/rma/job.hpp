/**
 * @file job.hpp
 * Joining and leaving the job.
 */
#ifndef RMA_JOB_HPP
#define RMA_JOB_HPP

#include <string>

#include "rma/error.hpp"

namespace rma::inline v0 {

/**
 * Membership in the job. The constructor joins the job and the destructor leaves it; both are collective.
 * Objects nest, as rma_init does.
 *
 * If an exception destroys the object, the destructor does not leave the job, because the other ranks would
 * have to leave with it. The process is then expected to end with a nonzero exit code, and the launcher ends
 * the job.
 */
class Environment {
 public:
  Environment() { check(rma_init()); }
  ~Environment() {
    if (scope_.may_call()) static_cast<void>(rma_finalize());
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  detail::CollectiveScope scope_;
};

/** Returns this process's rank in the world team, or -1 outside the job. */
inline int rank() noexcept { return rma_rank(); }

/** Returns the number of processes of the job, or -1 outside the job. */
inline int size() noexcept { return rma_size(); }

/** Returns the number of this process's program in a job of several programs, or -1 outside the job. */
inline int program() noexcept { return rma_program(); }

/** Returns whether this process has mapped the memory of `rank`. */
inline bool same_host(int rank) noexcept { return rma_same_host(rank) == 1; }

/** Ends the whole job with `exit_code` after printing `text`. */
[[noreturn]] inline void abort(int exit_code, const std::string& text) {
  rma_abort(exit_code, text.c_str());
  __builtin_unreachable();
}

}  // namespace rma::inline v0

#endif
