#include "collectives/schedules/plan_runner.hpp"

#include <cassert>
#include <cstring>
#include <utility>

#include "collectives/schedules/plans.hpp"
#include "util/try.hpp"

namespace librma {

Status PlanRunner::run(const rma_collective_t& collective) {
  reducer_ = collective.reducer;
  return run_plan([&](Plan& plan) { plan_collective(plan, collective); });
}

Status PlanRunner::allgather_blocks(std::byte* all, std::span<const std::size_t> offsets) {
  return run_plan([&](Plan& plan) { plan_allgather_blocks(plan, all, offsets); });
}

template <typename Make>
Status PlanRunner::run_plan(const Make& make) {
  RMA_TRY(transport_.usable());
  scratch_used_ = 0;
  Plan plan(member_, members_, this);
  make(plan);
  return status_.ok() ? Status() : std::exchange(status_, {});
}

void PlanRunner::execute(const PlanStep& step) {
  if (!status_.ok()) return;
  switch (step.kind) {
    case PlanStep::Kind::send: {
      assert(sends_ < kMostSends);
      Status started = transport_.start(team_rank(step.member), TeamCarrier::kBlockingTag, step.from,
                                        step.bytes, sendings_[sends_++]);
      if (!started.ok()) fail(std::move(started), step.member);
      return;
    }
    case PlanStep::Kind::receive:
      assert(receives_ < kMostReceives);
      awaited_[receives_++] = step;
      return;
    case PlanStep::Kind::wait:
      return wait();
    case PlanStep::Kind::copy:
      std::memcpy(step.to, step.from, step.bytes);
      return;
    case PlanStep::Kind::reduce:
      reducer_.combine(step.from, step.to, step.bytes, reducer_.context);
      return;
    case PlanStep::Kind::compare:
      return;  // blocking calls are compared by a schedule of its own
    case PlanStep::Kind::put:
    case PlanStep::Kind::flag:
    case PlanStep::Kind::await_flag:
      return;  // in no plan of plan_collective(): RdmaAllgather has the announced memory
  }
}

std::byte* PlanRunner::scratch(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  std::byte* const memory = scratch_ + scratch_used_;
  scratch_used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  assert(scratch_used_ <= kScratch);
  return memory;
}

void PlanRunner::wait() {
  const std::size_t receives = std::exchange(receives_, 0);
  for (std::size_t i = 0; i < receives; ++i) {
    const PlanStep& step = awaited_[i];
    int tag = TeamCarrier::kBlockingTag;
    Status received = transport_.receive(team_rank(step.member), tag, step.to, step.bytes);
    if (!received.ok()) return fail(std::move(received), step.member);
  }
  finish_sends();
}

void PlanRunner::finish_sends() {
  const std::size_t sends = std::exchange(sends_, 0);
  for (std::size_t i = 0; i < sends; ++i) {
    const int member = sendings_[i].member;
    Status sent = transport_.finish(sendings_[i]);
    if (!sent.ok() && status_.ok()) status_ = transport_.give_up(std::move(sent), member);
  }
}

void PlanRunner::fail(Status status, int member) {
  receives_ = 0;
  status_ = transport_.give_up(std::move(status), team_rank(member));
  finish_sends();
}

Status PlanRunner::part() {
  // A barrier in which every member goes through all steps and passes on what it has found, even after a
  // failure, so that no member is left waiting. A member that has come here does not give the team up any
  // more.
  //
  // If it succeeds for this member, nobody sends this member anything more: it has received all messages of
  // collectives, because all are complete here, and one message of each partner below. And it has learned,
  // through the members of the barrier, that every member came here while the team had not failed for it.
  RMA_TRY(transport_.usable());  // if this fails, the others were told
  Status status;
  const Plan plan(member_, members_);
  for (int distance = 1; distance < members_; distance *= 2) {
    TeamCarrier::Sending sending;
    const int told_tag = status.ok() ? TeamCarrier::kPartingTag : TeamCarrier::kPartingFailedTag;
    Status told = transport_.start(plan.at(distance), told_tag, nullptr, 0, sending);
    int tag = kAnyTag;
    if (status.ok()) status = transport_.receive(plan.at(-distance), tag, nullptr, 0);
    if (status.ok()) status = std::move(told);
    if (status.ok() && tag == TeamCarrier::kPartingFailedTag) {
      status = {RMA_ERR_PEER_LOST, "another member of this team found one of its members lost"};
    }
    // An empty message never waits for its receive, which a member that has given up does not make.
    if (Status sent = transport_.finish(sending); status.ok()) status = std::move(sent);
  }
  return status;
}

}  // namespace librma
