#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rmarun/hosts/engine_text.hpp"
#include "rmarun/verdict.hpp"

namespace rmarun {

/// The ranks of a job of several hosts, as their keepers and the engine tell of them.
class RemoteRanks {
 public:
  /// `hosts` has for each rank the name of its host. `hosts_of_names` has those of which the engine knows
  /// another name, by that name.
  explicit RemoteRanks(std::vector<std::string> hosts, std::map<std::string, std::string> hosts_of_names = {})
      : hosts_(std::move(hosts)), hosts_of_names_(std::move(hosts_of_names)), ranks_(hosts_.size()) {}

  /// Takes the words of a rank's keeper, which need not be true. Returns a remark for the user, or an empty
  /// text.
  std::string take(int rank, std::string_view words);
  /// Notes that the engine says so when a rank ends with another code than 0, but not if that rank has
  /// aborted the job (Open MPI 4).
  void expect_words_on_codes() { expects_words_ = true; }
  /// Takes a part of the engine's own text.
  void take_engine_text(std::string_view text);
  /// Takes the engine's last line, which may lack its end.
  void end_engine_text();
  /// Notes that the machine at the end `there` of a connection of the engine (connections_of) does not
  /// answer. Returns false if no keeper has told yet which host has this end.
  bool note_silence(const std::string& there);
  /// Notes that a host is lost.
  void note_lost(const std::string& host);

  /// Whether a rank has failed, or a host is lost.
  [[nodiscard]] bool failed() const { return failure_.has_value() || !lost_hosts_.empty(); }
  /// Whether the cause may still be found: a rank has ended by itself, as programs do when they miss a peer.
  [[nodiscard]] bool may_change() const { return failure_ && !failure_->by_signal && lost_hosts_.empty(); }
  /// Whether the engine's text has yet to tell how the failed rank has ended: by a code of its own, by an
  /// abort of the job, or because another rank has gone.
  [[nodiscard]] bool lacks_words() const {
    return failure_ && failure_->code && expects_words_ && !said_code_;
  }
  /// Notes that the engine has ended by itself, so that all words have come.
  void note_engine_end() { engine_has_ended_ = true; }
  /// The cause of the failure. A lost host comes first, then a rank that a signal has ended, then the first
  /// other one. Precondition: failed().
  [[nodiscard]] Verdict cause() const;
  /// Returns the lost host if no rank has started on it: some engines say this of a host that they have not
  /// reached.
  [[nodiscard]] std::optional<std::string> lost_before_start() const;
  /// The verdict when no rank has failed, and the engine has ended the job by itself: a rank has gone with
  /// code 0 in the middle of the job, or has aborted it with code 0. Nothing if it is neither.
  [[nodiscard]] std::optional<Verdict> cause_with_code_0() const;
  /// Returns the hosts on which no rank has started.
  [[nodiscard]] std::set<std::string> hosts_without_start() const;
  [[nodiscard]] bool all_succeeded() const;
  /// Whether a rank has ended with code 0, and not because the engine has ended it.
  [[nodiscard]] bool succeeded(std::size_t rank) const { return ranks_[rank].succeeded; }
  [[nodiscard]] bool has_started(std::size_t rank) const { return ranks_[rank].started; }
  /// Whether a rank has started and not ended.
  [[nodiscard]] bool runs(std::size_t rank) const { return ranks_[rank].started && !ranks_[rank].ended; }
  /// Returns the names of the hosts of which a rank has not started, with these ranks: "b (ranks 2-3)"; empty
  /// if all have.
  [[nodiscard]] std::string not_started() const;
  /// The same of the ranks that have not ended.
  [[nodiscard]] std::string not_ended() const;
  /// Returns the end of the engine's text, a line each.
  [[nodiscard]] const std::vector<std::string>& last_lines() const { return text_.last_lines(); }

 private:
  struct State {
    long pid = 0;
    bool started = false;
    bool ended = false;
    bool succeeded = false;
    bool met = false;  ///< it waited for all ranks to join the job when it ended
  };
  struct Failure {
    bool by_signal = false;
    Verdict verdict;
    std::size_t rank = 0;
    std::optional<int> code = {};  ///< with which the rank has ended
  };

  void take_end(std::size_t rank, std::string_view kind, int number, bool core_dumped);
  void fail(std::size_t rank, bool by_signal, int exit_code, std::string_view how);
  void understand(const std::vector<EngineSentence>& sentences);
  [[nodiscard]] std::optional<Verdict> verdict_on_gone() const;
  template <typename Chosen>
  [[nodiscard]] std::string listed(const Chosen& chosen) const;

  std::vector<std::string> hosts_;
  std::map<std::string, std::string> hosts_of_names_;
  std::vector<State> ranks_;
  std::optional<Failure> failure_;
  std::vector<std::string> lost_hosts_;
  std::map<std::string, std::string> hosts_of_ends_;  ///< by the end of a connection there: the host
  EngineText text_;
  bool expects_words_ = false;
  bool said_code_ = false;           ///< the engine has said that a rank has ended with another code than 0
  bool ends_ranks_ = false;          ///< the engine has ended a rank
  bool engine_has_ended_ = false;    ///< by itself
  std::optional<std::size_t> gone_;  ///< the rank of which the engine says that it has gone in the job
};

}  // namespace rmarun
