#include "collectives/team/team.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "collectives/team/collectives.hpp"
#include "collectives/team/split.hpp"
#include "collectives/team/team_registry.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

static_assert(sizeof(TeamRegistry) % alignof(TeamBlock) == 0, "aligned blocks follow the registry");

std::vector<int> ranks_of_world(const Job& job) {
  std::vector<int> ranks(static_cast<std::size_t>(job.world_size()));
  std::iota(ranks.begin(), ranks.end(), job.world_first());
  return ranks;
}

/// Returns whether all processes of the world meet in memory.
bool world_meets_in_memory(const Job& job) {
  return job.settings().collective_algorithm == CollectiveSetting::automatic &&
         job.settings().shm == ShmSetting::automatic &&
         job.local_ranks().size() == static_cast<std::size_t>(job.world_size());
}

}  // namespace

constinit thread_local Teams::Known Teams::this_threads_known;
constinit std::atomic<std::uint64_t> Teams::epoch = 1;

Status Team::run(const rma_collective_t& collective) {
  // Of these, some members exchange data with few others, and not all take part.
  if (collective.first_group != 0 || collective.kind == RMA_COLLECTIVE_NEIGHBORS)
    return run_by_messages(collective);
  if (teams_ != nullptr && !met_) {
    RMA_TRY(teams_->meet(*this));
  }
  bool done = false;
  Status status;
  if (exchange_ != std::nullopt) [[likely]] {
    // Members that meet in memory have this row first for every operation, and do not look it up.
    status = exchange_->run(collective, done);
    if (!done && status.ok()) return run_by_messages(collective);
    count(collective.kind == RMA_COLLECTIVE_BARRIER ? Counter::barrier : Counter::collective);
    return status;
  }
  const Engine engine = engines_.of(collective);
  switch (engine) {
    case Engine::hosts:
      status = usable();
      if (status.ok()) status = hierarchy_->run(collective);
      if (!status.ok()) channel_->fail();
      done = true;
      count(Counter::collective_hierarchical);
      break;
    case Engine::rdma:
      status = rdma_allgather_.run(*this, collective.dst, collective.src, collective.bytes, done);
      break;
    default:
      return run_by_messages(collective, engine);
  }
  if (!done && status.ok()) return run_by_messages(collective);
  count(collective.kind == RMA_COLLECTIVE_BARRIER ? Counter::barrier : Counter::collective);
  return status;
}

Status Team::barrier() {
  const bool in_memory = exchange_ != std::nullopt && hierarchy_ == nullptr && (teams_ == nullptr || met_);
  if (!in_memory) return run({});
  count(Counter::barrier);
  return exchange_->barrier();
}

Status Team::run_by_messages(const rma_collective_t& collective) {
  return run_by_messages(collective, engines_.of(collective, Engine::messages));
}

Status Team::run_by_messages(const rma_collective_t& collective, Engine engine) {
  if (channel_ == nullptr) return no_channel();
  if (engine == Engine::schedule) return schedules_->run(channel_, collective);
  if (runner_ == std::nullopt) {
    if (Status prepared = prepare_messages(); !prepared.ok()) {
      channel_->fail();
      return prepared;
    }
    runner_.emplace(*channel_, rank_, size(), scratch_.get());
  }
  count(collective.kind == RMA_COLLECTIVE_BARRIER ? Counter::barrier : Counter::collective);
  return runner_->run(collective);
}

Status Team::prepare_messages() {
  if (scratch_ != nullptr) return {};
  RMA_TRY_ASSIGN(memory, unless_exhausted([&] { return take_internal(*shared_.job, PlanRunner::kScratch); }));
  scratch_ = std::move(memory);
  return {};
}

// Destroys all remaining teams, so the copies in this_threads_known become invalid.
Teams::~Teams() { epoch.fetch_add(1, std::memory_order_release); }

