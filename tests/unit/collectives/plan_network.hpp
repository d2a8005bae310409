#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "collectives/schedules/plan.hpp"
#include "rma/collectives.h"

// Executes the plans of all members of a team in one thread, in a random order.

namespace librma::testing_plans {

/// A send and its receive have ended when both were started and the network has carried the message, at any
/// time after that: so a member that uses a buffer too early, or waits for a send that nobody receives, is
/// found out.
class PlanNetwork {
 public:
  PlanNetwork(std::vector<Plan>& plans, const rma_reducer_t& reducer, std::uint64_t seed)
      : plans_(plans), reducer_(reducer), random_(seed), next_(plans.size()), open_(plans.size()) {}

  /// Returns whether all members have come to the end of their plans, and no message is left over.
  [[nodiscard]] bool run() {
    while (true) {
      bool moved = carry_one();
      bool all = true;
      for (std::size_t turn = 0; turn < plans_.size(); ++turn) {
        moved = advance(random_() % plans_.size()) || moved;
      }
      for (std::size_t member = 0; member < plans_.size(); ++member) {
        moved = advance(member) || moved;
        all = all && next_[member] == plans_[member].steps().size() && open_[member] == 0;
      }
      if (all) return left_over() == 0;
      if (!moved) return false;
    }
  }

 private:
  struct Pair {
    std::deque<PlanStep> sends;
    std::deque<PlanStep> receives;
  };

  bool advance(std::size_t member) {
    const std::span<const PlanStep> steps = plans_[member].steps();
    bool moved = false;
    for (; next_[member] < steps.size(); ++next_[member]) {
      const PlanStep& step = steps[next_[member]];
      const auto me = static_cast<int>(member);
      switch (step.kind) {
        case PlanStep::Kind::send:
          pairs_[{me, step.member}].sends.push_back(step);
          ++open_[member];
          break;
        case PlanStep::Kind::receive:
          pairs_[{step.member, me}].receives.push_back(step);
          ++open_[member];
          break;
        case PlanStep::Kind::wait:
          if (open_[member] != 0) return moved;
          break;
        case PlanStep::Kind::copy:
          std::memcpy(step.to, step.from, step.bytes);
          break;
        case PlanStep::Kind::reduce:
          reducer_.combine(step.from, step.to, step.bytes, reducer_.context);
          break;
        case PlanStep::Kind::compare:
        case PlanStep::Kind::put:
        case PlanStep::Kind::flag:
        case PlanStep::Kind::await_flag:
          break;
      }
      moved = true;
    }
    return moved;
  }

  /// Carries one of the messages whose send and receive were started.
  bool carry_one() {
    std::vector<std::pair<int, int>> ready;
    for (const auto& [members, pair] : pairs_) {
      if (!pair.sends.empty() && !pair.receives.empty()) ready.push_back(members);
    }
    if (ready.empty()) return false;
    const std::pair<int, int> chosen = ready[random_() % ready.size()];
    Pair& pair = pairs_[chosen];
    const PlanStep send = pair.sends.front();
    const PlanStep receive = pair.receives.front();
    pair.sends.pop_front();
    pair.receives.pop_front();
    EXPECT_EQ(send.bytes, receive.bytes) << "from " << chosen.first << " to " << chosen.second;
    if (send.bytes != 0) std::memcpy(receive.to, send.from, std::min(send.bytes, receive.bytes));
    --open_[static_cast<std::size_t>(chosen.first)];
    --open_[static_cast<std::size_t>(chosen.second)];
    return true;
  }

  [[nodiscard]] std::size_t left_over() const {
    std::size_t left = 0;
    for (const auto& [members, pair] : pairs_) left += pair.sends.size() + pair.receives.size();
    return left;
  }

  std::vector<Plan>& plans_;
  const rma_reducer_t reducer_;
  std::mt19937_64 random_;
  std::vector<std::size_t> next_;
  std::vector<int> open_;
  std::map<std::pair<int, int>, Pair> pairs_;
};

}  // namespace librma::testing_plans
