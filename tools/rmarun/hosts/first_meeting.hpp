#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "rmarun/hosts/remote_ranks.hpp"
#include "rmarun/verdict.hpp"

namespace rmarun {

/// Finds ranks that wait for ever, because another one has ended without joining the job. The engine is the
/// server of the ranks of several hosts, and lets them wait.
class FirstMeeting {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FirstMeeting(std::size_t ranks) : seats_(ranks) {}

  /// Takes the words of a rank's keeper.
  void take(int rank, std::string_view words, Clock::time_point now);
  /// Returns the verdict on a rank that has ended with code 0 while another one still waits for all to join:
  /// that one's keeper has said so twice after the end of the first. Words that come together may be old, as
  /// after a pause of the network, and count once.
  [[nodiscard]] std::optional<Verdict> verdict(const RemoteRanks& ranks);

 private:
  struct Seat {
    bool meets = false;
    int said = 0;  ///< how often, since a rank has ended
    Clock::time_point last;
  };

  std::vector<Seat> seats_;
  std::size_t ended_ = 0;  ///< how many ranks had ended with code 0 at the last look
};

}  // namespace rmarun
