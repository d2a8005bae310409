#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/members/buffers.hpp"
#include "collectives/members/internal_memory.hpp"
#include "collectives/members/rank_set.hpp"
#include "collectives/members/roster.hpp"
#include "collectives/schedules/plan_runner.hpp"
#include "collectives/schedules/schedule_contexts.hpp"
#include "collectives/schedules/schedules.hpp"
#include "collectives/shared_memory/exchange.hpp"
#include "collectives/team/agreement.hpp"
#include "collectives/team/engine_table.hpp"
#include "collectives/team/team_allgather.hpp"
#include "collectives/team/team_hierarchy.hpp"
#include "collectives/team/team_registry.hpp"
#include "collectives/team/turns.hpp"
#include "core/job/job.hpp"
#include "messages/messages.hpp"
#include "util/handle.hpp"
#include "util/rank_map.hpp"
#include "util/status.hpp"

namespace librma {

class Teams;

/// An ordered subset of the job's ranks, as this process, one of its members, sees it. One thread of each
/// member makes a collective call on a team, and all members make their calls in the same order. Different
/// threads may use different teams at the same time, also teams that overlap.
///
/// If all members are on this host, they meet in memory that all have mapped, by an Exchange. Otherwise they
/// send each other messages. Nonblocking collectives are schedules. An attached team is made without
/// communication. Its members meet at their first blocking collective, if all are on this host and have
/// memory for it. At their first blocking collective the members of a team on several hosts also open a
/// TeamHierarchy, which then executes the collectives that it can.
class Team {
 public:
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Returns this process's place, 0 to size() - 1.
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return ranks_->size(); }
  /// Returns the world ranks by team rank.
  [[nodiscard]] const RankView& ranks() const { return ranks_->view(); }
  [[nodiscard]] int world_rank(int team_rank) const { return (*ranks_)[team_rank]; }
  /// Returns the handle of the team in the C interface. Teams::find() returns the team of a handle.
  [[nodiscard]] rma_team_t handle() const { return handle_; }
  /// Returns the team's id. It is the same on all members, and differs from that of every other team of this
  /// job.
  [[nodiscard]] std::uint64_t id() const { return id_; }

  [[nodiscard]] bool attached() const { return attached_; }

  /// Executes a collective operation by the engine that the team's EngineTable has for it, or by messages if
  /// that finds no memory or no way.
  [[nodiscard]] Status run(const rma_collective_t& collective);
  /// Executes a barrier, as run() does.
  [[nodiscard]] Status barrier();
  /// Returns the memory in which all members meet. Returns null if they do not, or have not met yet, or
  /// compare their calls. A caller that has it may execute operations there without this class, and counts
  /// them.
  [[nodiscard]] SharedExchange* meeting() {
    return exchange_ != std::nullopt && (teams_ == nullptr || met_) && !checks() ? &*exchange_ : nullptr;
  }
  /// Returns whether the members compare their calls (RMA_CHECK_COLLECTIVES). A blocking call does so by
  /// check() first.
  [[nodiscard]] bool checks() const {
    return schedules_ != nullptr && schedules_->checks() && channel_ != nullptr;
  }
  [[nodiscard]] Status check(const rma_collective_t& collective) {
    return schedules_->check(channel_, collective);
  }
  /// Executes a collective operation by messages, even if the team has another way.
  [[nodiscard]] Status run_by_messages(const rma_collective_t& collective);
  /// Returns the channel of the team's schedules, or null.
  [[nodiscard]] const std::shared_ptr<ScheduleChannel>& channel() const { return channel_; }
  /// These plan and start a collective operation as a schedule; see Schedules.
  [[nodiscard]] Result<std::shared_ptr<const PlannedCollective>> plan(const rma_collective_t& collective) {
    if (channel_ == nullptr) return no_channel();
    return schedules_->plan(channel_, collective);
  }
  [[nodiscard]] Status start(const rma_collective_t& collective, rma_request_t* request) {
    return channel_ == nullptr ? no_channel() : schedules_->start(channel_, collective, request);
  }

 private:
  friend class Teams;

  /// The objects that the teams of this process share.
  struct Shared {
    Job* job = nullptr;
    HostMemory host;
    std::unique_ptr<ScratchPool> scratch;
  };

