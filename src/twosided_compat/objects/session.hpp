#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "mpi.h"
#include "twosided_compat/objects/found.hpp"
#include "twosided_compat/objects/object.hpp"

namespace librma::mpi {

/// A session (MPI 4.1, section 11.3). The job runs as long as one is open.
class Session : public ErrorHandlerOwner {
 public:
  Session(MPI_Errhandler handler, std::string thread_level)
      : ErrorHandlerOwner(Kind::kSession, 0, MPI_ERRORS_ARE_FATAL), level_(std::move(thread_level)) {
    errors.set(handler);
  }
  [[nodiscard]] const std::string& thread_level() const { return level_; }
  /// Returns a number that no other session of this process has or had. It is not kNoSession.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  // Relaxed: only the numbers' difference matters, and nothing is published by them.
  static std::uint64_t next_number() { return last_number.fetch_add(1, std::memory_order_relaxed) + 1; }
  static inline std::atomic<std::uint64_t> last_number = 0;

  const std::string level_;
  const std::uint64_t number_ = next_number();
};

/// Finds the session of a handle. MPI_ERR_SESSION.
[[nodiscard]] inline Found<Session> find_session(MPI_Session handle) {
  return find_or_fail<Session>(handle, MPI_ERR_SESSION, "the session is null or was finalized");
}

}  // namespace librma::mpi
