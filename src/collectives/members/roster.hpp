#pragma once

#include <cstdint>

#include "core/job/job.hpp"
#include "util/rank_map.hpp"
#include "util/status.hpp"
#include "util/text.hpp"
#include "util/waiting/wait_note.hpp"

namespace librma {

/// Knows which members of a team that meets in memory have ended.
class Roster {
 public:
  Roster() = default;
  Roster(const Roster&) = delete;
  Roster& operator=(const Roster&) = delete;
  virtual ~Roster() = default;

  /// Returns whether `member` has ended. If so, everything that it has stored is visible here. Costs a system
  /// call.
  [[nodiscard]] virtual bool ended(int member) const = 0;
  /// Returns RMA_ERR_PEER_LOST for a team that cannot go on without `member`.
  [[nodiscard]] virtual Status lost(int member) const = 0;

  /// Returns the rank of `member` in the job.
  [[nodiscard]] virtual int rank_of(int member) const { return member; }
  /// Says which team meets, if it is known.
  virtual void name_team(WaitNote& /*note*/) const {}

  static constexpr int kNobody = -1;
  /// Returns the first of the members from, from + 1 ... end - 1 that has ended, or kNobody.
  [[nodiscard]] int first_ended(int from, int end) const {
    for (int member = from; member < end; ++member) {
      if (ended(member)) return member;
    }
    return kNobody;
  }
};

/// The roster of a team whose members are processes of this host.
class TeamRoster final : public Roster {
 public:
  /// `ranks` are the world ranks by team rank, and `id` is the id of the team, which is null before the team
  /// has one. They outlive this and do not move.
  TeamRoster(const Job& job, RankView ranks, const std::uint64_t* id) : job_(job), ranks_(ranks), id_(id) {}

  [[nodiscard]] bool ended(int member) const override { return job_.ended(world_rank(member)); }
  [[nodiscard]] Status lost(int member) const override {
    return {RMA_ERR_PEER_LOST,
            text("{}: the team is of no more use; free it, and make one of the ranks that are left",
                 job_.lost(world_rank(member)).text())};
  }
  [[nodiscard]] int world_rank(int member) const { return ranks_[member]; }
  [[nodiscard]] int rank_of(int member) const override { return world_rank(member); }
  void name_team(WaitNote& note) const override {
    if (id_ != nullptr) note.team = *id_;
  }

 private:
  const Job& job_;
  const RankView ranks_;
  const std::uint64_t* const id_;
};

}  // namespace librma
