#include "collectives/schedule_channel.hpp"

#include "util/text.hpp"

namespace rma {

Status ScheduleChannel::connect(const Plan& plan) {
  for (const PlanStep& step : plan.steps()) {
    if (step.kind != PlanStep::Kind::send && step.kind != PlanStep::Kind::receive) continue;
    if (Status status = messages_.connect(rank_of(step.member)); !status.ok()) return status;
  }
  return {};
}

Status ScheduleChannel::post(const PlanStep& step, int tag, rma_request_t* request) {
  const int rank = rank_of(step.member);
  return unless_exhausted([&] {
    if (step.kind == PlanStep::Kind::send) {
      return messages_.post_send(MessageData::of({step.from, step.bytes}), rank,
                                 {.context = own_.number(), .tag = tag}, own_, request);
    }
    return messages_.post_receive({.address = step.to, .bytes = step.bytes},
                                  {.source = rank, .tag = tag, .context = own_.number()}, request);
  });
}

void ScheduleChannel::fail() {
  if (failed_.exchange(true, std::memory_order_acq_rel)) return;
  for (int other = 0; other < members(); ++other) {
    if (other == member_) continue;
    // Without memory to tell it, the member waits until another one tells it.
    static_cast<void>(unless_exhausted([&]() -> Status {
                        messages_.revoke(rank_of(other), own_.number());
                        return {};
                      }).ok());
  }
}

int ScheduleChannel::culprit(int otherwise) {
  for (const int rank : ranks_) {
    if (rank != job_.rank() && job_.ended(rank)) return rank;
  }
  return own_.revoked() ? own_.first_revoker() : otherwise;
}

Status ScheduleChannel::failure() {
  const int rank = culprit(job_.rank());
  if (job_.ended(rank)) {
    return {RMA_ERR_PEER_LOST,
            text("{}: the team's nonblocking collectives are of no more use", job_.lost(rank).text())};
  }
  return {RMA_ERR_PEER_LOST, text("rank {} found a member of this team lost, so the team's nonblocking "
                                  "collectives are of no more use",
                                  rank)};
}

}  // namespace rma
