#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "collectives/buffers.hpp"
#include "collectives/exchange.hpp"
#include "core/job.hpp"
#include "util/status.hpp"

namespace rma {

class TeamBoard;

/// An ordered subset of the job's ranks, as this process, one of them, sees it. A collective call on a team
/// is made by one thread of each member, in the same order everywhere; different teams, overlapping or not,
/// may be used by different threads at the same time.
///
/// The handle of the C interface, `struct rma_team*`, is the address of a Team: see team_handle().
class Team {
 public:
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// This process's place, 0 to size() - 1.
  [[nodiscard]] int rank() const { return exchange_.member(); }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  /// World ranks by team rank.
  [[nodiscard]] std::span<const int> ranks() const { return ranks_; }
  [[nodiscard]] int world_rank(int team_rank) const { return ranks_[static_cast<std::size_t>(team_rank)]; }
  /// The same number on all members, and no other team's of this job.
  [[nodiscard]] std::uint64_t id() const { return block_.id; }
  /// The collectives themselves; collectives.hpp counts and names them.
  [[nodiscard]] Exchange& exchange() { return exchange_; }

 private:
  friend class Teams;
  Team(const Job& job, std::vector<int> ranks, int rank, TeamBlock& block)
      : ranks_(std::move(ranks)),
        block_(block),
        buffers_(job, ranks_),
        exchange_(block, rank, job.wait_policy(), buffers_) {}

  const std::vector<int> ranks_;
  TeamBlock& block_;  ///< shared by the members; lies in the first one's internal memory
  TeamBuffers buffers_;
  Exchange exchange_;
};

/// A Team as the C interface hands it out, and back.
inline rma_team_t team_handle(Team* team) { return reinterpret_cast<rma_team_t>(team); }
inline Team* team_of(rma_team_t handle) { return reinterpret_cast<Team*>(handle); }

/// All teams that this process is a member of. Thread-safe.
///
/// A team's members find each other on the *board* of the first one: it posts what team it makes and where
/// the team's block lies, each member takes note, and nobody leaves before all have. A first member without
/// memory posts that instead, so that all members fail alike.
class Teams {
 public:
  /// Before Job::connect: provides the board, and on rank 0 the world team's block. RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Teams>> create(Job& job);

  /// After Job::connect: makes the world team. Local.
  [[nodiscard]] Status start();

  /// Returns when every process of the job has called it, and so looks at nobody's memory through a team any
  /// more: what a barrier cannot say, in which some may still be looking when others have left. Collective
  /// over the job, after the last use of all teams and before the job's end.
  [[nodiscard]] Status stop();

  ~Teams();
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  [[nodiscard]] Team* world() const { return world_.get(); }

  /// A team of the listed world ranks, in that order. Called by exactly these, each with the same list.
  /// Without communication: RMA_ERR_ARGUMENT for an empty list or a rank listed twice, RMA_ERR_RANK for one
  /// that does not exist or when this process is not listed, RMA_ERR_UNSUPPORTED when a rank's memory is not
  /// mapped here. On all members alike: RMA_ERR_NO_MEMORY.
  [[nodiscard]] Result<Team*> create(std::span<const int> ranks);

  /// Members of `parent` with the same `color` (0 or above) form a team, by `key`, then by parent rank; null
  /// for a negative color. Collective over `parent`. RMA_ERR_NO_MEMORY on all members of a color.
  [[nodiscard]] Result<Team*> split(Team& parent, int color, int key);

  /// Collective over the team. RMA_ERR_ARGUMENT, at once, for the world team.
  [[nodiscard]] Status free(Team* team);

  /// Whether `team`, any pointer, is a team that exists. Never looks at what it points to.
  [[nodiscard]] bool valid(const Team* team) const {
    if (team == world_.get()) return team != nullptr;
    const Known& known = this_threads_known;
    if (team == known.team && known.epoch == epoch.load(std::memory_order_acquire)) return true;
    return find(team);
  }

 private:
  /// A team that find() found, true as long as no team has come or gone since.
  struct Known {
    const Team* team = nullptr;
    std::uint64_t epoch = 0;
  };
  static constinit thread_local Known this_threads_known;
  /// Counts teams come and gone in this process, also by Teams before this one. Acquire loads in valid() pair
  /// with the releasing increments in add() and remove().
  static constinit std::atomic<std::uint64_t> epoch;

  Teams(Job& job, TeamBoard& board) : job_(job), board_(board) {}
  [[nodiscard]] bool find(const Team* team) const;
  [[nodiscard]] Status check(std::span<const int> ranks) const;
  [[nodiscard]] Result<Team*> join(std::vector<int> ranks);
  [[nodiscard]] TeamBoard& board_of(int rank) const;
  /// Collective. No member looks at the block any more when the first one's call frees it.
  [[nodiscard]] Status leave(Team& team);
  Team* add(std::unique_ptr<Team> team);
  void remove(Team* team);

  Job& job_;
  TeamBoard& board_;
  std::unique_ptr<Team> world_;
  std::atomic<std::uint32_t> made_ = 0;  ///< teams whose first member this process has been
  mutable std::shared_mutex mutex_;      ///< of the map
  std::unordered_map<const Team*, std::unique_ptr<Team>> teams_;  ///< without the world
};

}  // namespace rma
