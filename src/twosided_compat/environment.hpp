#pragma once

#include <atomic>

#include "mpi.h"

namespace rma::mpi {

/// Where the process stands: MPI can be initialised and finalised once.
enum class Phase : int { kBefore, kRunning, kFinalized };
inline constinit std::atomic<Phase> phase = Phase::kBefore;

/// Returns whether MPI is initialised and not finalised.
[[nodiscard]] inline bool is_running() {
  // Relaxed: a program makes its calls after MPI_Init returned, in the same thread or in one that it told.
  return phase.load(std::memory_order_relaxed) == Phase::kRunning;
}

/// Prints that `name` was called before MPI_Init or after MPI_Finalize, and aborts.
[[noreturn, gnu::cold]] void refuse_without_job(const char* name);

/// Prints `text` and ends the job. The launcher sees `code` as the exit code, or 1 if its low 8 bits are 0.
[[noreturn, gnu::cold]] void end_job(int code, const char* text);

}  // namespace rma::mpi
