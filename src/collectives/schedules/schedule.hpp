#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "collectives/schedules/plan.hpp"
#include "collectives/schedules/schedule_channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "rma/collectives.h"

namespace librma {

/// A collective operation that a team's members can execute again and again: the plan of this one, the
/// reduction, and where its messages go. Nothing of it changes, except for the plan's work memory.
struct PlannedCollective {
  std::shared_ptr<ScheduleChannel> channel;
  Plan plan;
  rma_reducer_t reducer = {};
  int tag = 0;
};

/// One execution of a collective operation. Each call of advance() goes as far as it can without waiting.
///
/// After a failure the schedule cancels its receives and waits for the sends and receives that go on, because
/// they use the caller's buffers. They end, because the channel has failed for all members. One thread at a
/// time uses a schedule.
///
/// PlanRunner executes the same plans for blocking calls. A Schedule would cost such a call memory for its
/// steps and a request for each message; a PlanRunner cannot leave a plan at a wait and come back to it.
class Schedule {
 public:
  /// `request` is open. The schedule ends it, as its last act. Throws std::bad_alloc.
  Schedule(std::shared_ptr<const PlannedCollective> collective, PendingOperations& pending,
           rma_request_t request);

  /// Executes the steps that can be executed now. Returns whether it has executed any.
  bool advance();
  /// Returns whether advance() would do something.
  [[nodiscard]] bool can_advance() const;
  /// Returns whether all steps are done. The caller calls finish() then, and destroys the schedule.
  [[nodiscard]] bool over() const { return over_; }
  void finish();
  [[nodiscard]] rma_request_t request() const { return request_; }
  /// Says which members it waits for. `messages` has its sends and receives.
  void describe(Messages& messages, WaitNote& note) const;

 private:
  /// Closes the operations that have ended. Returns whether there were any.
  bool collect();
  /// Executes one step. Returns false if it has to wait.
  [[nodiscard]] bool execute(const PlanStep& step);
  void note(rma_status_t code, int rank);
  /// Compares the members' records. If they do not agree, no other step is executed, and the channel stays
  /// usable.
  void compare(const PlanStep& step);
  void give_up();

  const std::shared_ptr<const PlannedCollective> collective_;
  PendingOperations& pending_;
  const rma_request_t request_;
  std::size_t next_ = 0;                  ///< the step that comes next
  std::vector<rma_request_t> under_way_;  ///< the sends and receives that were started
  rma_status_t code_ = RMA_SUCCESS;       ///< the first failure, and the rank that it is about
  int rank_ = -1;
  std::string disagreement_;  ///< the members' calls do not agree: says which
  bool failing_ = false;
  bool over_ = false;
};

}  // namespace librma
