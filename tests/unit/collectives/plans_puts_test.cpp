#include "collectives/schedules/plans_puts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

// One thread executes the plans of all members, in a random order. A flag writes what was put before it at
// once, and a member goes on behind a flag that it awaits when the word is there.

namespace librma {
namespace {

/// The announced memory of one member, and its plan.
struct PuttingMember {
  std::unique_ptr<AllgatherBlock> block = std::make_unique<AllgatherBlock>();
  std::vector<std::byte> result;
  std::vector<PlanStep> steps;
  std::size_t next = 0;
  std::vector<PlanStep> puts;  ///< since the last flag
};

class PuttingTeam {
 public:
  PuttingTeam(int members, std::uint64_t seed) : members_(static_cast<std::size_t>(members)), random_(seed) {}

  /// Makes the plans of one allgather. Steps of up to `most` bytes are copied.
  void plan(std::uint64_t call, std::size_t bytes, std::size_t most, bool ring) {
    for (std::size_t me = 0; me < members_.size(); ++me) {
      PuttingMember& member = members_[me];
      member.result.assign(members_.size() * bytes, std::byte{0xee});
      std::memset(member.result.data() + me * bytes, value(call, me), bytes);
      const AllgatherSteps steps(static_cast<int>(me), static_cast<int>(members_.size()), ring);
      const PutAllgather gather = {.steps = steps,
                                   .copied = steps.first_longer(most, bytes),
                                   .block = member.block.get(),
                                   .call = call,
                                   .dst = member.result.data(),
                                   .bytes = bytes};
      for (std::size_t k = gather.copied; k < gather.announced_end(); ++k)
        gather.part().announcing[gather.slot(k)] = {.card = {.usable = 1}, .call = call};
      Plan plan(static_cast<int>(me), static_cast<int>(members_.size()));
      plan_allgather_puts(plan, gather);
      member.steps.assign(plan.steps().begin(), plan.steps().end());
      member.next = 0;
    }
  }

  /// Returns whether all members come to the end of their plans.
  [[nodiscard]] bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t turn = 0; turn < members_.size(); ++turn)
        moved = advance(members_[random_() % members_.size()]) || moved;
      for (PuttingMember& member : members_) moved = advance(member) || moved;
    }
    return std::ranges::all_of(members_, [](const auto& one) { return one.next == one.steps.size(); });
  }

  [[nodiscard]] bool right(std::uint64_t call, std::size_t bytes) const {
    for (const PuttingMember& member : members_) {
      for (std::size_t i = 0; i < member.result.size(); ++i) {
        if (member.result[i] != static_cast<std::byte>(value(call, i / bytes))) return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::size_t count(PlanStep::Kind kind) const {
    std::size_t found = 0;
    for (const PuttingMember& member : members_)
      found += static_cast<std::size_t>(std::ranges::count(member.steps, kind, &PlanStep::kind));
    return found;
  }

 private:
  [[nodiscard]] static int value(std::uint64_t call, std::size_t member) {
    return static_cast<int>((call * 31 + member * 7) % 200);
  }
  /// Returns the place in `theirs` that corresponds to one of `mine`.
  [[nodiscard]] static std::byte* twin(PuttingMember& mine, PuttingMember& theirs, std::byte* place) {
    auto* const block = reinterpret_cast<std::byte*>(mine.block.get());
    if (place >= block && place < block + sizeof(AllgatherBlock))
      return reinterpret_cast<std::byte*>(theirs.block.get()) + (place - block);
    return theirs.result.data() + (place - mine.result.data());
  }

  bool advance(PuttingMember& member) {
    bool moved = false;
    for (; member.next < member.steps.size(); ++member.next, moved = true) {
      const PlanStep& step = member.steps[member.next];
      PuttingMember& other = members_[static_cast<std::size_t>(step.member)];
      if (step.kind == PlanStep::Kind::put) member.puts.push_back(step);
      if (step.kind == PlanStep::Kind::copy) std::memcpy(step.to, step.from, step.bytes);
      if (step.kind == PlanStep::Kind::flag) {
        for (const PlanStep& put : member.puts) std::memcpy(twin(member, other, put.to), put.from, put.bytes);
        member.puts.clear();
        std::memcpy(twin(member, other, step.to), &step.bytes, sizeof step.bytes);
      }
      if (step.kind != PlanStep::Kind::await_flag) continue;
      std::uint64_t word = 0;
      std::memcpy(&word, step.from, sizeof word);
      if (word < step.bytes) return moved;
    }
    return moved;
  }

  std::vector<PuttingMember> members_;
  std::mt19937_64 random_;
};

class PutPlans : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(PutPlans, OfAllMembersFitTogether) {
  const auto [members, ring] = GetParam();
  constexpr std::size_t kMost = 64;
  PuttingTeam team(members, 7);
  std::uint64_t call = 0;
  for (const std::size_t bytes :
       {std::size_t{1}, kMost / 4, kMost, kMost + 1, std::size_t{1000}, kMost / 2}) {
    team.plan(++call, bytes, kMost, ring);
    ASSERT_TRUE(team.run()) << bytes;
    ASSERT_TRUE(team.right(call, bytes)) << bytes;
    // A member awaits each flag that is raised to it, and in a ring the one announcement before each step.
    const auto all = static_cast<std::size_t>(members);
    EXPECT_EQ(team.count(PlanStep::Kind::await_flag),
              ring ? all * (all - 1) * 2 : team.count(PlanStep::Kind::flag))
        << bytes;
  }
}

TEST(PutPlan, HasAFlagForEachStepAndOneForEachAnnouncement) {
  // Four members: two steps, of one block and of two.
  PuttingTeam team(4, 7);
  team.plan(1, 16, 64, false);
  EXPECT_EQ(team.count(PlanStep::Kind::flag), 4U * 2U);
  EXPECT_EQ(team.count(PlanStep::Kind::put), 4U * 2U);
  team.plan(2, 64, 64, false);  // the second step goes from result to result, and is announced
  EXPECT_EQ(team.count(PlanStep::Kind::flag), 4U * 3U);
  team.plan(3, 64, 64, true);  // three steps, and one announcement
  EXPECT_EQ(team.count(PlanStep::Kind::flag), 4U * 4U);
}

INSTANTIATE_TEST_SUITE_P(Teams, PutPlans,
                         testing::Combine(testing::Values(2, 3, 4, 5, 7, 8, 13, 30), testing::Bool()));

}  // namespace
}  // namespace librma
