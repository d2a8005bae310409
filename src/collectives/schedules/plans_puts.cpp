#include "collectives/schedules/plans_puts.hpp"

namespace librma {
namespace {

/// Tells the senders of the steps that are not copied where this member's result is.
void plan_announcements(Plan& plan, const PutAllgather& call) {
  for (std::size_t k = call.copied; k < call.announced_end(); ++k) {
    const int sender = call.steps.step(k).from;
    const AllgatherBlock::Announcement& mine = call.part().announcing[call.slot(k)];
    AllgatherBlock::Announcement& theirs = call.part().announced[call.slot(k)];
    plan.put(sender, reinterpret_cast<std::byte*>(&theirs.card),
             reinterpret_cast<const std::byte*>(&mine.card), sizeof mine.card);
    plan.raise(sender, theirs.call, call.call);
  }
}

void plan_copied_step(Plan& plan, const PutAllgather& call, std::size_t k) {
  const AllgatherSteps& steps = call.steps;
  const AllgatherStep step = steps.step(k);
  std::byte* const buffer = call.part().buffer.data();
  std::uint64_t& arrived = call.block->arrived[k];
  const std::uint64_t value = AllgatherBlock::arrival(call.call, k);
  plan.put(step.to, buffer + steps.landing(k, call.copied) * call.bytes,
           buffer + steps.place(step.out_first, call.copied) * call.bytes, step.count * call.bytes);
  plan.raise(step.to, arrived, value);
  plan.await_flag(step.from, arrived, value);
  const std::byte* from = buffer + steps.place(step.in_first, call.copied) * call.bytes;
  const BlockRanges ranges(step.in_first, step.count, static_cast<std::size_t>(plan.members()), call.bytes);
  for (const auto& range : ranges.all()) {
    plan.copy(call.dst + range.offset, from, range.bytes);
    from += range.bytes;
  }
}

void plan_zero_copy_step(Plan& plan, const PutAllgather& call, std::size_t k) {
  const AllgatherStep step = call.steps.step(k);
  const std::size_t slot = call.slot(k);
  const auto all = static_cast<std::size_t>(plan.members());
  std::uint64_t& arrived = call.block->arrived[slot];
  const std::uint64_t value = AllgatherBlock::arrival(call.call, k);
  const bool refused = call.part().announcing[slot].card.usable == 0;
  // Receives are posted before this member waits for anybody.
  if (refused) {
    const BlockRanges ranges(step.in_first, step.count, all, call.bytes);
    for (const auto& range : ranges.all()) plan.receive(step.from, call.dst + range.offset, range.bytes);
  }
  plan.await_flag(step.to, call.part().announced[slot].call, call.call);
  const BlockRanges ranges(step.out_first, step.count, all, call.bytes);
  for (const auto& range : ranges.all())
    plan.put(step.to, call.dst + range.offset, call.dst + range.offset, range.bytes);
  plan.raise(step.to, arrived, value);
  if (!refused) plan.await_flag(step.from, arrived, value);
  plan.wait();
}

}  // namespace

void plan_allgather_puts(Plan& plan, const PutAllgather& call) {
  plan_announcements(plan, call);
  if (call.copied > 0) {
    const auto me = static_cast<std::size_t>(plan.member());
    plan.copy(call.part().buffer.data() + call.steps.place(me, call.copied) * call.bytes,
              call.dst + me * call.bytes, call.bytes);
  }
  for (std::size_t k = 0; k < call.steps.number(); ++k) {
    k < call.copied ? plan_copied_step(plan, call, k) : plan_zero_copy_step(plan, call, k);
  }
}

}  // namespace librma
