#include "collectives/schedules/schedule_channel.hpp"

#include <string_view>

#include "util/text.hpp"
#include "util/try.hpp"

namespace rma {

Status ScheduleChannel::connect(const Plan& plan) {
  for (const PlanStep& step : plan.steps()) {
    if (step.kind != PlanStep::Kind::send && step.kind != PlanStep::Kind::receive) continue;
    RMA_TRY(messages_.connect(rank_of(step.member)));
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

void ScheduleChannel::fail(int suspect) {
  if (failed_.load(std::memory_order_acquire)) return;
  int lost = known_lost();
  // An operation that ended because another member had revoked the context says nothing about its partner.
  if (lost == kNobody && !own_.revoked() && suspect != job_.rank()) lost = suspect;
  int nobody = kNobody;
  // Relaxed: the exchange below publishes it.
  if (lost != kNobody) lost_.compare_exchange_strong(nobody, lost, std::memory_order_relaxed);
  if (failed_.exchange(true, std::memory_order_acq_rel)) return;
  for (int other = 0; other < members(); ++other) {
    if (other == member_ || rank_of(other) == lost) continue;
    // Without memory to tell it, the member waits until another one tells it.
    static_cast<void>(unless_exhausted([&]() -> Status {
                        messages_.revoke(rank_of(other), own_.number(), lost);
                        return {};
                      }).ok());
  }
}

int ScheduleChannel::known_lost() const {
  for (const int rank : ranks_->view()) {
    if (rank != job_.rank() && job_.ended(rank)) return rank;
  }
  const int lost = lost_.load(std::memory_order_relaxed);
  return lost != kNobody ? lost : own_.named_lost();
}

int ScheduleChannel::culprit(int otherwise) {
  if (const int lost = known_lost(); lost != kNobody) return lost;
  return own_.revoked() ? own_.first_revoker() : otherwise;
}

Status ScheduleChannel::failure() {
  constexpr std::string_view kAdvice =
      "the team is of no more use; free it, and make one of the ranks that are left";
  const int lost = known_lost();
  if (lost == kNobody) {
    return {RMA_ERR_PEER_LOST,
            text("rank {} could not go on in a collective of this team: {}", culprit(job_.rank()), kAdvice)};
  }
  if (job_.ended(lost)) return {RMA_ERR_PEER_LOST, text("{}: {}", job_.lost(lost).text(), kAdvice)};
  return {RMA_ERR_PEER_LOST,
          text("rank {}, a member of this team, has ended or cannot be reached: {}", lost, kAdvice)};
}

}  // namespace rma
