#include "rmarun/passing.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <unistd.h>

#include <algorithm>

#include "rmarun/processes.hpp"

namespace rmarun {

namespace {

void send(int signal, const Rank& rank) {
  // A rank that reads a terminal is in rmarun's own group.
  if (rank.running) ::kill(::getpgid(rank.pid) == rank.pid ? -rank.pid : rank.pid, signal);
}

bool goes_on(const Rank& rank) { return rank.running && process_state(rank.pid) != 'T'; }

}  // namespace

void SignalPasser::pass(int signal, const std::vector<Rank>& ranks) {
  for (const Rank& rank : ranks) send(signal, rank);
  constexpr auto kPatience = std::chrono::milliseconds(500);
  if (signal == SIGTSTP) stop_by_ = Clock::now() + kPatience;
  if (signal == SIGCONT) stop_by_.reset();
}

void SignalPasser::look(const std::vector<Rank>& ranks) {
  if (!stop_by_) return;
  if (Clock::now() < *stop_by_ && std::any_of(ranks.begin(), ranks.end(), goes_on)) return;
  for (const Rank& rank : ranks) {
    if (goes_on(rank)) send(SIGSTOP, rank);
  }
  stop_by_.reset();
  if (::getppid() == guard_) ::kill(guard_, SIGSTOP);
}

}  // namespace rmarun
