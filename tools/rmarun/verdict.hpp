#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rmarun/processes.hpp"
#include "rmarun/reports.hpp"

namespace rmarun {

/// A rank's process.
struct Rank {
  pid_t pid = -1;
  bool running = false;
  bool succeeded = false;  ///< it has ended with code 0, and not because the job was being ended
  bool unwanted = false;   ///< it was started with others, of which one could not start, and was killed
  int looks = 0;           ///< for the end of the connection of a rank that has ended
};

/// A rank's end, as waitpid(2) tells it.
struct Ended {
  std::size_t rank = 0;
  int status = 0;
};

/// Why the job ends: rmarun's exit code and its line for the user.
struct Verdict {
  int exit_code = 0;
  std::string why;  ///< empty if there is nothing to say
};

/// The verdict on a rank that has exited with code 0 and has never joined the job, while `waiting` has.
[[nodiscard]] Verdict never_joined_verdict(std::size_t rank, std::size_t waiting);
/// The verdict on a rank that has exited with code 0 in the middle of the job. `process` says which it was:
/// "pid 7".
[[nodiscard]] Verdict lost_verdict(std::size_t rank, std::string_view process);
/// Returns the verdict on a rank that has aborted the job. If the rank did so with code 0, the verdict has no
/// text and code 0.
[[nodiscard]] Verdict abort_verdict(const AbortRequest& abort);

/// Finds out which rank has made the job fail. When one rank fails, others fail or abort in consequence, and
/// their ends may be found first.
///
/// A rank that ends after it has left the job (MPI_Finalize) does not make the job fail, because no other
/// rank waits for it: the others go on, and rmarun's exit code is that rank's if nothing else fails.
///
/// After survive() neither does a rank that a signal has ended in the job, as long as others run.
class FailureFinder {
 public:
  using Clock = std::chrono::steady_clock;

  /// `ranks` outlives this. The owner fills it, and says in it which ranks run. `is_ending` tells whether a
  /// process, which is not reaped yet, is ending.
  explicit FailureFinder(std::vector<Rank>& ranks, std::function<bool(pid_t)> is_ending = rmarun::is_ending)
      : ranks_(ranks), is_ending_(std::move(is_ending)) {}

  /// Lets the job go on without ranks that a signal has ended (rmarun --survive).
  void survive() { survives_ = true; }
  /// Returns what to say of such ranks, since the last call.
  [[nodiscard]] std::vector<std::string> take_survived() { return std::exchange(survived_, {}); }

  /// Notes the ends of ranks, in any order.
  void note(const std::vector<Ended>& ended);
  /// Whether the job has failed. Call it after note() whenever a rank has ended or `reports` has news. True
  /// once, when a failure is certain: the owner then answers the requests to abort and ends the job.
  ///
  /// Later failures are the job's end, but for those of ranks that were ending when the first failure was
  /// found. The verdict waits for these, because the cause may be found after its consequence: a process
  /// closes its connections first, so that others fail for want of it, and can be waited for last.
  [[nodiscard]] bool has_failed(const Reports& reports);
  /// The verdict once the job has failed. Nothing while this may still change, unless `overdue`: then by what
  /// is known now. A rank that was killed by a signal comes before those that have ended by themselves, which
  /// programs do when they miss a peer; among equal ones the rank whose connection ended first is the cause,
  /// and a request to abort comes last.
  [[nodiscard]] std::optional<Verdict> cause(const Reports& reports, bool overdue) const;
  /// Whether ranks have ended of which has_failed() does not know yet whether they had left the job.
  [[nodiscard]] bool undecided() const { return !failed_ && !unsettled_.empty(); }
  /// Whether has_failed() has been true.
  [[nodiscard]] bool failed() const { return failed_; }

  /// The verdict while no rank has failed, but others run that may wait for one that has gone: it has ended
  /// with code 0 and without leaving the job, or has never joined it.
  [[nodiscard]] std::optional<Verdict> vanished(const Reports& reports);
  /// When to look again, if a rank has ended that may yet be seen to have left.
  [[nodiscard]] std::optional<Clock::time_point> look_again() const { return look_again_; }

  /// The verdict when all ranks have ended and none has made the job fail: the first failure of a rank that
  /// had left the job. Code 0 if there is none.
  [[nodiscard]] Verdict after_leaving() const;

 private:
  /// How a rank has ended that has not succeeded.
  struct Failure {
    std::size_t rank = 0;
    bool by_signal = false;  ///< a signal ended it, and the process had not asked for that itself
    int exit_code = 0;
    std::string what;  ///< the subject and the verb
  };

  [[nodiscard]] Failure failure_of(const Ended& ended) const;
  void settle(const Reports& reports);
  [[nodiscard]] bool may_change(const Reports& reports) const;
  [[nodiscard]] std::optional<Verdict> gone(const Reports& reports, std::size_t rank);
  [[nodiscard]] std::optional<Verdict> never_joined(const Reports& reports, std::size_t rank) const;
  [[nodiscard]] Verdict lost(std::size_t rank) const;
  [[nodiscard]] bool connection_overdue(const Rank& rank);

  std::vector<Rank>& ranks_;
  std::function<bool(pid_t)> is_ending_;
  bool survives_ = false;
  std::vector<std::string> survived_;  ///< sentences about ranks without which the job goes on
  bool failed_ = false;
  std::vector<Failure> unsettled_;     ///< failures of ranks that may have left the job
  std::vector<Failure> after_;         ///< failures of ranks that had left the job
  std::vector<Failure> accused_;       ///< failures of ranks that had not
  std::vector<std::size_t> suspects_;  ///< ranks that were ending when the first of them was found
  std::optional<Clock::time_point> look_again_;
  Clock::time_point last_look_;
};

}  // namespace rmarun
