#include "rmarun/passing.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <unistd.h>

#include <algorithm>

#include "rmarun/processes.hpp"

namespace rmarun {

void SignalPasser::pass(int signal, const std::vector<Rank>& ranks) {
  for (const Rank& rank : ranks) {
    if (!rank.running) continue;
    // A rank that reads a terminal is in rmarun's own group.
    ::kill(::getpgid(rank.pid) == rank.pid ? -rank.pid : rank.pid, signal);
  }
  constexpr auto kPatience = std::chrono::milliseconds(500);
  if (signal == SIGTSTP) stop_by_ = Clock::now() + kPatience;
  if (signal == SIGCONT) stop_by_.reset();
}

void SignalPasser::look(const std::vector<Rank>& ranks) {
  if (!stop_by_) return;
  const bool all_stopped = std::all_of(ranks.begin(), ranks.end(), [](const Rank& rank) {
    return !rank.running || process_state(rank.pid) == 'T';
  });
  if (!all_stopped && Clock::now() < *stop_by_) return;
  stop_by_.reset();
  if (::getppid() == guard_) ::kill(guard_, SIGSTOP);
}

}  // namespace rmarun
