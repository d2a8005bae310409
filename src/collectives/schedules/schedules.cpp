#include "collectives/schedules/schedules.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "collectives/schedules/plans.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {

Schedules::Planned Schedules::plan(const std::shared_ptr<ScheduleChannel>& channel,
                                   const rma_collective_t& collective) {
  return plan(channel, collective, CollectiveRecord::Form::persistent);
}

Schedules::Planned Schedules::plan(const std::shared_ptr<ScheduleChannel>& channel,
                                   const rma_collective_t& collective, CollectiveRecord::Form form) {
  if (!check_) [[likely]]
    return plan(channel, nullptr, &collective);
  const CollectiveRecord record = CollectiveRecord::of(collective, form, channel->members());
  return plan(channel, &record, &collective);
}

Schedules::Planned Schedules::plan(const std::shared_ptr<ScheduleChannel>& channel,
                                   const CollectiveRecord* record, const rma_collective_t* collective) {
  if (channel->failed()) {
    channel->fail();  // the others learn it from this member too
    return channel->failure();
  }
  Planned planned = unless_exhausted([&]() -> Planned {
    auto made = std::make_shared<PlannedCollective>(
        PlannedCollective{.channel = channel,
                          .plan = Plan(channel->member(), channel->members()),
                          .reducer = collective != nullptr ? collective->reducer : rma_reducer_t(),
                          .tag = channel->draw_tag()});
    if (record != nullptr) plan_comparison(made->plan, *record);
    if (collective != nullptr) plan_collective(made->plan, *collective);
    RMA_TRY(channel->connect(made->plan));
    return std::shared_ptr<const PlannedCollective>(std::move(made));
  });
  if (!planned.ok()) channel->fail();
  return planned;
}

Status Schedules::check(const std::shared_ptr<ScheduleChannel>& channel, const rma_collective_t& collective) {
  const auto record = CollectiveRecord::of(collective, CollectiveRecord::Form::blocking, channel->members());
  auto planned = plan(channel, &record, nullptr);
  return planned.ok() ? run(planned.value()) : std::move(planned).status();
}

Status Schedules::start(const std::shared_ptr<const PlannedCollective>& collective, rma_request_t* request) {
  count(Counter::collective);
  ProgressThread* const thread = pending_.engine().progress_thread();
  Status status = unless_exhausted([&]() -> Status {
    const rma_request_t opened = pending_.open(ProgressEngine::kNoRank);
    if (opened == RMA_REQUEST_NULL) return PendingOperations::too_many();
    Undo close([&] {
      pending_.settle(opened, RMA_ERR_NO_MEMORY, ProgressEngine::kNoRank);
      static_cast<void>(pending_.requests().close(opened));
    });
    auto schedule = std::make_unique<Schedule>(collective, pending_, opened);
    const std::lock_guard guard(turn_);
    open_.reserve(open_.size() + 1);
    close.dismiss();
    if (thread != nullptr) thread->begin();
    schedule->advance();
    *request = opened;
    open_.push_back(std::move(schedule));
    count_.store(open_.size(), std::memory_order_release);
    messages_.schedules_go_on(!open_.empty());
    return {};
  });
  if (!status.ok()) {
    collective->channel->fail();
    return status;
  }
  work();  // ends a schedule that is over already
  if (thread != nullptr) thread->hand_over();
  return {};
}

Status Schedules::start(const std::shared_ptr<ScheduleChannel>& channel, const rma_collective_t& collective,
                        rma_request_t* request) {
  auto planned = plan(channel, collective, CollectiveRecord::Form::nonblocking);
  return planned.ok() ? start(planned.value(), request) : std::move(planned).status();
}

Status Schedules::run(const std::shared_ptr<ScheduleChannel>& channel, const rma_collective_t& collective) {
  auto planned = plan(channel, nullptr, &collective);  // the caller has compared the call
  return planned.ok() ? run(planned.value()) : std::move(planned).status();
}

Status Schedules::run(const std::shared_ptr<const PlannedCollective>& planned) {
  rma_request_t request = RMA_REQUEST_NULL;
  RMA_TRY(start(planned, &request));
  messages_.wait_for(request);
  return pending_.wait(request);
}

bool Schedules::due() {
  if (!any()) return false;
  const std::unique_lock guard(turn_, std::try_to_lock);
  if (!guard.owns_lock()) return true;
  return std::ranges::any_of(
      open_, [](const auto& schedule) { return schedule->over() || schedule->can_advance(); });
}

bool Schedules::describe(rma_request_t request, WaitNote& note) {
  const std::unique_lock guard(turn_, std::try_to_lock);
  if (!guard.owns_lock()) return false;
  const auto found =
      std::ranges::find_if(open_, [&](const auto& schedule) { return schedule->request() == request; });
  if (found == open_.end()) return false;
  (*found)->describe(messages_, note);
  return true;
}

bool Schedules::work() {
  if (!any()) return false;
  const std::unique_lock guard(turn_, std::try_to_lock);
  return guard.owns_lock() && advance_all();
}

bool Schedules::advance_all() {
  bool moved = false;
  for (std::size_t i = 0; i < open_.size();) {
    moved = open_[i]->advance() || moved;
    if (!open_[i]->over()) {
      ++i;
      continue;
    }
    moved = true;
    const std::unique_ptr<Schedule> ended = std::move(open_[i]);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    count_.store(open_.size(), std::memory_order_release);
    messages_.schedules_go_on(!open_.empty());
    if (ProgressThread* const thread = pending_.engine().progress_thread(); thread != nullptr) thread->end();
    ended->finish();
  }
  return moved;
}

}  // namespace librma
