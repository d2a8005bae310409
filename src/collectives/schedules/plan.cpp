#include "collectives/schedules/plan.hpp"

#include <algorithm>
#include <utility>

namespace librma {

std::size_t Plan::most_at_once() const {
  std::size_t most = 0;
  std::size_t now = 0;
  for (const PlanStep& step : steps_) {
    if (step.kind == PlanStep::Kind::wait) now = 0;
    if (step.kind == PlanStep::Kind::send || step.kind == PlanStep::Kind::receive)
      most = std::max(most, ++now);
  }
  return most;
}

void Plan::append(Plan part, std::span<const int> members) {
  steps_.reserve(steps_.size() + part.steps_.size());
  for (PlanStep step : part.steps_) {
    if (step.kind == PlanStep::Kind::send || step.kind == PlanStep::Kind::receive)
      step.member = members[static_cast<std::size_t>(step.member)];
    steps_.push_back(step);
  }
  scratch_.reserve(scratch_.size() + part.scratch_.size());
  for (auto& memory : part.scratch_) scratch_.push_back(std::move(memory));
}

std::byte* Plan::scratch(std::size_t bytes) {
  if (executor_ != nullptr) return executor_->scratch(bytes);
  scratch_.reserve(scratch_.size() + 1);
  scratch_.emplace_back(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), kAlignment)));
  return scratch_.back().get();
}

}  // namespace librma
