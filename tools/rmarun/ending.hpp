#pragma once

#include <chrono>

#include "rmarun/deadlines.hpp"

namespace rmarun {

/// The end of this process's descendants: a request, and SIGKILL for those that run on.
class Ending {
 public:
  using Duration = std::chrono::steady_clock::duration;

  /// Asks all descendants to end, by SIGTERM, and gives them `grace`. Later calls do nothing.
  void ask_all(Duration grace);
  /// Gives them `grace` without asking them. Later calls do nothing.
  void kill_after(Duration grace);
  /// Whether one of the two has been called.
  [[nodiscard]] bool begun() const { return kill_at_.has_value(); }

  /// Whether the time that the descendants had is over. kill() does what is due then.
  [[nodiscard]] bool due() const;
  /// Sends SIGKILL to all descendants. It is due again soon: a round may miss a process that is just being
  /// created.
  void kill();
  /// When to look, if no descendant ends before.
  [[nodiscard]] const Deadline& next_look() const { return kill_at_; }

 private:
  Deadline kill_at_;  ///< when to send SIGKILL next
};

}  // namespace rmarun
