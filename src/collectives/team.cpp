#include "collectives/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "collectives/collectives.hpp"
#include "collectives/split.hpp"
#include "collectives/team_registry.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/undo.hpp"

namespace rma {
namespace {

constexpr std::size_t kBlockAlignment = 64;
static_assert(sizeof(TeamRegistry) % kBlockAlignment == 0, "aligned blocks follow the registry");

std::vector<int> all_ranks(const Job& job) {
  std::vector<int> ranks(static_cast<std::size_t>(job.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Returns whether all processes of the job meet in memory.
bool world_meets_in_memory(const Job& job) {
  return job.settings().collective_algorithm == CollectiveSetting::automatic &&
         job.settings().shm == ShmSetting::automatic &&
         job.local_ranks().size() == static_cast<std::size_t>(job.size());
}

TeamShape shape_for(const Job& job, std::size_t members, std::uint64_t id, std::uint32_t schedules) {
  std::uint64_t direct_bytes = job.settings().direct_collective;
  // Members that share processors run one after the other, so each further round costs as much as many copies.
  const bool crowded = job.wait_policy().spins == 0;
  if (crowded) direct_bytes = std::min<std::uint64_t>(direct_bytes, TeamBlock::kPieceBytes + 1);
  return {.members = static_cast<std::uint32_t>(members),
          .flat = members <= job.settings().flat_ranks && !crowded,
          .crowded = crowded,
          .id = id,
          .direct_bytes = direct_bytes,
          .schedules = schedules};
}

}  // namespace

constinit thread_local Teams::Known Teams::this_threads_known;
constinit std::atomic<std::uint64_t> Teams::epoch = 1;

Status Team::run(const rma_collective_t& collective) {
  if (attached() && !met_) {
    if (Status status = teams_->meet(*this); !status.ok()) return status;
  }
  if (exchange_ != std::nullopt) {
    bool done = false;
    Status status = exchange_->run(collective, done);
    if (done || !status.ok()) {
      count(collective.kind == RMA_COLLECTIVE_BARRIER ? Counter::barrier : Counter::collective);
      return status;
    }
  }
  if (collective.kind == RMA_COLLECTIVE_ALLGATHER && collective.uneven == 0) {
    bool done = false;
    Status status = rdma_allgather_.run(*this, collective.dst, collective.src, collective.bytes, done);
    if (done) count(Counter::collective);
    if (done || !status.ok()) return status;
  }
  return channel_ == nullptr ? no_channel() : schedules_->run(channel_, collective);
}

Status Team::run_by_messages(const rma_collective_t& allgather) {
  if (p2p_ != nullptr) return p2p_->exchange.allgather(allgather.dst, allgather.src, allgather.bytes);
  return channel_ == nullptr ? no_channel() : schedules_->run(channel_, allgather);
}

// Destroys all remaining teams, so the copies in this_threads_known become invalid.
Teams::~Teams() { epoch.fetch_add(1, std::memory_order_release); }

Result<std::unique_ptr<Teams>> Teams::create(Job& job) {
  const auto size = static_cast<std::uint32_t>(job.size());
  const bool in_memory = world_meets_in_memory(job);
  std::size_t bytes = kBehindRegistry + PointToPointExchange::kScratch;
  if (in_memory) bytes = kBehindRegistry + (job.rank() == 0 ? TeamBlock::bytes_for(size) : 0);
  auto memory = job.provide(Service::teams, bytes);
  if (!memory.ok()) return std::move(memory).status();
  auto* const registry = new (memory.value()) TeamRegistry;
  if (in_memory && job.rank() == 0) {
    TeamBlock::make(memory.value() + kBehindRegistry, shape_for(job, size, 0, ScheduleContexts::kWorld));
  }
  return std::unique_ptr<Teams>(new Teams(job, *registry));
}

Status Teams::start(Messages& messages, Schedules& schedules, Accumulator& accumulator, HostMemory host) {
  std::vector<int> ranks = all_ranks(job_);
  const int me = job_.rank();
  messages_ = &messages;
  schedules_ = &schedules;
  accumulator_ = &accumulator;
  shared_ = {.host = std::move(host), .scratch = std::make_unique<ScratchPool>(job_)};
  agreement_transport_.emplace(job_, messages, ranks, JobTeamTransport::kAgreementContext);
  agreement_.emplace(me, *agreement_transport_);
  if (world_meets_in_memory(job_)) {
    std::byte* const memory = job_.service(Service::teams, 0).data() + kBehindRegistry;
    TeamBlock& block = *std::launder(reinterpret_cast<TeamBlock*>(memory));
    world_ = std::unique_ptr<Team>(new Team(job_, shared_, std::move(ranks), me, block));
    world_->open_schedules(job_, messages, schedules, accumulator, ScheduleContexts::kWorld);
    world_handle_ = world_->handle();
    return {};
  }
  std::byte* const scratch = job_.service(Service::teams, me).data() + kBehindRegistry;
  auto p2p = std::make_unique<Team::PointToPointState>(job_, messages, ranks, me,
                                                       JobTeamTransport::kWorldContext, scratch);
  world_ = std::unique_ptr<Team>(new Team(job_, shared_, std::move(ranks), me, 0, std::move(p2p)));
  world_->open_schedules(job_, messages, schedules, accumulator, ScheduleContexts::kWorld);
  world_handle_ = world_->handle();
  return {};
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

Status Teams::check(std::span<const int> ranks) const {
  if (ranks.empty()) return {RMA_ERR_ARGUMENT, "a team has at least one member; none is listed"};
  // Allocates nothing, so that a member without memory gets far enough to tell the others.
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    if (rank < 0 || rank >= job_.size()) {
      return {RMA_ERR_RANK,
              fmt::format("rank {} does not exist: the job has ranks 0 to {}", rank, job_.size() - 1)};
    }
    if (std::find(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(i), rank) !=
        ranks.begin() + static_cast<std::ptrdiff_t>(i)) {
      return {RMA_ERR_ARGUMENT, fmt::format("rank {} is listed twice; list each member once", rank)};
    }
  }
  if (std::find(ranks.begin(), ranks.end(), job_.rank()) == ranks.end()) {
    return {RMA_ERR_RANK,
            fmt::format("this process, rank {}, is not listed; only members make a team", job_.rank())};
  }
  return {};
}

Result<Team*> Teams::create(std::span<const int> ranks) {
  if (Status status = check(ranks); !status.ok()) return status;
  return join(ranks, {});
}

bool Teams::meet_in_memory(std::span<const int> ranks) const {
  return job_.settings().collective_algorithm == CollectiveSetting::automatic &&
         std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return job_.mapped(rank); });
}

Result<Team*> Teams::join(std::span<const int> ranks, const TeamOrigin& origin) {
  const auto member = static_cast<int>(std::find(ranks.begin(), ranks.end(), job_.rank()) - ranks.begin());
  const TeamKey key = TeamKey::of(ranks, origin);
  const Turns::Turn turn(turns_, key);
  if (meet_in_memory(ranks)) return join_in_memory(key, ranks, member);
  return join_by_p2p(key, ranks, member);
}

Result<Team*> Teams::join_by_p2p(const TeamKey& key, std::span<const int> ranks, int member) {
  const auto members = static_cast<int>(ranks.size());
  // Makes the whole team before it meets the others. A member that has no memory for it tells them.
  Team* team = nullptr;
  auto memory = unless_exhausted([&]() -> Result<std::byte*> {
    const std::uint32_t context = draw_context();
    Undo give_back([&] { give_back_context(context); });
    auto block = job_.memory().allocator().allocate(MemoryKind::internal, PointToPointExchange::kScratch,
                                                    kBlockAlignment);
    if (!block.ok()) return block;
    Undo free_block(
        [&] { static_cast<void>(job_.memory().allocator().free(MemoryKind::internal, block.value()).ok()); });
    std::vector<int> list(ranks.begin(), ranks.end());
    auto p2p =
        std::make_unique<Team::PointToPointState>(job_, *messages_, list, member, context, block.value());
    const std::uint32_t drawn = member == 0 ? contexts_.draw() : 0;
    Undo undraw([&] {
      if (drawn != 0) contexts_.give_back(drawn);
    });
    team = add(std::unique_ptr<Team>(new Team(job_, shared_, std::move(list), member, 0, std::move(p2p))));
    team->drawn_ = drawn;
    undraw.dismiss();
    free_block.dismiss();
    give_back.dismiss();
    return block;
  });
  Agreement::Card card;
  if (memory.ok()) {
    card.context = team->p2p_->transport.context();
    card.schedules = team->drawn_;
  } else {
    card.failure = FailureWord{.code = memory.status().code(), .rank = job_.rank()}.word();
  }
  if (member == 0) card.id = next_id();
  const Agreement::Outcome outcome = agreement_->reach(key, ranks, member, card);
  if (!memory.ok()) {
    return std::move(memory).status().within(text("the memory of a team of {} ranks", members));
  }
  JobTeamTransport& transport = team->p2p_->transport;
  for (const auto& [partner, context] : outcome.contexts) transport.place(partner, context);
  if (outcome.failure.ok()) {
    team->id_ = outcome.id;
    open_schedules(*team, outcome.schedules);
    return team;
  }
  if (outcome.failure.code == RMA_ERR_NO_MEMORY) {
    give_back_context(transport.context());
    if (team->drawn_ != 0) contexts_.give_back(team->drawn_);
  } else {
    // Members that have finished without a failure may use the team. They are told, and may have sent to this
    // member until then, so its context is not used again.
    for (const auto& [partner, context] : outcome.contexts) {
      if (context != 0) transport.revoke(partner);
    }
  }
  static_cast<void>(job_.memory().allocator().free(MemoryKind::internal, memory.value()).ok());
  remove(team);
  if (outcome.failure.code != RMA_ERR_NO_MEMORY) {
    return Status(outcome.failure.code, text("rank {} lost a rank of the team of {} that was to be made",
                                             outcome.failure.rank, members));
  }
  return Status(RMA_ERR_NO_MEMORY,
                text("rank {} has no room for the {} bytes that each of a team of {} ranks needs; raise "
                     "RMA_HEAP_SIZE",
                     outcome.failure.rank, PointToPointExchange::kScratch, members));
}

void Teams::open_schedules(Team& team, std::uint32_t context) {
  const bool open = unless_exhausted([&]() -> Status {
                      team.open_schedules(job_, *messages_, *schedules_, *accumulator_, context);
                      return {};
                    }).ok();
  if (open || context == 0) return;
  // The other members are told, because their schedules would wait for this one.
  for (const int rank : team.ranks()) {
    if (rank == job_.rank()) continue;
    static_cast<void>(unless_exhausted([&]() -> Status {
                        messages_->revoke(rank, context);
                        return {};
                      }).ok());
  }
}

Result<Team*> Teams::attach(std::span<const int> ranks, std::uint32_t context) {
  if (Status status = check(ranks); !status.ok()) return status;
  const auto member = static_cast<int>(std::find(ranks.begin(), ranks.end(), job_.rank()) - ranks.begin());
  // The ids of other teams have smaller ranks in their upper bits.
  const std::uint64_t id = ~std::uint64_t{0} << kContextIdBits | context;
  std::unique_ptr<Team> team(
      new Team(job_, shared_, std::vector<int>(ranks.begin(), ranks.end()), member, id));
  team->teams_ = this;
  team->open_schedules(job_, *messages_, *schedules_, *accumulator_,
                       ScheduleContexts::kFirstAttached | context);
  return add(std::move(team));
}

std::uint64_t Teams::next_id() {
  // The parts have room for more teams than any job lives to make, and for more ranks than any job has. The
  // world team's id is 0.
  constexpr unsigned kNumberBits = 40;
  const std::uint64_t number = made_.fetch_add(1, std::memory_order_relaxed) + 1;
  return static_cast<std::uint64_t>(job_.rank()) << kNumberBits | number;
}

std::uint32_t Teams::draw_context() {
  const std::unique_lock guard(mutex_);
  if (free_contexts_.empty()) {
    // Makes room for all numbers that may come back, so that none needs memory then.
    free_contexts_.reserve(next_context_ + 1 - JobTeamTransport::kFirstDrawn);
    return next_context_++;
  }
  const std::uint32_t context = free_contexts_.back();
  free_contexts_.pop_back();
  return context;
}

void Teams::give_back_context(std::uint32_t context) {
  const std::unique_lock guard(mutex_);
  free_contexts_.push_back(context);
}

Result<TeamBlock*> Teams::find_block(const TeamKey& key, std::span<const int> ranks, std::uint32_t drawn) {
  const int first = ranks.front();
  const std::size_t bytes = TeamBlock::bytes_for(static_cast<std::uint32_t>(ranks.size()));
  const TeamRoster roster(job_, ranks);
  const auto ended = [&] { return roster.first_ended(0, static_cast<int>(ranks.size())); };
  TeamBlock* block = nullptr;
  if (first == job_.rank()) {
    auto memory = unless_exhausted(
        [&] { return job_.memory().allocator().allocate(MemoryKind::internal, bytes, kBlockAlignment); });
    if (memory.ok())
      block = &TeamBlock::make(memory.value(), shape_for(job_, ranks.size(), next_id(), drawn));
    if (ranks.size() > 1) {
      const auto lost = [&] {
        const int missing = ended();
        if (missing == Roster::kNobody) return false;
        if (block != nullptr) block->close(missing, 1, 0);
        return true;
      };
      registry_.post(key, reinterpret_cast<std::uintptr_t>(block),
                     static_cast<std::uint32_t>(ranks.size() - 1), job_.wait_policy(), lost);
    }
    if (!memory.ok()) {
      return std::move(memory).status().within(text("what a team of {} ranks shares", ranks.size()));
    }
  } else {
    const auto taken = registry_of(first).take(
        key, job_.wait_policy(), [&] { return ended() != Roster::kNobody; }, [&] { return roster.ended(0); });
    if (!taken) return roster.lost(ended());
    const std::uint64_t address = *taken;
    if (address == 0) {
      return Status(
          RMA_ERR_NO_MEMORY,
          fmt::format("rank {}, the first of the team, has no room for the {} bytes that its {} ranks "
                      "share; raise RMA_HEAP_SIZE",
                      first, bytes, ranks.size()));
    }
    std::byte* const here = job_.direct(reinterpret_cast<const void*>(address), bytes, first);
    if (here == nullptr || address % kBlockAlignment != 0) {
      return Status(
          RMA_ERR_STATE,
          fmt::format("what rank {} posted for a team of {} ranks is not in its heap", first, ranks.size()));
    }
    block = std::launder(reinterpret_cast<TeamBlock*>(here));
  }
  // The block is not freed: other members may be about to read it, as this one does.
  if (block->closed()) return roster.lost(static_cast<int>(block->lacking() % ranks.size()));
  return block;
}

Result<Team*> Teams::join_in_memory(const TeamKey& key, std::span<const int> ranks, int member) {
  std::uint32_t drawn = 0;
  // Without memory for a number the team has no schedules, and the block will not be there either.
  if (member == 0) {
    static_cast<void>(unless_exhausted([&]() -> Status {
                        drawn = contexts_.draw();
                        return {};
                      }).ok());
  }
  const auto give_back = [&](const Status& status) {
    if (drawn != 0 && status.code() == RMA_ERR_NO_MEMORY) contexts_.give_back(drawn);
  };
  auto found = find_block(key, ranks, drawn);
  if (!found.ok()) {
    give_back(found.status());
    return std::move(found).status();
  }
  TeamBlock& block = *found.value();
  Team* team = nullptr;
  Status made = unless_exhausted([&]() -> Status {
    std::vector<int> list(ranks.begin(), ranks.end());
    std::unique_ptr<Team> own(new Team(job_, shared_, std::move(list), member, block));
    own->open_schedules(job_, *messages_, *schedules_, *accumulator_, block.schedules);
    own->drawn_ = drawn;
    team = add(std::move(own));
    return {};
  });
  Status settled = settle(block, TeamRoster(job_, ranks), std::move(made));
  if (settled.ok()) return team;
  // If a member had no memory, no member has the team. After another failure, a member may have used it.
  give_back(settled);
  if (team != nullptr) remove(team);
  return settled;
}

Status Teams::settle(TeamBlock& block, const TeamRoster& roster, Status mine) {
  if (!mine.ok()) block.failed.fetch_add(1, std::memory_order_relaxed);
  // The release pairs with the other members' load below.
  block.joined.fetch_add(1, std::memory_order_release);
  block.doorbell.wake();
  int missing = Roster::kNobody;
  const bool all = wait_unless(
      block.doorbell, job_.wait_policy(),
      [&] { return block.joined.load(std::memory_order_acquire) == block.members; },
      [&] {
        missing = roster.first_ended(0, static_cast<int>(block.members));
        return missing != Roster::kNobody;
      });
  if (!all) {
    // Other members may have met before. They find the team closed, and the block stays.
    block.close(missing, 1, 0);
    block.doorbell.wake();
    return mine.ok() ? roster.lost(missing) : std::move(mine);
  }
  const std::uint32_t failed = block.failed.load(std::memory_order_relaxed);
  if (failed == 0) return {};
  const std::uint32_t members = block.members;
  Status left = leave_block(block, roster, roster.world_rank(0));
  if (!mine.ok()) return mine;
  if (!left.ok()) return left;
  return {RMA_ERR_NO_MEMORY, text("{} of the {} ranks have no memory left for a team", failed, members)};
}

Status Teams::meet(Team& team) {
  team.met_ = true;
  const std::span<const int> ranks = team.ranks();
  if (!meet_in_memory(ranks)) return {};
  // The numbers of attached teams are no ids of teams that are split.
  const TeamKey key = TeamKey::of(ranks, {.parent = team.id(), .split = 0});
  const Turns::Turn turn(turns_, key);
  free_retired();
  const bool first = team.rank() == 0;
  auto found = find_block(key, ranks, 0);
  Status met = found.ok() ? settle(*found.value(), TeamRoster(job_, ranks), unless_exhausted([&]() -> Status {
    if (first) {
      const std::unique_lock guard(mutex_);
      retired_.reserve(++attached_blocks_);  // so that none needs memory when it is retired
    }
    team.meet_in(job_, *found.value());
    return {};
  }))
                          : std::move(found).status();
  if (met.ok()) return {};
  team.exchange_.reset();
  team.block_ = nullptr;
  // If a member has no memory, all use schedules.
  return met.code() == RMA_ERR_NO_MEMORY ? Status() : std::move(met);
}

void Teams::retire(Team& team) {
  if (team.block_ == nullptr) return;
  if (team.rank() == 0) {
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
    --attached_blocks_;
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
  if (Status status = agree(parent, std::move(ready)); !status.ok()) return status;
  const SplitChoice mine = {.color = color, .key = key};
  if (Status status = allgather(parent, std::span(choices), mine); !status.ok()) return status;
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
  if (team.p2p_ == nullptr) return leave_memory(team);
  Status parted = team.p2p_->p2p.part();
  // After a failure a member may still send to this one. So the context is not used again.
  if (parted.ok()) give_back_context(team.p2p_->transport.context());
  Status freed = job_.memory().allocator().free(MemoryKind::internal, team.p2p_->scratch);
  return parted.ok() ? std::move(freed) : std::move(parted);
}

Status Teams::leave_memory(Team& team) {
  // After a failure other members may still read the block. So it stays, as it does if a member ends below.
  if (Status status = team.exchange_->barrier(); !status.ok()) return status;
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
      [&] { return missing() != Roster::kNobody; });
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

Team* Teams::look_up(rma_team_t handle) const {
  const std::shared_lock guard(mutex_);
  const auto found = teams_.find(handle);
  if (found == teams_.end()) return nullptr;
  Team* const team = found->second.get();
  this_threads_known = {.handle = handle, .team = team, .epoch = epoch.load(std::memory_order_relaxed)};
  return team;
}

}  // namespace rma
