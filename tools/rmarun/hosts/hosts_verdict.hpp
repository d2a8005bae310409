#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rmarun/deadlines.hpp"
#include "rmarun/hosts/first_meeting.hpp"
#include "rmarun/hosts/remote_ranks.hpp"
#include "rmarun/verdict.hpp"

namespace rmarun {

/// Finds out why a job of several hosts fails, from what the keepers, the engine and the remote shells have
/// said.
class HostsVerdict {
 public:
  using Clock = std::chrono::steady_clock;

  /// `ranks` outlives this. `directory` has the files of the remote shells' wrapper.
  HostsVerdict(RemoteRanks& ranks, std::size_t count, std::string directory)
      : ranks_(ranks), first_meeting_(count), directory_(std::move(directory)) {}

  /// Takes words of a rank's keeper about the first meeting.
  void take_meeting(int rank, std::string_view words) { first_meeting_.take(rank, words, Clock::now()); }

  /// Returns the verdict while the engine runs, or no value while no rank has failed or a better verdict may
  /// come.
  [[nodiscard]] std::optional<Verdict> while_engine_runs(Clock::time_point now);
  /// When that has to be called even if nothing has come.
  [[nodiscard]] const Deadline& next_look() const { return due_; }

  /// The verdict when the engine has ended by itself. `path` is its program, and `status` that of waitpid(2).
  /// Engines' own codes mean nothing to rmarun's caller: the text has them, with the engine's last words.
  /// rmarun's exit code is kExitFailure then, or that of a keeper that could not start.
  [[nodiscard]] Verdict after_engine(const std::string& path, int status);

 private:
  [[nodiscard]] Verdict on_failure() const;
  [[nodiscard]] std::string shells_to_blame() const;
  [[nodiscard]] Verdict on_engine(const std::string& path, int status) const;

  RemoteRanks& ranks_;
  FirstMeeting first_meeting_;
  std::string directory_;
  Deadline failed_at_;  ///< when the first failure was found
  Deadline due_;        ///< when the verdict waits no more
};

}  // namespace rmarun
