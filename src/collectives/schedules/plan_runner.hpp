#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "collectives/members/host_map.hpp"
#include "collectives/schedules/plan.hpp"
#include "collectives/schedules/team_carrier.hpp"
#include "rma/collectives.h"
#include "util/status.hpp"

namespace librma {

/// Executes blocking collective operations by messages: each step of a plan at once, when the plan adds it.
/// So neither a list of steps nor requests are needed, and a call allocates no memory. That is why Schedule
/// is not the only executor: it returns wherever it would wait, and so keeps the steps and their requests.
///
/// Why no member waits for ever: a step between two waits starts all its sends before it receives, and a wait
/// comes at the same place of the plans of both partners. A failure ends all waits, as TeamCarrier says.
///
/// One thread at a time uses it. The class knows no job: a member may also be a thread.
class PlanRunner final : private PlanExecutor {
 public:
  /// The memory that it needs, aligned to 64 bytes.
  static constexpr std::size_t kScratch = kMostScratch;

  /// The arguments outlive the object.
  /// @param transport  of the team
  /// @param scratch    kScratch bytes
  /// @param leaders    not null: the members are the leaders of these hosts, and have the hosts' numbers
  PlanRunner(TeamCarrier& transport, int member, int members, std::byte* scratch,
             const HostMap* leaders = nullptr)
      : transport_(transport), member_(member), members_(members), scratch_(scratch), leaders_(leaders) {}

  /// Executes an operation for which EngineTable has this engine: its plan has few messages at once and
  /// little scratch. Its arguments were checked.
  [[nodiscard]] Status run(const rma_collective_t& collective);
  /// Executes plan_allgather_blocks().
  [[nodiscard]] Status allgather_blocks(std::byte* all, std::span<const std::size_t> offsets);

  /// Ends the use of the team. Every member calls it last, also a member for which the team has failed. After
  /// success no message for this member is on its way any more, and none will be; after a failure one might.
  [[nodiscard]] Status part();

 private:
  /// The most sends and receives between two waits: those of a tree, and of blocks that go on at the
  /// beginning.
  static constexpr std::size_t kMostSends = 32;
  static constexpr std::size_t kMostReceives = 2;

  template <typename Make>
  [[nodiscard]] Status run_plan(const Make& make);
  void execute(const PlanStep& step) override;
  [[nodiscard]] std::byte* scratch(std::size_t bytes) override;
  /// Receives what was asked for, and then waits for the sends.
  void wait();
  void finish_sends();
  /// Gives the team up. The others are told before this member waits for its sends to them.
  void fail(Status status, int member);
  [[nodiscard]] int team_rank(int member) const {
    return leaders_ == nullptr ? member : leaders_->leader_of(member);
  }

  TeamCarrier& transport_;
  const int member_;
  const int members_;
  std::byte* const scratch_;
  const HostMap* const leaders_;
  // The state of one operation.
  rma_reducer_t reducer_ = {};
  std::size_t scratch_used_ = 0;
  Status status_;
  std::size_t sends_ = 0;
  std::size_t receives_ = 0;
  std::array<TeamCarrier::Sending, kMostSends> sendings_;
  std::array<PlanStep, kMostReceives> awaited_;
};

}  // namespace librma
