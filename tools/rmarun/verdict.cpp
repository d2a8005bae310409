#include "rmarun/verdict.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>

#include "rmarun/exit_codes.hpp"
#include "rmarun/processes.hpp"

namespace rmarun {
namespace {

/// A rank has ended, and its connection has not: a process that it forked has it too. How often, and after
/// what pause each, to look for the connection's end before the rank counts as lost. Looks are counted, not
/// seconds, because a launcher that is stopped does not look.
constexpr int kLooks = 50;
constexpr auto kLookPeriod = std::chrono::milliseconds(100);

/// Whether the end of the rank's connection may still be found, and with it that the rank is the cause.
bool unordered(const PmixServer& server, std::size_t rank) {
  return server.stage(static_cast<int>(rank)) == Stage::kJoined;
}

}  // namespace

bool FailureFinder::note(const std::vector<Ended>& ended) {
  const bool first = !any();
  for (const Ended& each : ended) judge(each, first);
  if (!first || !any()) return false;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].running && is_ending(ranks_[rank].pid)) suspects_.push_back(rank);
  }
  return true;
}

/// `first`: no rank had failed when this end was found.
void FailureFinder::judge(const Ended& ended, bool first) {
  Rank& rank = ranks_[ended.rank];
  const bool admitted = std::erase(suspects_, ended.rank) > 0 || first;
  if (WIFSIGNALED(ended.status)) {
    const int signal = WTERMSIG(ended.status);
    if (!admitted) return;
    accused_.push_back(
        {ended.rank,
         {kExitSignal + signal,
          fmt::format("rank {} (pid {}) was killed by {}{}; ending the job", ended.rank, rank.pid,
                      describe_signal(signal), WCOREDUMP(ended.status) ? ", core dumped" : "")}});
  } else if (const int code = WEXITSTATUS(ended.status); code != 0) {
    if (!admitted) return;
    accused_.push_back({ended.rank,
                        {code, fmt::format("rank {} (pid {}) exited with code {}; ending the job", ended.rank,
                                           rank.pid, code)}});
  } else {
    rank.succeeded = true;
  }
}

std::optional<Verdict> FailureFinder::cause(const PmixServer& server, bool overdue) const {
  if (!any()) return std::nullopt;
  bool open =
      std::any_of(suspects_.begin(), suspects_.end(), [&](std::size_t r) { return ranks_[r].running; });
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    open |= ranks_[rank].succeeded && unordered(server, rank);
  }
  if (accused_.size() > 1) {
    for (const Failure& failure : accused_) open |= unordered(server, failure.rank);
  }
  if (open && !overdue) return std::nullopt;
  const Failure& first = accused_.front();
  // One that had not joined is nobody's consequence.
  if (server.stage(static_cast<int>(first.rank)) == Stage::kNone) return first.verdict;
  for (const int other : server.lost()) {
    const auto rank = static_cast<std::size_t>(other);
    if (rank < ranks_.size() && ranks_[rank].succeeded) return lost(rank);
    const auto found =
        std::find_if(accused_.begin(), accused_.end(), [&](const Failure& f) { return f.rank == rank; });
    if (found != accused_.end()) return found->verdict;
  }
  return first.verdict;
}

std::optional<Verdict> FailureFinder::vanished(const PmixServer& server) {
  look_again_.reset();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].succeeded) continue;
    if (auto verdict = gone(server, rank)) return verdict;
  }
  return std::nullopt;
}

/// Others run, so `rank`, which exited with code 0, must have left the job or never joined it.
std::optional<Verdict> FailureFinder::gone(const PmixServer& server, std::size_t rank) {
  switch (server.stage(static_cast<int>(rank))) {
    case Stage::kLeft:
      return std::nullopt;
    case Stage::kNone:
      return never_joined(server, rank);
    case Stage::kJoined:
      if (!connection_overdue(ranks_[rank])) return std::nullopt;
      break;
    case Stage::kLost:
      break;
  }
  return lost(rank);
}

/// Ranks that have joined wait for every other, so for `rank`, which never joined, they would for ever.
std::optional<Verdict> FailureFinder::never_joined(const PmixServer& server, std::size_t rank) const {
  for (std::size_t waiting = 0; waiting < ranks_.size(); ++waiting) {
    if (!ranks_[waiting].running || server.stage(static_cast<int>(waiting)) != Stage::kJoined) continue;
    return Verdict{kExitFailure,
                   fmt::format("rank {} exited with code 0 without joining the job that rank {} "
                               "has joined; ending the job",
                               rank, waiting)};
  }
  return std::nullopt;
}

Verdict FailureFinder::lost(std::size_t rank) const {
  return {kExitFailure,
          fmt::format("rank {} (pid {}) exited with code 0 without leaving the job it had joined "
                      "(rma_finalize, PMIx_Finalize) while others run; ending the job",
                      rank, ranks_[rank].pid)};
}

bool FailureFinder::connection_overdue(const Rank& rank) {
  const auto now = Clock::now();
  if (now >= last_look_ + kLookPeriod) {
    last_look_ = now;
    for (Rank& each : ranks_) each.looks += each.succeeded ? 1 : 0;
  }
  look_again_ = last_look_ + kLookPeriod;
  return rank.looks > kLooks;
}

}  // namespace rmarun
