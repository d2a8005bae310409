#include "rmarun/verdict.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "rmarun/exit_codes.hpp"

namespace rmarun {
namespace {

/// A rank has ended, and its connection has not: a process that it forked has it too. How often, and after
/// what pause each, to look for the connection's end before the rank counts as lost. Looks are counted, not
/// seconds, because a launcher that is stopped does not look.
constexpr int kLooks = 50;
constexpr auto kLookPeriod = std::chrono::milliseconds(100);

/// Whether the end of the rank's connection may still be found, and with it that the rank is the cause.
bool unordered(const Reports& reports, std::size_t rank) {
  return reports.stage(static_cast<int>(rank)) == Stage::kJoined;
}

bool has_aborted(const Reports& reports, std::size_t rank) {
  const auto aborts = reports.aborts();
  return std::any_of(aborts.begin(), aborts.end(),
                     [&](const AbortRequest& each) { return each.rank == static_cast<int>(rank); });
}

}  // namespace

Verdict never_joined_verdict(std::size_t rank, std::size_t waiting) {
  return {
      kExitFailure,
      fmt::format("rank {} exited with code 0 without joining the job that rank {} has joined; ending the "
                  "job",
                  rank, waiting)};
}

Verdict lost_verdict(std::size_t rank, std::string_view process) {
  return {kExitFailure,
          fmt::format("rank {} ({}) exited with code 0 without leaving the job it had joined (rma_finalize, "
                      "PMIx_Finalize) while others run; ending the job",
                      rank, process)};
}

Verdict abort_verdict(const AbortRequest& abort) {
  // OpenSHMEM programs end so on purpose: shmem_global_exit(0).
  if (abort.code == 0) return {};
  // Only the low byte gets to the shell, and a code that is not 0 is a failure.
  const int code = abort.code & 0xff;
  return {code == 0 ? kExitFailure : code,
          fmt::format("rank {} aborted the job with exit code {}", abort.rank, abort.code)};
}

FailureFinder::Failure FailureFinder::failure_of(const Ended& ended) const {
  const pid_t pid = ranks_[ended.rank].pid;
  if (WIFSIGNALED(ended.status)) {
    const int signal = WTERMSIG(ended.status);
    // abort() sends SIGABRT to the process itself, so that is an end like exit().
    return {ended.rank, signal != SIGABRT, kExitSignal + signal,
            fmt::format("rank {} (pid {}) was killed by {}{}", ended.rank, pid, describe_signal(signal),
                        WCOREDUMP(ended.status) ? ", core dumped" : "")};
  }
  const int code = WEXITSTATUS(ended.status);
  return {ended.rank, false, code,
          fmt::format("rank {} (pid {}) exited with code {}", ended.rank, pid, code)};
}

void FailureFinder::note(const std::vector<Ended>& ended) {
  for (const Ended& each : ended) {
    const bool admitted = std::erase(suspects_, each.rank) > 0 || !failed_;
    if (!admitted) continue;
    if (each.status == 0) {
      ranks_[each.rank].succeeded = true;
    } else {
      (failed_ ? accused_ : unsettled_).push_back(failure_of(each));
    }
  }
}

/// Finds out of each failure whether the rank had left the job before.
void FailureFinder::settle(const Reports& reports) {
  const bool others_run = std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.running; });
  const bool aborting = !reports.aborts().empty();
  std::erase_if(unsettled_, [&](const Failure& failure) {
    switch (reports.stage(static_cast<int>(failure.rank))) {
      case Stage::kLeft:
        after_.push_back(failure);
        return true;
      case Stage::kJoined:
        // Only a rank that has ended by itself can have said goodbye just before. There is nothing to wait
        // for once a rank aborts the job, or when no other rank runs.
        if (!failure.by_signal && others_run && !aborting && !connection_overdue(ranks_[failure.rank]))
          return false;
        break;
      case Stage::kNone:
      case Stage::kLost:
        break;
    }
    const bool joined = reports.stage(static_cast<int>(failure.rank)) != Stage::kNone;
    if (survives_ && failure.by_signal && joined && others_run && !aborting) {
      survived_.push_back(failure.what + "; the job goes on without it");
      return true;
    }
    if (!has_aborted(reports, failure.rank)) accused_.push_back(failure);
    return true;
  });
}

