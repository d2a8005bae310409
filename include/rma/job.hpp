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
 * Membership in the job: joins when made, leaves when destroyed. Collective both times; nests.
 * While an exception destroys it, it does not leave: the other ranks would have to come along. The process is
 * then expected to end with an exit code that is not zero, upon which the launcher ends the job.
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

/** This process's rank in the world team, or -1 outside the job. */
inline int rank() noexcept { return rma_rank(); }

/** The number of processes of the job, or -1 outside the job. */
inline int size() noexcept { return rma_size(); }

/** Whether the memory of `rank` is mapped here. */
inline bool same_host(int rank) noexcept { return rma_same_host(rank) == 1; }

/** Ends the whole job with `exit_code` after printing `text`. */
[[noreturn]] inline void abort(int exit_code, const std::string& text) {
  rma_abort(exit_code, text.c_str());
  __builtin_unreachable();
}

}  // namespace rma::inline v0

#endif
