#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  /// Takes a part of the engine's own text. Its sentences about lost hosts and killed keepers are understood.
  void take_engine_text(std::string_view text);
  /// Takes the engine's last line, which may lack its end.
  void end_engine_text();
  /// Notes that the machine at the end `there` of a connection of the engine (connections_of) does not
  /// answer.
  void note_silence(const std::string& there);

  /// Whether a rank has failed, or a host is lost.
  [[nodiscard]] bool failed() const { return failure_.has_value() || !lost_hosts_.empty(); }
  /// Whether the cause may still be found: a rank has ended by itself, as programs do when they miss a peer.
  [[nodiscard]] bool may_change() const { return failure_ && !failure_->by_signal && lost_hosts_.empty(); }
  /// The cause of the failure. A lost host comes first, then a rank that a signal has ended, then the first
  /// other one. Precondition: failed().
  [[nodiscard]] Verdict cause() const;
  /// Whether that is a lost host on which no rank has started: some engines say this of a host that they have
  /// not reached.
  [[nodiscard]] bool lost_before_start() const;
  /// Returns the hosts on which no rank has started.
  [[nodiscard]] std::set<std::string> hosts_without_start() const;
  [[nodiscard]] bool all_succeeded() const;
  [[nodiscard]] bool has_started(std::size_t rank) const { return ranks_[rank].started; }
  /// Whether a rank has started and not ended.
  [[nodiscard]] bool runs(std::size_t rank) const { return ranks_[rank].started && !ranks_[rank].ended; }
  /// Returns the names of the hosts of which a rank has not started, with these ranks: "b (ranks 2-3)"; empty
  /// if all have.
  [[nodiscard]] std::string not_started() const;
  /// The same of the ranks that have not ended.
  [[nodiscard]] std::string not_ended() const;
  /// Returns the end of the engine's text, a line each.
  [[nodiscard]] std::vector<std::string> last_lines() const;

 private:
  struct State {
    long pid = 0;
    bool started = false;
    bool ended = false;
    bool succeeded = false;
  };
  struct Failure {
    bool by_signal = false;
    Verdict verdict;
  };

  void fail(std::size_t rank, bool by_signal, int exit_code, std::string_view how);
  void take_engine_line(const std::string& line);
  void note_lost(const std::string& host);
  template <typename Chosen>
  [[nodiscard]] std::string listed(const Chosen& chosen) const;

  std::vector<std::string> hosts_;
  std::map<std::string, std::string> hosts_of_names_;
  std::vector<State> ranks_;
  std::optional<Failure> failure_;
  std::vector<std::string> lost_hosts_;
  std::map<std::string, std::string> hosts_of_ends_;  ///< by the end of a connection there: the host
  std::string line_;                                  ///< the beginning of the engine's next line
  std::string previous_line_;
  bool lost_text_ = false;  ///< inside its text about a lost host
  std::vector<std::string> lines_;
};

}  // namespace rmarun