Result<std::unique_ptr<Teams>> Teams::create(Job& job) {
  const auto size = static_cast<std::uint32_t>(job.world_size());
  const bool in_memory = world_meets_in_memory(job);
  const bool has_block = in_memory && job.rank() == job.world_first();
  const std::size_t bytes = kBehindRegistry + (has_block ? TeamBlock::bytes_for(size) : 0);
  RMA_TRY_ASSIGN(memory, job.provide(Service::teams, bytes));
  auto* const registry = new (memory) TeamRegistry;
  if (has_block) {
    TeamBlock::make(memory + kBehindRegistry, shape_for(job, size, 0, ScheduleContexts::kWorld));
  }
  return std::unique_ptr<Teams>(new Teams(job, *registry));
}

Status Teams::start(Messages& messages, Schedules& schedules, Accumulator& accumulator, HostMemory host) {
  std::vector<int> ranks = ranks_of_world(job_);
  const int me = job_.rank() - job_.world_first();
  messages_ = &messages;
  schedules_ = &schedules;
  accumulator_ = &accumulator;
  shared_ = {.job = &job_, .host = std::move(host), .scratch = std::make_unique<ScratchPool>(job_)};
  agreement_channel_.emplace(job_, messages, std::make_shared<const RankMap>(0, 1, job_.size()), job_.rank(),
                             ScheduleContexts::kAgreement);
  agreement_.emplace(job_.rank(), *agreement_channel_);
  if (world_meets_in_memory(job_)) {
    std::byte* const memory = job_.service(Service::teams, job_.world_first()).data() + kBehindRegistry;
    TeamBlock& block = *std::launder(reinterpret_cast<TeamBlock*>(memory));
    world_ = std::unique_ptr<Team>(new Team(job_, shared_, std::move(ranks), me, block));
    world_->open_schedules(job_, messages, schedules, accumulator, ScheduleContexts::kWorld);
    world_handle_ = world_->handle();
    return {};
  }
  world_ = std::unique_ptr<Team>(new Team(job_, shared_, std::move(ranks), me, 0));
  prepare_hierarchy(*world_);
  world_->open_schedules(job_, messages, schedules, accumulator, ScheduleContexts::kWorld);
  world_handle_ = world_->handle();
  return world_->prepare_messages();
}

Status Teams::stop() {
  for (const int rank : job_.local_ranks()) {
    // A process that leaves the job in order first meets this one in the fence below. So one that has ended
    // is lost, and the fence would wait for it for ever.
    if (job_.ended(rank)) return job_.lost(rank);
  }
  return job_.bootstrap().fence();
}

TeamRegistry& Teams::registry_of(int rank) const {
  return *std::launder(reinterpret_cast<TeamRegistry*>(job_.service(Service::teams, rank).data()));
}

void Teams::retire(Team& team) {
  if (team.block_ == nullptr) return;
  const int first = team.hierarchy_ != nullptr ? team.hierarchy_->mates().front() : team.world_rank(0);
  if (first == job_.rank()) {
    const std::unique_lock guard(mutex_);
    retired_.push_back(team.block_);
  }
  // The release pairs with the load in free_retired(): the first member frees the block after its last use.
  team.block_->left.fetch_add(1, std::memory_order_release);
  team.block_ = nullptr;
  free_retired();
}

void Teams::free_retired() {
  const std::unique_lock guard(mutex_);
  std::erase_if(retired_, [&](TeamBlock* block) {
    if (block->left.load(std::memory_order_acquire) != block->members) return false;
    --met_blocks_;
    return job_.memory().allocator().free(MemoryKind::internal, block).ok();
  });
}

Result<Team*> Teams::split(Team& parent, int color, int key) {
  // The members split their team in one order, so the number is the same on all.
  const TeamOrigin origin = {.parent = parent.id(), .split = ++parent.splits_};
  std::vector<SplitChoice> choices;
  std::vector<int> ranks;
  Status ready = unless_exhausted([&] {
    choices.resize(static_cast<std::size_t>(parent.size()));
    ranks.reserve(choices.size());
    return Status();
  });
  RMA_TRY(agree(parent, std::move(ready)));
  const SplitChoice mine = {.color = color, .key = key};
  RMA_TRY(allgather(parent, std::span(choices), mine));
  if (color < 0) return nullptr;
  split_members(choices, color, ranks);
  for (int& rank : ranks) rank = parent.world_rank(rank);
  return join(ranks, origin);
}

