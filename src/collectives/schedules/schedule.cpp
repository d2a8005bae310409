#include "collectives/schedules/schedule.hpp"

#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "collectives/members/collective_record.hpp"

namespace librma {

Schedule::Schedule(std::shared_ptr<const PlannedCollective> collective, PendingOperations& pending,
                   rma_request_t request)
    : collective_(std::move(collective)), pending_(pending), request_(request) {
  under_way_.reserve(collective_->plan.most_at_once());
}

bool Schedule::advance() {
  bool moved = collect();
  if (!failing_ && collective_->channel->failed()) {
    note(RMA_ERR_PEER_LOST, collective_->channel->culprit(rank_));
    give_up();
    moved = true;
  }
  const std::span<const PlanStep> steps = collective_->plan.steps();
  while (!failing_ && next_ < steps.size() && execute(steps[next_])) {
    ++next_;
    moved = true;
  }
  if (failing_) moved = collect() || moved;
  const bool done = failing_ ? under_way_.empty() : next_ == steps.size();
  if (done && !over_) {
    over_ = true;
    moved = true;
  }
  return moved;
}

bool Schedule::can_advance() const {
  if (!failing_ && collective_->channel->failed()) return true;
  for (const rma_request_t request : under_way_) {
    if (pending_.complete(request)) return true;
  }
  return under_way_.empty();
}

bool Schedule::collect() {
  const std::size_t before = under_way_.size();
  for (std::size_t i = 0; i < under_way_.size();) {
    const rma_request_t request = under_way_[i];
    if (!pending_.complete(request)) {
      ++i;
      continue;
    }
    const int rank = pending_.rank(request);
    note(pending_.requests().close(request), rank);
    under_way_[i] = under_way_.back();
    under_way_.pop_back();
  }
  // A message that is too long says that the members' arguments differ. The others still get their messages.
  if (!failing_ && code_ != RMA_SUCCESS && code_ != RMA_ERR_TRUNCATED && disagreement_.empty()) give_up();
  return under_way_.size() != before;
}

bool Schedule::execute(const PlanStep& step) {
  switch (step.kind) {
    case PlanStep::Kind::send:
    case PlanStep::Kind::receive: {
      rma_request_t request = RMA_REQUEST_NULL;
      const Status status = collective_->channel->post(step, collective_->tag, &request);
      if (!status.ok()) {
        note(status.code(), collective_->channel->rank_of(step.member));
        if (status.code() != RMA_ERR_TRUNCATED) give_up();
      }
      if (request != RMA_REQUEST_NULL && request != kCompleteRequest) {
        under_way_.push_back(request);
      }
      return !failing_;
    }
    case PlanStep::Kind::wait:
      return under_way_.empty();
    case PlanStep::Kind::copy:
      std::memcpy(step.to, step.from, step.bytes);
      return true;
    case PlanStep::Kind::reduce:
      collective_->reducer.combine(step.from, step.to, step.bytes, collective_->reducer.context);
      return true;
    case PlanStep::Kind::compare:
      compare(step);
      return true;
    case PlanStep::Kind::put:
    case PlanStep::Kind::flag:
    case PlanStep::Kind::await_flag:
      return true;  // in no plan of plan_collective(): RdmaAllgather has the announced memory
  }
  return true;
}

void Schedule::compare(const PlanStep& step) try {
  const auto* const records = reinterpret_cast<const CollectiveRecord*>(step.from);
  const Status agreed = librma::compare({records, step.bytes});
  if (agreed.ok()) return;
  note(agreed.code(), ProgressEngine::kNoRank);
  disagreement_ = agreed.text();
  next_ = collective_->plan.steps().size() - 1;  // the caller goes on behind it
} catch (const std::bad_alloc&) {
  // Messages of the schedule are under way, so the caller cannot return by an exception.
  if (code_ == RMA_SUCCESS) note(RMA_ERR_NO_MEMORY, ProgressEngine::kNoRank);
  give_up();
}

void Schedule::note(rma_status_t code, int rank) {
  if (code == RMA_SUCCESS || failing_) return;
  if (code_ != RMA_SUCCESS && code_ != RMA_ERR_TRUNCATED) return;
  code_ = code;
  rank_ = rank;
}

void Schedule::give_up() {
  failing_ = true;
  collective_->channel->fail(code_ == RMA_ERR_PEER_LOST ? rank_ : ScheduleChannel::kNobody);
  rank_ = collective_->channel->culprit(rank_);
  for (const rma_request_t request : under_way_) collective_->channel->cancel(request);
}

void Schedule::describe(Messages& messages, WaitNote& note) const {
  note.call = "a collective";
  for (const rma_request_t request : under_way_) {
    if (pending_.complete(request)) continue;
    WaitNote wait_note;
    messages.describe(request, wait_note);
    if (wait_note.message && wait_note.message->peer >= 0) note.ranks.push_back(wait_note.message->peer);
  }
  // All members number their operations alike.
  note.meeting =
      (std::uint64_t{collective_->channel->context()} << 32U | static_cast<unsigned>(collective_->tag)) + 1;
  note.exact = true;
  // The place of the messages is the team. The peers are known already.
  note.message = {.context = collective_->channel->context()};
}

void Schedule::finish() {
  if (!disagreement_.empty()) pending_.explain(request_, std::move(disagreement_));
  pending_.settle(request_, code_, rank_);
}

}  // namespace librma
