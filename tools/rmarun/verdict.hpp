#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rmarun/pmix_server.hpp"

namespace rmarun {

/// A rank's process.
struct Rank {
  pid_t pid = -1;
  bool running = false;
  bool succeeded = false;
  int looks = 0;  ///< for the end of the connection of a rank that has succeeded
};

/// A rank's end, as waitpid(2) tells it.
struct Ended {
  std::size_t rank = 0;
  int status = 0;
};

/// Why the job ends: rmarun's exit code and its line for the user.
struct Verdict {
  int exit_code = 0;
  std::string why;
};

/// Finds out which rank has made the job fail. When one rank fails, others fail in consequence, and their
/// ends may be found first.
class FailureFinder {
 public:
  using Clock = std::chrono::steady_clock;

  /// `ranks` outlives this. The owner fills it, and says in it which ranks run.
  explicit FailureFinder(std::vector<Rank>& ranks) : ranks_(ranks) {}

  /// Whether a rank has failed.
  [[nodiscard]] bool any() const { return !accused_.empty(); }
  /// Notes the ends of ranks that were found together. True when they are the first to hold a failure: the
  /// owner then ends the job. Later failures are the job's end, but for those of ranks that were ending when
  /// the first failure was found. The verdict waits for these, because the cause may be found after its
  /// consequence: a process closes its connections first, so that others fail for want of it, and can be
  /// waited for last.
  bool note(const std::vector<Ended>& ended);
  /// The verdict once a rank has failed: the cause is the rank whose connection ended first. Nothing while
  /// this may still change, unless `overdue`: then by what is known now.
  [[nodiscard]] std::optional<Verdict> cause(const PmixServer& server, bool overdue) const;

  /// The verdict while no rank has failed, but others run that may wait for one that has gone: it has ended
  /// with code 0 and without leaving the job, or has never joined it.
  [[nodiscard]] std::optional<Verdict> vanished(const PmixServer& server);
  /// When to call vanished() again, if the last call has found a rank that may yet be seen to leave.
  [[nodiscard]] std::optional<Clock::time_point> look_again() const { return look_again_; }

 private:
  /// How a rank has failed.
  struct Failure {
    std::size_t rank = 0;
    Verdict verdict;
  };

  void judge(const Ended& ended, bool first);
  [[nodiscard]] std::optional<Verdict> gone(const PmixServer& server, std::size_t rank);
  [[nodiscard]] std::optional<Verdict> never_joined(const PmixServer& server, std::size_t rank) const;
  [[nodiscard]] Verdict lost(std::size_t rank) const;
  [[nodiscard]] bool connection_overdue(const Rank& rank);

  std::vector<Rank>& ranks_;
  std::vector<Failure> accused_;       ///< ranks that have failed
  std::vector<std::size_t> suspects_;  ///< ranks that were ending when the first of them was found
  std::optional<Clock::time_point> look_again_;
  Clock::time_point last_look_;
};

}  // namespace rmarun
