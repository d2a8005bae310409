#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "rmarun/verdict.hpp"

namespace rmarun {

/// Passes signals on to the ranks.
///
/// A signal goes to the rank's process group, so that it reaches the program below a shell or a tool too.
/// On SIGTSTP rmarun stops once its ranks have. Those that have not half a second later get SIGSTOP: the
/// system drops a SIGTSTP where no shell controls jobs, and programs may ignore it. The process of rmarun's
/// that stops is the guard, for which a shell waits. This one goes on, and can still end the job.
class SignalPasser {
 public:
  using Clock = std::chrono::steady_clock;

  /// `guard` is the process that stops.
  explicit SignalPasser(pid_t guard) : guard_(guard) {}

  void pass(int signal, const std::vector<Rank>& ranks);
  /// Stops the guard if it is time to.
  void look(const std::vector<Rank>& ranks);
  /// When to look, if no rank stops before.
  [[nodiscard]] std::optional<Clock::time_point> next_look() const { return stop_by_; }

 private:
  pid_t guard_;
  std::optional<Clock::time_point> stop_by_;  ///< set from SIGTSTP until the guard is stopped
};

}  // namespace rmarun
