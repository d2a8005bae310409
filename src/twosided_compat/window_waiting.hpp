#pragma once

#include <vector>

#include "rma/messages.h"
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
  ~WindowWait();
  WindowWait(const WindowWait&) = delete;
  WindowWait& operator=(const WindowWait&) = delete;
  /// Passes some time, and makes progress of messages. Returns MPI_ERR_PROC_ABORTED if a member of the window
  /// has ended: it may be the one that the caller waits for.
  [[nodiscard]] int pause();

 private:
  /// Starts receives of messages that never come, from the members on other hosts. librma asks a rank that a receive
  /// awaits for signs of life, and so learns that the rank has ended.
  void watch_other_hosts();

  const Members& members_;
  int pauses_ = 0;
  std::vector<rma_request_t> watches_;
};

}  // namespace rma::mpi
