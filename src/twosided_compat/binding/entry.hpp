#pragma once

#include <new>
#include <string>

#include "mpi.h"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/phase.hpp"
#include "util/try.hpp"

/// Defines MPI_X as a weak alias of PMPI_X, which the including file defines. A profiler may define its own
/// MPI_X. The compiler checks that the declaration in mpi.h has the same type.
#define RMA_MPI_WEAK(name) [[gnu::weak, gnu::alias("P" #name)]] decltype(P##name) name

namespace librma::mpi {

/// A call that may be made at any time, also before MPI_Init and after MPI_Finalize.
struct AnyTime {
  static constexpr bool kNeedsJob = false;
};
/// A call that may be made between MPI_Init and MPI_Finalize only.
struct WhileRunning {
  static constexpr bool kNeedsJob = true;
};

/// Runs `body`, which is the function behind an entry point, and returns the result of the call. A failure
/// invokes the error handler of `owner`: a handle, a pointer to one, or NoOwner.
template <class When, class Owner, class Body>
[[nodiscard]] int invoke(const char* name, Owner owner, Body body) {
  if constexpr (When::kNeedsJob) {
    if (!is_running()) [[unlikely]]
      refuse_without_job(name);
  }
  int code = MPI_SUCCESS;
  try {
    code = body();
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
  }
  if (code == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return raise(owner, name, code);
}

/// Returns the result of a call that an entry point makes last. The compiler must not make a jump of that
/// call: a report of a long wait finds the entry point's name by its frame on the stack.
[[nodiscard, gnu::always_inline]] inline int with_frame(int code) {
  __asm__ volatile("" : "+r"(code));
  return code;
}

/// Lets an entry point read an argument again, which its caller has put on the stack, instead of keeping it
/// in a register for a call that it rarely makes.
template <class Argument>
[[gnu::always_inline]] inline void read_again([[maybe_unused]] Argument& argument) {
#ifdef __x86_64__
  __asm__ volatile("" : "+m"(argument));
#endif
}

/// Checks that a place that the program gives for a result is not null. MPI_ERR_ARG.
[[nodiscard]] inline int check_place(const void* place, const char* parameter) {
  return place != nullptr ? MPI_SUCCESS : failure(MPI_ERR_ARG, std::string(parameter) + " is null");
}

/// Makes the handle of the object null that a call has not made, because it failed. Returns the call's
/// result.
template <class Handle>
[[nodiscard]] int null_unless_made(Handle* made, Handle null, int code) {
  if (code != MPI_SUCCESS && made != nullptr) [[unlikely]]
    *made = null;
  return code;
}

/// Runs `body`, which is the function behind an entry point of MPI_T. Its failures invoke no error handler.
template <class Body>
[[nodiscard]] int invoke_tool(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return MPI_T_ERR_MEMORY;
  }
}

}  // namespace librma::mpi
