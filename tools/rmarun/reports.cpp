#include "rmarun/reports.hpp"

#include <unistd.h>

#include <cstdint>
#include <utility>

namespace rmarun {

void Reports::clear_wakeup() {
  uint64_t count = 0;
  // The read fails with EAGAIN if there was no news.
  [[maybe_unused]] const ssize_t got = ::read(wakeup_.get(), &count, sizeof count);
}

Stage Reports::stage(int rank) const {
  const std::lock_guard lock(mutex_);
  return stages_.at(static_cast<size_t>(rank));
}

std::vector<int> Reports::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::vector<AbortRequest> Reports::aborts() const {
  const std::lock_guard lock(mutex_);
  return aborts_;
}

std::vector<SpawnAsked> Reports::take_spawns() {
  const std::lock_guard lock(mutex_);
  return std::exchange(spawns_, {});
}

void Reports::note_spawn(SpawnAsked asked) {
  {
    const std::lock_guard lock(mutex_);
    spawns_.push_back(std::move(asked));
  }
  ring();
}

void Reports::note_stage(int rank, Stage stage) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = static_cast<size_t>(rank);
    if (at >= stages_.size()) return;
    // A rank that has left closes its connection too.
    if (stage == Stage::kLost && (stages_[at] == Stage::kLeft || stages_[at] == Stage::kLost)) return;
    if (stage == Stage::kLost) lost_.push_back(rank);
    stages_[at] = stage;
  }
  ring();
}

void Reports::note_abort(AbortRequest request, std::function<void()> answer) {
  {
    const std::lock_guard lock(mutex_);
    aborts_.push_back(request);
    unanswered_.push_back(std::move(answer));
  }
  ring();
}

void Reports::answer_aborts() {
  std::vector<std::function<void()>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(unanswered_);
  }
  for (const auto& answer : answers) answer();
}

void Reports::ring() const {
  const uint64_t signals = 1;
  // The write fails only if the counter is about to overflow. Then wakeup() is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &signals, sizeof signals);
}

}  // namespace rmarun
