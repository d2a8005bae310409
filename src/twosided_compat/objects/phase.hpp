#pragma once

#include <atomic>

#include "mpi.h"

namespace librma::mpi {

/// Where the process stands between MPI_Init and MPI_Finalize, which it may call once. Sessions do not count.
enum class Phase : int { kBefore, kRunning, kFinalized };
inline constinit std::atomic<Phase> phase = Phase::kBefore;

/// The job runs: MPI is initialised and not finalised, or a session is open.
inline constinit std::atomic<bool> job_runs = false;

/// Returns whether the job runs.
[[nodiscard]] inline bool is_running() {
  // Relaxed: a program makes its calls after MPI_Init returned, in the same thread or in one that it told.
  return job_runs.load(std::memory_order_relaxed);
}

/// Prints that `name` was called before MPI_Init or after MPI_Finalize, and aborts.
[[noreturn, gnu::cold]] void refuse_without_job(const char* name);

/// Prints `text` and ends the job. The launcher sees `code` as the exit code, or 1 if its low 8 bits are 0.
[[noreturn, gnu::cold]] void end_job(int code, const char* text);

}  // namespace librma::mpi