  Team(const Job& job, const Shared& shared, std::vector<int> ranks, int rank, std::uint64_t id)
      : shared_(shared),
        ranks_(std::make_shared<const RankMap>(std::move(ranks))),
        rank_(rank),
        id_(id),
        engines_({.members = ranks_->size(), .hosts = ranks_->size()}, job.settings().allgather),
        buffers_(job, ranks_->view(), shared.host, *shared.scratch),
        roster_(job, ranks_->view(), &id_) {}
  Team(const Job& job, const Shared& shared, std::vector<int> ranks, int rank, TeamBlock& block)
      : Team(job, shared, std::move(ranks), rank, block.id) {
    meet_in(job, block);
  }
  /// Lets the members meet in `block`. Throws std::bad_alloc.
  void meet_in(const Job& job, TeamBlock& block) {
    exchange_.emplace(block, rank_, job.wait_policy(), buffers_, roster_);
    engines_ = EngineTable({.members = size(), .in_memory = true}, job.settings().allgather);
    block_ = &block;
  }
  /// Gives the team the context of its schedules, unless that is 0. Throws std::bad_alloc.
  void open_schedules(const Job& job, Messages& messages, Schedules& schedules, Accumulator& accumulator,
                      std::uint32_t context) {
    schedules_ = &schedules;
    rdma_allgather_.enable(accumulator, messages);
    if (context != 0) channel_ = std::make_shared<ScheduleChannel>(job, messages, ranks_, rank_, context);
  }
  [[nodiscard]] Status run_by_messages(const rma_collective_t& collective, Engine engine);
  /// Takes the memory for run_by_messages(), which may also be called later. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status prepare_messages();
  /// Returns success if a team on several hosts is usable as far as this member knows. If not, it passes that
  /// on.
  [[nodiscard]] Status usable() { return channel_ == nullptr ? no_channel() : channel_->usable(); }
  [[nodiscard]] static Status no_channel() {
    return {RMA_ERR_NO_MEMORY, "the first rank of this team has made too many teams: free some of them"};
  }

  const Shared& shared_;
  // The handle is only compared, never dereferenced.
  const rma_team_t handle_ =
      reinterpret_cast<rma_team_t>(new_handle(HandleKind::team));  // NOLINT(performance-no-int-to-ptr)
  const std::shared_ptr<const RankMap> ranks_;                     ///< world ranks
  const int rank_;
  std::uint64_t id_;          ///< between hosts it is known once all members have agreed
  std::uint64_t splits_ = 0;  ///< number of splits of this team so far
  Teams* teams_ = nullptr;    ///< of a team whose members meet at their first blocking collective
  bool attached_ = false;
  bool met_ = false;  ///< they have met, or could not
  EngineTable engines_;
  TeamBlock* block_ =
      nullptr;  ///< shared by the members of this host; lies in the first one's internal memory
  TeamBuffers buffers_;
  TeamRoster roster_;
  std::optional<SharedExchange> exchange_;
  InternalMemory scratch_;                    ///< of runner_
  std::optional<PlanRunner> runner_;          ///< none before the first operation by messages
  std::unique_ptr<TeamHierarchy> hierarchy_;  ///< null if the members use none, as far as this one knows
  Schedules* schedules_ = nullptr;
  std::shared_ptr<ScheduleChannel> channel_;  ///< null if the team has no context for schedules
  std::uint32_t drawn_ = 0;                   ///< that context, if this member has drawn it
  TeamAllgather rdma_allgather_;
};

/// All teams that this process is a member of. Thread-safe.
///
/// The members of a new team find each other by its TeamKey, in the *registry* of the first member. The first
/// member posts the team and the place of its block, and each other member takes the posting. No member goes
/// on before all have. If the first member has no memory, it posts that instead, so that all members fail
/// alike. Members on several hosts find each other by an Agreement.
class Teams {
 public:
  /// Provides the registry and this process's memory for the world team. Called before Job::connect.
  /// RMA_ERR_NO_MEMORY.
  [[nodiscard]] static Result<std::unique_ptr<Teams>> create(Job& job);

  /// Makes the world team. Local; called after Job::connect. `messages`, which carries what the members of
  /// teams on several hosts send each other, and `schedules` outlive all teams.
  /// `host` reaches memory of this host that is not mapped here.
  /// `accumulator`, whose atomics and paths allgathers use, outlives all teams too.
  [[nodiscard]] Status start(Messages& messages, Schedules& schedules, Accumulator& accumulator,
                             HostMemory host);

