#include "collectives/schedules/schedule_channel.hpp"

#include <string_view>
#include <utility>

#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {

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

Status ScheduleChannel::start(int member, int tag, const void* data, std::size_t bytes, Sending& sending) {
  sending.member = member;
  AwaitedSend& send = sending.send.emplace();
  const auto whole = MessageData::of({static_cast<const std::byte*>(data), bytes});
  Status status = unless_exhausted([&] {
    return messages_.start_send(whole, rank_of(member), {.context = own_.number(), .tag = tag}, own_, send);
  });
  return explained(std::move(status), member);
}

Status ScheduleChannel::finish(Sending& sending) {
  if (!sending.send) return {};
  Status sent = messages_.finish_send(*sending.send);
  sending.send.reset();
  return explained(std::move(sent), sending.member);
}

Status ScheduleChannel::receive(int member, int& tag, void* data, std::size_t bytes) {
  const MessageData whole = {.address = static_cast<std::byte*>(data), .bytes = bytes};
  const Messages::Wanted wanted = {.source = rank_of(member), .tag = tag, .context = own_.number()};
  rma_message_info_t info = {.source = wanted.source, .tag = tag, .bytes = 0};
  // The member has sent, or will, whether there is memory here or not.
  Status status = unless_exhausted([&] { return messages_.receive_without_fail(whole, wanted, &info); });
  tag = info.tag;
  return explained(std::move(status), member);
}

Status ScheduleChannel::explained(Status status, int member) const {
  const int rank = rank_of(member);
  return status.code() == RMA_ERR_PEER_LOST && job_.ended(rank) ? job_.lost(rank) : std::move(status);
}

Status ScheduleChannel::give_up(Status failure, int member) {
  const bool lost = failure.code() == RMA_ERR_PEER_LOST;
  fail(lost ? rank_of(member) : kNobody);
  return lost ? this->failure() : std::move(failure);
}

void ScheduleChannel::fail(int suspect) {
  if (failed_.load(std::memory_order_acquire)) return;
  // An operation that ended because another member had revoked the context says nothing about its partner.
  const bool knows = suspect != kNobody && suspect != job_.rank() && !own_.revoked();
  const int lost = knows ? suspect : known_lost();
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
  if (const int lost = lost_.load(std::memory_order_relaxed); lost != kNobody) return lost;
  if (const int lost = own_.named_lost(); lost != kNobody) return lost;
  // Members that have learned of a loss end too, so this one is only the likeliest.
  for (const int rank : ranks_->view()) {
    if (rank != job_.rank() && job_.ended(rank)) return rank;
  }
  return kNobody;
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

}  // namespace librma
