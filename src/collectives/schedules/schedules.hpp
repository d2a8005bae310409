#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/members/collective_record.hpp"
#include "collectives/schedules/schedule.hpp"
#include "core/completion/pending_operations.hpp"
#include "messages/messages.hpp"
#include "util/status.hpp"
#include "util/waiting/spin_lock.hpp"
#include "util/waiting/wait.hpp"

namespace librma {

/// The nonblocking collective operations that are under way. Every thread that makes progress advances them,
/// one thread at a time. Thread-safe.
class Schedules final : public FollowUpWork, public WaitProgress {
 public:
  /// The arguments outlive all calls. `check`: whether the members compare their calls
  /// (RMA_CHECK_COLLECTIVES).
  Schedules(Messages& messages, PendingOperations& pending, bool check = false)
      : messages_(messages), pending_(pending), check_(check) {}

  [[nodiscard]] bool checks() const { return check_; }
  /// Compares a blocking call with those of the other members. RMA_ERR_ARGUMENT if they do not agree, on all
  /// members; the team stays usable. The other errors are those of plan(). A nonblocking operation begins
  /// with the comparison.
  [[nodiscard]] Status check(const std::shared_ptr<ScheduleChannel>& channel,
                             const rma_collective_t& collective);

  /// Plans an operation whose arguments were checked. It is one of the team's collective calls. If this
  /// member cannot take part, the team's operations fail for all. RMA_ERR_NO_MEMORY, RMA_ERR_PEER_LOST, and
  /// the errors of Messages::connect().
  [[nodiscard]] Result<std::shared_ptr<const PlannedCollective>> plan(
      const std::shared_ptr<ScheduleChannel>& channel, const rma_collective_t& collective);
  /// Starts an operation. The errors are those of plan().
  [[nodiscard]] Status start(const std::shared_ptr<const PlannedCollective>& collective,
                             rma_request_t* request);
  /// Does both.
  [[nodiscard]] Status start(const std::shared_ptr<ScheduleChannel>& channel,
                             const rma_collective_t& collective, rma_request_t* request);
  /// Executes an operation.
  [[nodiscard]] Status run(const std::shared_ptr<ScheduleChannel>& channel,
                           const rma_collective_t& collective);

  [[nodiscard]] bool due() override;
  [[nodiscard]] bool describe(rma_request_t request, WaitNote& note) override;
  bool work() override;

  /// A thread that waits for something else drives messages and schedules.
  [[nodiscard]] bool pending() const override { return any() || messages_.pending(); }
  bool drive() override { return messages_.drive(); }

 private:
  [[nodiscard]] bool any() const { return count_.load(std::memory_order_acquire) != 0; }
  using Planned = Result<std::shared_ptr<const PlannedCollective>>;
  /// Plans the comparison of a call, if there is a record of it, and an operation, if there is one.
  [[nodiscard]] Planned plan(const std::shared_ptr<ScheduleChannel>& channel, const CollectiveRecord* record,
                             const rma_collective_t* collective);
  [[nodiscard]] Planned plan(const std::shared_ptr<ScheduleChannel>& channel,
                             const rma_collective_t& collective, CollectiveRecord::Form form);
  [[nodiscard]] Status run(const std::shared_ptr<const PlannedCollective>& planned);
  /// Advances all schedules. The caller holds turn_.
  bool advance_all();

  Messages& messages_;
  PendingOperations& pending_;
  const bool check_;
  SpinLock turn_;                                ///< held by the thread that advances the schedules
  std::vector<std::unique_ptr<Schedule>> open_;  ///< turn_ guards it
  std::atomic<std::size_t> count_ = 0;           ///< the size of open_
};

}  // namespace librma