  /// Returns when every process of the job has called it. From then on no process accesses another's memory
  /// through a team. (A barrier does not guarantee that: some processes may still access memory in it when
  /// others have left it.) Collective over the job, after the last use of all teams and before the job's end.
  /// Returns RMA_ERR_PEER_LOST at once if a process of this host has ended before.
  [[nodiscard]] Status stop();

  ~Teams();
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  [[nodiscard]] Team* world() const { return world_.get(); }

  /// Creates a team of the listed world ranks, in that order. Exactly these ranks call it, each with the same
  /// list. If several threads of a member call with one list, each gets a team with one of the threads of
  /// every other member.
  ///
  /// Returns without communication: RMA_ERR_ARGUMENT for an empty list or a rank that is listed twice;
  /// RMA_ERR_RANK for a rank that does not exist, or if this process is not listed. On all members alike:
  /// RMA_ERR_NO_MEMORY. RMA_ERR_PEER_LOST.
  [[nodiscard]] Result<Team*> create(std::span<const int> ranks);

  /// Splits `parent`: members with the same `color` (0 or above) form a team, ordered by `key` and then by
  /// parent rank. Returns null for a negative color. Collective over `parent`. RMA_ERR_NO_MEMORY on all
  /// members of a color; RMA_ERR_PEER_LOST.
  [[nodiscard]] Result<Team*> split(Team& parent, int color, int key);

  /// Makes an attached team of the listed world ranks, which agree on the list and on `context`, a number up
  /// to RMA_CONTEXT_LAST. Local. RMA_ERR_ARGUMENT and RMA_ERR_RANK as create().
  [[nodiscard]] Result<Team*> attach(std::span<const int> ranks, std::uint32_t context);

  /// Lets the members of a team meet at their first blocking collective: those of an attached team in memory
  /// if they can, those of a team on several hosts by their hosts. Collective over the team.
  /// RMA_ERR_PEER_LOST.
  [[nodiscard]] Status meet(Team& team);

  /// Frees a team. Collective over the team, unless it is attached. Returns RMA_ERR_ARGUMENT at once for the
  /// world team. After RMA_ERR_PEER_LOST the team is gone too.
  [[nodiscard]] Status free(Team* team);

  /// Calls `use` with the team that has this id, or else this context for messages of its collectives.
  /// Returns whether there is one. Waits for no lock: returns false while teams are made or freed.
  bool with_team(std::optional<std::uint64_t> id, std::optional<std::uint32_t> context,
                 const std::function<void(const Team&)>& use) const;

  /// Returns the team of `handle`, which may be any value, or null if there is none or it was freed.
  [[nodiscard]] Team* find(rma_team_t handle) const {
    if (handle == world_handle_) return world_.get();
    const Known& known = this_threads_known;
    if (handle == known.handle && known.epoch == epoch.load(std::memory_order_acquire)) return known.team;
    return look_up(handle);
  }

 private:
  /// A team that look_up() has found. It is valid as long as no team was made or freed since.
  struct Known {
    rma_team_t handle = nullptr;
    Team* team = nullptr;
    std::uint64_t epoch = 0;
  };
  static constinit thread_local Known this_threads_known;
  /// Counts the teams that were made or freed in this process, also by Teams before this one. Acquire loads
  /// in find() pair with the releasing increments in add(), remove() and ~Teams().
  static constinit std::atomic<std::uint64_t> epoch;

  /// The layout of the block of Service::teams: a TeamRegistry and, on rank 0 of a job on one host, the world
  /// team's TeamBlock.
  static constexpr std::size_t kBehindRegistry = sizeof(TeamRegistry);