bool FailureFinder::has_failed(const Reports& reports) {
  look_again_.reset();
  if (failed_) return false;
  settle(reports);
  if (accused_.empty() && reports.aborts().empty()) return false;
  failed_ = true;
  // Failures that are not settled yet came before this one too.
  for (Failure& failure : unsettled_) accused_.push_back(std::move(failure));
  unsettled_.clear();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].running && !has_aborted(reports, rank) && is_ending_(ranks_[rank].pid))
      suspects_.push_back(rank);
  }
  return true;
}

bool FailureFinder::may_change(const Reports& reports) const {
  bool open =
      std::any_of(suspects_.begin(), suspects_.end(), [&](std::size_t r) { return ranks_[r].running; });
  // The end of a connection orders failures. Beside requests to abort that order says nothing.
  if (!reports.aborts().empty()) return open;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    open |= ranks_[rank].succeeded && unordered(reports, rank);
  }
  if (accused_.size() > 1) {
    for (const Failure& failure : accused_) open |= unordered(reports, failure.rank);
  }
  return open;
}

std::optional<Verdict> FailureFinder::cause(const Reports& reports, bool overdue) const {
  if (!failed_ || (may_change(reports) && !overdue)) return std::nullopt;
  const auto verdict = [](const Failure& failure) {
    return Verdict{failure.exit_code, failure.what + "; ending the job"};
  };
  // One that had not joined is nobody's consequence.
  if (!accused_.empty() && reports.stage(static_cast<int>(accused_.front().rank)) == Stage::kNone)
    return verdict(accused_.front());
  const auto lost_ranks = reports.lost();
  for (const bool by_signal : {true, false}) {
    for (const int other : lost_ranks) {
      const auto rank = static_cast<std::size_t>(other);
      if (!by_signal && rank < ranks_.size() && ranks_[rank].succeeded && !has_aborted(reports, rank))
        return lost(rank);
      const auto found = std::find_if(accused_.begin(), accused_.end(), [&](const Failure& f) {
        return f.rank == rank && f.by_signal == by_signal;
      });
      if (found != accused_.end()) return verdict(*found);
    }
    const auto found = std::find_if(accused_.begin(), accused_.end(),
                                    [&](const Failure& f) { return f.by_signal == by_signal; });
    if (found != accused_.end()) return verdict(*found);
  }
  return abort_verdict(reports.aborts().front());
}

Verdict FailureFinder::after_leaving() const {
  if (after_.empty()) return {};
  const Failure& first = after_.front();
  const std::string others = after_.size() == 1 ? ""
                             : after_.size() == 2
                                 ? "; another rank failed likewise"
                                 : fmt::format("; {} others failed likewise", after_.size() - 1);
  return {first.exit_code, first.what + " after it had left the job" + others};
}

std::optional<Verdict> FailureFinder::vanished(const Reports& reports) {
  if (failed_ || !unsettled_.empty()) return std::nullopt;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].succeeded) continue;
    if (auto verdict = gone(reports, rank)) return verdict;
  }
  return std::nullopt;
}

/// Others run, so `rank`, which exited with code 0, must have left the job or never joined it.
std::optional<Verdict> FailureFinder::gone(const Reports& reports, std::size_t rank) {
  switch (reports.stage(static_cast<int>(rank))) {
    case Stage::kLeft:
      return std::nullopt;
    case Stage::kNone:
      return never_joined(reports, rank);
    case Stage::kJoined:
      if (!connection_overdue(ranks_[rank])) return std::nullopt;
      break;
    case Stage::kLost:
      break;
  }
  return lost(rank);
}

/// Ranks that have joined wait for every other, so for `rank`, which never joined, they would for ever.
std::optional<Verdict> FailureFinder::never_joined(const Reports& reports, std::size_t rank) const {
  for (std::size_t waiting = 0; waiting < ranks_.size(); ++waiting) {
    if (!ranks_[waiting].running || reports.stage(static_cast<int>(waiting)) != Stage::kJoined) continue;
    return never_joined_verdict(rank, waiting);
  }
  return std::nullopt;
}

Verdict FailureFinder::lost(std::size_t rank) const {
  return lost_verdict(rank, fmt::format("pid {}", ranks_[rank].pid));
}

bool FailureFinder::connection_overdue(const Rank& rank) {
  const auto now = Clock::now();
  if (now >= last_look_ + kLookPeriod) {
    last_look_ = now;
    for (Rank& each : ranks_) each.looks += each.running ? 0 : 1;
  }
  look_again_ = last_look_ + kLookPeriod;
  return rank.looks > kLooks;
}

}  // namespace rmarun
