#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "rmarun/spawn.hpp"
#include "util/system/spawn_call.hpp"

namespace rmarun {

/// The state of a rank in its job, as it tells it to the server of ranks or by PMIx. kLeft: it takes no more
/// part in the job, and nobody waits for it. kLost: its connection has ended without the rank leaving the
/// job.
enum class Stage { kNone, kJoined, kLeft, kLost };

/// The request of a rank to end the job.
struct AbortRequest {
  int rank = 0;
  int code = 0;
};

/// The outcome of a request for more ranks: the first of them, and how many of each program. Or why there are
/// none.
struct SpawnOutcome {
  int first = 0;
  std::vector<int> started;
  std::string why_none;
};

/// The request of a rank for more ranks.
struct SpawnAsked {
  int rank = 0;
  librma::SpawnCall call;
  std::function<void(const SpawnOutcome&)> answer;
};

/// The state of the ranks as the job's two servers have seen it. Their threads write it, and the job's thread
/// reads it.
///
/// stage() of a rank that has ended may be out of date: a rank waits 2 s for the answer to its
/// goodbye and then ends, while this process may be stopped or slow. But this process reads the goodbye
/// before the end of the connection. So kLeft and kLost of a rank that has ended are final, and kJoined
/// proves nothing.
class Reports {
 public:
  /// `wakeup` is an eventfd. It becomes readable when there is news.
  Reports(int ranks, Descriptor wakeup)
      : wakeup_(std::move(wakeup)), stages_(static_cast<size_t>(ranks), Stage::kNone) {}

  [[nodiscard]] int wakeup() const noexcept { return wakeup_.get(); }
  /// Makes wakeup() unreadable until the next news.
  void clear_wakeup();

  [[nodiscard]] Stage stage(int rank) const;
  /// Returns the ranks at kLost, in the order in which their connections ended.
  [[nodiscard]] std::vector<int> lost() const;
  /// Returns the requests to abort in their order.
  [[nodiscard]] std::vector<AbortRequest> aborts() const;

  /// Returns the requests for more ranks that it has not returned before, in their order.
  [[nodiscard]] std::vector<SpawnAsked> take_spawns();

  void note_stage(int rank, Stage stage);
  void note_spawn(SpawnAsked asked);
  /// `answer` lets the rank go on, which then ends. It waits for that until answer_aborts(). So a rank that
  /// ends before is no consequence of the rank's end.
  void note_abort(AbortRequest request, std::function<void()> answer);
  void answer_aborts();

 private:
  void ring() const;

  Descriptor wakeup_;
  mutable std::mutex mutex_;  ///< guards the following members
  std::vector<Stage> stages_;
  std::vector<int> lost_;
  std::vector<AbortRequest> aborts_;
  std::vector<std::function<void()>> unanswered_;
  std::vector<SpawnAsked> spawns_;
};

}  // namespace rmarun
