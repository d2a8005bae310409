#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/members/buffers.hpp"
#include "collectives/members/host_map.hpp"
#include "collectives/members/internal_memory.hpp"
#include "collectives/members/roster.hpp"
#include "collectives/schedules/plan_runner.hpp"
#include "collectives/schedules/team_carrier.hpp"
#include "collectives/shared_memory/exchange.hpp"
#include "collectives/shared_memory/hierarchical_exchange.hpp"
#include "core/job/job.hpp"
#include "util/rank_map.hpp"
#include "util/status.hpp"

namespace librma {

/// Knows which members of a team are on this host, and which of them have ended. A member that waits for
/// another one of its host also stops to wait if the team was given up anywhere: the other one may have
/// learned that and not have come. Such a team counts as one whose members have all ended. (That is only
/// right where a member that stops closes the round for all: Rounds of teams that are not flat.)
class HostRoster final : public Roster {
 public:
  /// `ranks` are the world ranks of the members, and `id` is the team's. `given_up` returns the team's
  /// failure if it was given up.
  HostRoster(const Job& job, RankView ranks, const std::uint64_t& id, std::function<Status()> given_up)
      : processes_(job, ranks, &id), given_up_(std::move(given_up)) {}

  [[nodiscard]] bool ended(int member) const override {
    return processes_.ended(member) || !given_up_().ok();
  }
  [[nodiscard]] Status lost(int member) const override {
    if (processes_.ended(member)) return processes_.lost(member);
    Status status = given_up_();
    return !status.ok() ? std::move(status) : processes_.lost(member);
  }
  [[nodiscard]] int rank_of(int member) const override { return processes_.rank_of(member); }
  void name_team(WaitNote& note) const override { processes_.name_team(note); }

 private:
  TeamRoster processes_;
  const std::function<Status()> given_up_;
};

/// The state of one member of a team on several hosts for hierarchical collectives (HierarchicalExchange).
///
/// The members open it together at their first blocking collective (Teams::meet). First the members of each
/// host meet in a block of their leader. Then all members tell each other their leaders, in the way that the
/// team has without a hierarchy. If some member lacks memory, or no host has two members, none uses a
/// hierarchy.
class TeamHierarchy {
 public:
  /// The value that a member without memory sends to the others.
  static constexpr std::int32_t kNoMemory = -1;

  /// Needs all memory that a member must have to tell the others whether it has the rest. Throws
  /// std::bad_alloc. @param ranks     world ranks by member; they outlive the object, as all arguments do,
  /// and do not move @param id        the team's, which may change until the members meet @param given_up
  /// returns the team's failure if the team was given up
  TeamHierarchy(Job& job, RankView ranks, int member, const std::uint64_t& id,
                std::function<Status()> given_up);
  ~TeamHierarchy() = default;
  TeamHierarchy(const TeamHierarchy&) = delete;
  TeamHierarchy& operator=(const TeamHierarchy&) = delete;

  /// Returns the world ranks of the members of this host, in the order of the team.
  [[nodiscard]] std::span<const int> mates() const { return mates_; }
  [[nodiscard]] bool alone() const { return mates_.size() == 1; }
  [[nodiscard]] const Roster& roster() const { return roster_; }
  /// Returns the room for what all members tell: the first member of each one's host, or kNoMemory.
  [[nodiscard]] std::span<std::int32_t> leaders() { return leaders_; }
  /// Returns the first member of this host.
  [[nodiscard]] std::int32_t leader() const { return leader_; }

  /// Takes the memory that this member needs. RMA_ERR_NO_MEMORY, or throws std::bad_alloc.
  [[nodiscard]] Status provide();
  /// Lets the members of this host meet in `block`. Throws std::bad_alloc.
  void meet_in(TeamBlock& block, const HostMemory& host, ScratchPool& scratch);
  /// Decides by leaders() whether the members use a hierarchy, and opens it if they do.
  /// @param team     reaches all members, by member
  /// @param scratch  that of the team's PlanRunner, which is not used at the same time
  [[nodiscard]] bool open(TeamCarrier& team, std::byte* scratch);

  [[nodiscard]] Status run(const rma_collective_t& collective) { return exchange_->run(collective); }
  [[nodiscard]] const HostMap& hosts() const { return hosts_; }

 private:
  Job& job_;
  const int member_;
  std::int32_t leader_ = 0;
  HostMap hosts_;
  std::vector<int> mates_;
  std::vector<std::int32_t> leaders_;  ///< by member
  HostRoster roster_;
  std::optional<TeamBuffers> buffers_;
  std::optional<SharedExchange> within_;
  std::optional<PlanRunner> between_;
  InternalMemory scratch_;  ///< that of exchange_
  std::optional<HierarchicalExchange> exchange_;
};

}  // namespace librma