  Teams(Job& job, TeamRegistry& registry)
      : job_(job), registry_(registry), contexts_(job.rank(), job.size()), listed_(job.size()) {}
  [[nodiscard]] Team* look_up(rma_team_t handle) const;
  [[nodiscard]] static TeamShape shape_for(const Job& job, std::size_t members, std::uint64_t id,
                                           std::uint32_t schedules);
  /// Returns the shape of the block of the members of one host, if a team has others on other hosts.
  [[nodiscard]] static TeamShape shape_within_host(const Job& job, std::size_t members, std::uint64_t id);
  [[nodiscard]] Status check(std::span<const int> ranks) const;
  /// Returns whether the members meet in memory that all of them have mapped.
  [[nodiscard]] bool meet_in_memory(const RankView& ranks) const;
  [[nodiscard]] Result<Team*> join(std::span<const int> ranks, const TeamOrigin& origin);
  [[nodiscard]] Result<Team*> join_in_memory(const TeamKey& key, std::span<const int> ranks, int member);
  [[nodiscard]] Result<Team*> join_by_messages(const TeamKey& key, std::span<const int> ranks, int member);
  /// The members that meet in a block, the first of which makes it.
  struct Meeting {
    TeamKey key;
    RankView ranks;  ///< world ranks
    const Roster& roster;
  };
  /// Says that a member waits for the others of a meeting. Refers to the meeting.
  [[nodiscard]] TeamRegistry::Describe described(const Meeting& meeting) const;
  /// Makes the block of a new team, if this is the first member, or finds it. `shape()` returns its shape.
  template <typename Shape>
  [[nodiscard]] Result<TeamBlock*> find_block(const Meeting& meeting, const Shape& shape);
  /// Waits until all members have met in `block`. `mine` says whether this member has made its team. Returns
  /// a failure if a member could not.
  [[nodiscard]] Status settle(TeamBlock& block, const Meeting& meeting, Status mine);
  /// Lets members of a team meet in a block. `enter(block)` makes this one's part. Fails alike at all of them
  /// with RMA_ERR_NO_MEMORY if one cannot.
  template <typename Shape, typename Enter>
  [[nodiscard]] Status meet_in_block(Team& team, const Meeting& meeting, const Shape& shape,
                                     const Enter& enter);
  /// Lets a team on several hosts, which is not shown to the program yet, meet by hosts later. Throws
  /// std::bad_alloc.
  void prepare_hierarchy(Team& team);
  [[nodiscard]] Status meet_by_hosts(Team& team);
  /// Lets the members of a team on several hosts tell each other their leaders.
  [[nodiscard]] Status tell_hosts(Team& team, bool ready);
  /// Opens the context of a team that all members have agreed on. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open_schedules(Team& team, std::uint32_t context);
  /// Returns whether a team of this process has the context.
  [[nodiscard]] bool uses_context(std::uint32_t context) const;
  static constexpr unsigned kContextIdBits = 32;  ///< of the id of an attached team
  /// Returns an id for a team whose first member is this process.
  [[nodiscard]] std::uint64_t next_id();
  [[nodiscard]] TeamRegistry& registry_of(int rank) const;
  /// Frees this process's memory for the team, when no other member uses it any more. Collective.
  [[nodiscard]] Status leave(Team& team);
  [[nodiscard]] Status leave_memory(Team& team);
  [[nodiscard]] Status leave_block(TeamBlock& block, const Roster& roster, int first);
  /// Says that this member does not use the block any more in which it met at a blocking collective, and
  /// frees those that nobody uses.
  void retire(Team& team);
  void free_retired();
  Team* add(std::unique_ptr<Team> team);
  void remove(Team* team);

  Job& job_;
  TeamRegistry& registry_;
  ScheduleContexts contexts_;
  Schedules* schedules_ = nullptr;  ///< set by start(), as the next five are
  Messages* messages_ = nullptr;
  Accumulator* accumulator_ = nullptr;
  Team::Shared shared_;
  std::optional<ScheduleChannel> agreement_channel_;  ///< used by agreement_
  std::optional<Agreement> agreement_;
  std::unique_ptr<Team> world_;
  rma_team_t world_handle_ = nullptr;  ///< a copy of world_'s handle, for find()
  Turns turns_;
  mutable RankSet listed_;
  std::atomic<std::uint64_t> made_ = 0;  ///< number of teams whose first member this process was
  mutable std::shared_mutex mutex_;      ///< guards the members below
  std::size_t met_blocks_ = 0;           ///< blocks that this process has made in meet() and not freed
  std::vector<TeamBlock*> retired_;      ///< those of them that this process does not use any more
  std::unordered_map<rma_team_t, std::unique_ptr<Team>> teams_;  ///< all teams except the world team
};

}  // namespace librma
