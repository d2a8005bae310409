#pragma once

#include "twosided_compat/window.hpp"

namespace rma::mpi {

/// Returns MPI_ERR_PROC_ABORTED if one of the members has ended, else MPI_SUCCESS.
[[nodiscard]] int find_lost(const Members& members);

/// A wait for what another member does to a word: it releases a lock, posts or completes. The word may lie in
/// another process, so nobody wakes this one. It polls, lets other processes run, and naps when it has waited
/// long.
class WindowWait {
 public:
  explicit WindowWait(const Window& win) : members_(*win.members()) {}
  /// Passes some time, and makes progress of messages. Returns MPI_ERR_PROC_ABORTED if a member of the window
  /// has ended: it may be the one that the caller waits for.
  [[nodiscard]] int pause();

 private:
  const Members& members_;
  int pauses_ = 0;
};

}  // namespace rma::mpi