Status Teams::free(Team* team) {
  if (team == world_.get()) {
    return {RMA_ERR_ARGUMENT, "the world team cannot be freed; it lasts until rma_finalize"};
  }
  Status status;
  if (team->attached()) {
    retire(*team);
  } else {
    status = leave(*team);
  }
  // All members have ended their collectives, and have received all messages of these.
  if (status.ok() && team->drawn_ != 0) contexts_.give_back(team->drawn_);
  remove(team);
  return status;
}

Status Teams::leave(Team& team) {
  if (team.exchange_ != std::nullopt) return leave_memory(team);
  PlanRunner runner(*team.channel_, team.rank(), team.size(), nullptr);
  Status parted = runner.part();
  retire(team);
  return parted;
}

Status Teams::leave_memory(Team& team) {
  // After a failure other members may still read the block. So it stays, as it does if a member ends below.
  RMA_TRY(team.exchange_->barrier());
  return leave_block(*team.block_, team.roster_, team.world_rank(0));
}

Status Teams::leave_block(TeamBlock& block, const Roster& roster, int first) {
  if (first != job_.rank()) {
    block.left.fetch_add(1, std::memory_order_release);  // pairs with the load below
    registry_of(first).doorbell().wake();
    return {};
  }
  const std::uint32_t others = block.members - 1;
  const auto missing = [&] { return roster.first_ended(0, static_cast<int>(block.members)); };
  const bool all_left = wait_unless(
      registry_.doorbell(), job_.wait_policy(),
      [&] { return block.left.load(std::memory_order_acquire) == others; },
      [&] { return missing() != Roster::kNobody; }, Waker::mortal,
      [&roster, &block](WaitNote& note) {
        note.call = "the freeing of a team";
        for (int member = 1; member < static_cast<int>(block.members); ++member) {
          note.ranks.push_back(roster.rank_of(member));
        }
        roster.name_team(note);
      });
  if (!all_left) return roster.lost(missing());
  return job_.memory().allocator().free(MemoryKind::internal, &block);
}

Team* Teams::add(std::unique_ptr<Team> team) {
  Team* const added = team.get();
  const std::unique_lock guard(mutex_);
  teams_.emplace(added->handle(), std::move(team));
  epoch.fetch_add(1, std::memory_order_release);
  return added;
}

void Teams::remove(Team* team) {
  const std::unique_lock guard(mutex_);
  teams_.erase(team->handle());
  epoch.fetch_add(1, std::memory_order_release);
}

bool Teams::with_team(std::optional<std::uint64_t> id, std::optional<std::uint32_t> context,
                      const std::function<void(const Team&)>& use) const {
  const auto is_meant = [&](const Team& team) {
    if (id) return team.id() == *id;
    return context && team.channel_ != nullptr && team.channel_->context() == *context;
  };
  const std::shared_lock guard(mutex_, std::try_to_lock);
  if (!guard.owns_lock()) return false;
  const Team* found = world_ != nullptr && is_meant(*world_) ? world_.get() : nullptr;
  for (const auto& [handle, team] : teams_) {
    if (found == nullptr && is_meant(*team)) found = team.get();
  }
  if (found != nullptr) use(*found);
  return found != nullptr;
}

Team* Teams::look_up(rma_team_t handle) const {
  const std::shared_lock guard(mutex_);
  const auto found = teams_.find(handle);
  if (found == teams_.end()) return nullptr;
  Team* const team = found->second.get();
  this_threads_known = {.handle = handle, .team = team, .epoch = epoch.load(std::memory_order_relaxed)};
  return team;
}

}  // namespace librma
