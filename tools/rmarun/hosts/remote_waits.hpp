#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rmarun/deadlines.hpp"
#include "rmarun/hang_report.hpp"
#include "rmarun/hosts/remote_ranks.hpp"
#include "rmarun/signals.hpp"
#include "rmarun/waits.hpp"

namespace rmarun {

/// The signal by which rmarun asks keepers what their ranks wait for. The engine sends it to the keeper's
/// group, so the rank gets it too: processes ignore it unless they handle it.
inline constexpr int kAskingSignal = SIGURG;

/// The first of the words by which a keeper answers.
inline constexpr std::string_view kWaitsWord = "waits";

/// What a keeper says of its rank.
struct WaitsAnswer {
  std::uint32_t question = 0;  ///< how many questions the keeper has got
  RankState::Process process = RankState::Process::sleeps;
  std::int64_t time = 0;  ///< on the clock of the records
  WaitRecords records = {};
};

/// Returns the answer as a keeper's words.
std::string words_of(const WaitsAnswer& answer);
/// Reads them. Nothing in the words need be true.
/// @return nothing if they are not such words.
std::optional<WaitsAnswer> waits_answer_of(std::string_view words);

/// What the ranks of several hosts wait for. It asks all keepers twice, and tells what has lasted from the
/// first answers to the second.
class RemoteWaits {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RemoteWaits(std::size_t ranks) : seats_(ranks) {}

  /// Begins to ask, unless it does so already.
  void begin(Clock::time_point now);
  [[nodiscard]] bool under_way() const { return round_ != Round::none; }
  /// Takes the words of a rank's keeper.
  void take(int rank, std::string_view words);

  enum class Step : std::uint8_t {
    wait,   ///< for more answers
    ask,    ///< the caller sends kAskingSignal to all keepers
    report  ///< states() has the result, and nothing is under way any more
  };
  /// What to do next. Keepers have some time to answer; hosts that are cut off do not.
  Step step(const RemoteRanks& ranks, Clock::time_point now);
  /// When step() has to be called even if nothing has come.
  [[nodiscard]] const Deadline& next_look() const { return round_end_; }

  [[nodiscard]] std::vector<RankState> states(const RemoteRanks& ranks) const;

 private:
  enum class Round : std::uint8_t { none, wanted, first, second };
  struct Seat {
    std::optional<WaitsAnswer> first;
    std::optional<WaitsAnswer> second;
  };

  [[nodiscard]] bool all_have_answered(const RemoteRanks& ranks) const;

  std::vector<Seat> seats_;  ///< by rank
  Round round_ = Round::none;
  Deadline round_end_;
};

}  // namespace rmarun
