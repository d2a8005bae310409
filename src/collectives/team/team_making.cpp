// How the members of a new team find each other and agree on it.

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "collectives/team/team.hpp"
#include "collectives/team/team_registry.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/undo.hpp"

namespace librma {
namespace {

constexpr std::size_t kBlockAlignment = alignof(TeamBlock);

}  // namespace

TeamShape Teams::shape_for(const Job& job, std::size_t members, std::uint64_t id, std::uint32_t schedules) {
  std::uint64_t direct_bytes = job.settings().direct_collective;
  // Members that share processors run one after the other, so each further round costs as much as many
  // copies.
  const bool crowded = job.wait_policy().spins == 0;
  if (crowded) direct_bytes = std::min<std::uint64_t>(direct_bytes, TeamBlock::kPieceBytes + 1);
  return {.members = static_cast<std::uint32_t>(members),
          .flat = members <= job.settings().flat_ranks && !crowded,
          .crowded = crowded,
          .id = id,
          .direct_bytes = direct_bytes,
          .schedules = schedules};
}

TeamShape Teams::shape_within_host(const Job& job, std::size_t members, std::uint64_t id) {
  TeamShape shape = shape_for(job, members, id, 0);
  // A round must fail for all members if one of them stops to wait (HostRoster). Pieces of kPieceBytes need
  // no memory, because buffers of this size are not announced (HierarchicalExchange).
  shape.flat = false;
  shape.direct_bytes = std::max<std::uint64_t>(shape.direct_bytes, TeamBlock::kPieceBytes + 1);
  return shape;
}

Status Teams::check(std::span<const int> ranks) const {
  if (ranks.empty()) return {RMA_ERR_ARGUMENT, "a team has at least one member; none is listed"};
  const auto outside = std::ranges::find_if(ranks, [&](int rank) { return rank < 0 || rank >= job_.size(); });
  if (outside != ranks.end()) {
    return {RMA_ERR_RANK,
            fmt::format("rank {} does not exist: the job has ranks 0 to {}", *outside, job_.size() - 1)};
  }
  if (const std::optional<int> twice = listed_.find_twice(ranks)) {
    return {RMA_ERR_ARGUMENT, fmt::format("rank {} is listed twice; list each member once", *twice)};
  }
  if (std::find(ranks.begin(), ranks.end(), job_.rank()) == ranks.end()) {
    return {RMA_ERR_RANK,
            fmt::format("this process, rank {}, is not listed; only members make a team", job_.rank())};
  }
  return {};
}

Result<Team*> Teams::create(std::span<const int> ranks) {
  RMA_TRY(check(ranks));
  return join(ranks, {});
}

bool Teams::meet_in_memory(const RankView& ranks) const {
  return job_.settings().collective_algorithm == CollectiveSetting::automatic &&
         std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return job_.mapped(rank); });
}

Result<Team*> Teams::join(std::span<const int> ranks, const TeamOrigin& origin) {
  const auto member = static_cast<int>(std::find(ranks.begin(), ranks.end(), job_.rank()) - ranks.begin());
  const TeamKey key = TeamKey::of(ranks, origin);
  const Turns::Turn turn(turns_, key);
  if (meet_in_memory(ranks)) return join_in_memory(key, ranks, member);
  return join_by_messages(key, ranks, member);
}

Result<Team*> Teams::join_by_messages(const TeamKey& key, std::span<const int> ranks, int member) {
  const auto members = static_cast<int>(ranks.size());
  // Makes the whole team before it meets the others. A member that has no memory for it tells them.
  Team* team = nullptr;
  std::uint32_t drawn = 0;
  Status made = unless_exhausted([&]() -> Status {
    std::unique_ptr<Team> own(
        new Team(job_, shared_, std::vector<int>(ranks.begin(), ranks.end()), member, 0));
    RMA_TRY(own->prepare_messages());
    prepare_hierarchy(*own);
    if (member == 0) {
      drawn = contexts_.draw();
      if (drawn == 0) return Team::no_channel();
    }
    own->drawn_ = drawn;
    team = add(std::move(own));
    return {};
  });
  Agreement::AgreementCard card;
  if (!made.ok()) card.failure = FailureWord{.code = made.code(), .rank = job_.rank()}.word();
  card.context = drawn;
  if (member == 0) card.id = next_id();
  Agreement::Outcome outcome = agreement_->reach(key, ranks, member, card);
  // Each member that knows the context opens it, and all agree once more, whatever they have found: members
  // may have seen different failures. So if a member has the team, all know the context, and one that finds
  // another lost can tell the others.
  Status opened;
  if (outcome.failure.ok()) {
    opened = open_schedules(*team, outcome.context);
    if (!opened.ok()) outcome.failure = {.code = opened.code(), .rank = job_.rank()};
  }
  outcome.failure = agreement_->reach(key, ranks, member, {.failure = outcome.failure.word()}).failure;
  if (outcome.failure.ok()) {
    team->id_ = outcome.id;
    return team;
  }
  if (drawn != 0 && outcome.failure.code == RMA_ERR_NO_MEMORY) contexts_.give_back(drawn);
  if (!made.ok()) return std::move(made).within(text("the memory of a team of {} ranks", members));
  // After a loss, members that have finished without a failure may use the team. They are told, and the
  // context is not used again.
  if (outcome.failure.code != RMA_ERR_NO_MEMORY && team->channel_ != nullptr) team->channel_->fail();
  remove(team);
  if (!opened.ok()) return std::move(opened).within(text("the memory of a team of {} ranks", members));
  if (outcome.failure.code != RMA_ERR_NO_MEMORY) {
    return Status(outcome.failure.code, text("rank {} lost a rank of the team of {} that was to be made",
                                             outcome.failure.rank, members));
  }
  return Status(RMA_ERR_NO_MEMORY,
                text("rank {} has no room for the {} bytes that each of a team of {} ranks needs; raise "
                     "RMA_HEAP_SIZE",
                     outcome.failure.rank, PlanRunner::kScratch, members));
}

Status Teams::open_schedules(Team& team, std::uint32_t context) {
  // Another thread of this process may still be leaving the last team with this number (PlanRunner::part),
  // and the first members of both have left it.
  while (uses_context(context)) sched_yield();
  return unless_exhausted([&]() -> Status {
    // The team is listed already, and uses_context() of other threads looks at its channel.
    const std::unique_lock guard(mutex_);
    team.open_schedules(job_, *messages_, *schedules_, *accumulator_, context);
    return {};
  });
}

bool Teams::uses_context(std::uint32_t context) const {
  const std::shared_lock guard(mutex_);
  return std::ranges::any_of(teams_, [context](const auto& each) {
    return each.second->channel_ != nullptr && each.second->channel_->context() == context;
  });
}

Result<Team*> Teams::attach(std::span<const int> ranks, std::uint32_t context) {
  RMA_TRY(check(ranks));
  const auto member = static_cast<int>(std::find(ranks.begin(), ranks.end(), job_.rank()) - ranks.begin());
  // The ids of other teams have smaller ranks in their upper bits.
  const std::uint64_t id = ~std::uint64_t{0} << kContextIdBits | context;
  std::unique_ptr<Team> team(
      new Team(job_, shared_, std::vector<int>(ranks.begin(), ranks.end()), member, id));
  team->attached_ = true;
  team->teams_ = this;
  if (!meet_in_memory(ranks)) prepare_hierarchy(*team);
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

TeamRegistry::Describe Teams::described(const Meeting& meeting) const {
  return [this, &meeting](WaitNote& note) {
    note.call = "the making of a team";
    note.meeting = meeting.key.high | 1U;
    note.exact = true;
    for (const int rank : meeting.ranks) {
      if (rank != job_.rank()) note.ranks.push_back(rank);
    }
    meeting.roster.name_team(note);
    if (note.team == std::nullopt) note.about = fmt::format("a new team of {} ranks", meeting.ranks.size());
  };
}

template <typename Shape>
Result<TeamBlock*> Teams::find_block(const Meeting& meeting, const Shape& shape) {
  const RankView& ranks = meeting.ranks;
  const Roster& roster = meeting.roster;
  const int first = ranks.front();
  const std::size_t bytes = TeamBlock::bytes_for(static_cast<std::uint32_t>(ranks.size()));
  const auto ended = [&] { return roster.first_ended(0, ranks.size()); };
  TeamBlock* block = nullptr;
  if (first == job_.rank()) {
    auto memory = unless_exhausted(
        [&] { return job_.memory().allocator().allocate(MemoryKind::internal, bytes, kBlockAlignment); });
    if (memory.ok()) block = &TeamBlock::make(memory.value(), shape());
    if (ranks.size() > 1) {
      const auto lost = [&] {
        const int missing = ended();
        if (missing == Roster::kNobody) return false;
        if (block != nullptr) block->close(missing, 1, 0);
        return true;
      };
      registry_.post(meeting.key, reinterpret_cast<std::uintptr_t>(block),
                     static_cast<std::uint32_t>(ranks.size() - 1), job_.wait_policy(), lost,
                     described(meeting));
    }
    if (!memory.ok()) {
      return std::move(memory).status().within(text("what a team of {} ranks shares", ranks.size()));
    }
  } else {
    const auto taken = registry_of(first).take(
        meeting.key, job_.wait_policy(), [&] { return ended() != Roster::kNobody; },
        [&] { return roster.ended(0); }, described(meeting));
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
  if (block->closed())
    return roster.lost(static_cast<int>(block->lacking() % static_cast<unsigned>(ranks.size())));
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
  const TeamRoster roster(job_, ranks, nullptr);
  const Meeting meeting = {.key = key, .ranks = ranks, .roster = roster};
  auto found = find_block(meeting, [&] { return shape_for(job_, ranks.size(), next_id(), drawn); });
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
  Status settled = settle(block, meeting, std::move(made));
  if (settled.ok()) return team;
  // If a member had no memory, no member has the team. After another failure, a member may have used it.
  give_back(settled);
  if (team != nullptr) remove(team);
  return settled;
}

Status Teams::settle(TeamBlock& block, const Meeting& meeting, Status mine) {
  const Roster& roster = meeting.roster;
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
      },
      Waker::mortal, described(meeting));
  if (!all) {
    // Other members may have met before. They find the team closed, and the block stays.
    block.close(missing, 1, 0);
    block.doorbell.wake();
    return mine.ok() ? roster.lost(missing) : std::move(mine);
  }
  const std::uint32_t failed = block.failed.load(std::memory_order_relaxed);
  if (failed == 0) return {};
  const std::uint32_t members = block.members;
  Status left = leave_block(block, roster, meeting.ranks.front());
  if (!mine.ok()) return mine;
  if (!left.ok()) return left;
  return {RMA_ERR_NO_MEMORY, text("{} of the {} ranks have no memory left for a team", failed, members)};
}

Status Teams::meet(Team& team) {
  team.met_ = true;
  if (team.hierarchy_ != nullptr) return meet_by_hosts(team);
  const RankView& ranks = team.ranks();
  if (!meet_in_memory(ranks)) return {};
  // The numbers of attached teams are no ids of teams that are split.
  const TeamRoster roster(job_, ranks, &team.id_);
  const Meeting meeting = {
      .key = TeamKey::of(ranks, {.parent = team.id(), .split = 0}), .ranks = ranks, .roster = roster};
  Status met = meet_in_block(
      team, meeting, [&] { return shape_for(job_, static_cast<std::size_t>(ranks.size()), next_id(), 0); },
      [&](TeamBlock& block) -> Status {
        team.meet_in(job_, block);
        return {};
      });
  if (met.ok()) return {};
  team.exchange_.reset();
  // If a member has no memory, all use schedules.
  return met.code() == RMA_ERR_NO_MEMORY ? Status() : std::move(met);
}

template <typename Shape, typename Enter>
Status Teams::meet_in_block(Team& team, const Meeting& meeting, const Shape& shape, const Enter& enter) {
  const Turns::Turn turn(turns_, meeting.key);
  free_retired();
  const bool first = meeting.ranks.front() == job_.rank();
  RMA_TRY_ASSIGN(found, find_block(meeting, shape));
  TeamBlock& block = *found;
  Status settled =
      settle(block, meeting, unless_exhausted([&]() -> Status {
               if (first) {
                 const std::unique_lock guard(mutex_);
                 retired_.reserve(++met_blocks_);  // so that none needs memory when it is retired
               }
               return enter(block);
             }));
  team.block_ = settled.ok() ? &block : nullptr;
  return settled;
}

void Teams::prepare_hierarchy(Team& team) {
  team.teams_ = this;
  if (job_.settings().collective_algorithm != CollectiveSetting::automatic) return;
  team.hierarchy_ = std::make_unique<TeamHierarchy>(job_, team.ranks(), team.rank(), team.id_,
                                                    [&team] { return team.usable(); });
}

Status Teams::meet_by_hosts(Team& team) {
  TeamHierarchy& hierarchy = *team.hierarchy_;
  Status ready = unless_exhausted([&]() -> Status {
    RMA_TRY(team.prepare_messages());
    return hierarchy.provide();
  });
  if (!hierarchy.alone()) {
    // Teams that are split have no such number.
    constexpr std::uint64_t kWithinHost = ~std::uint64_t{0};
    const std::span<const int> mates = hierarchy.mates();
    const Meeting meeting = {.key = TeamKey::of(mates, {.parent = team.id(), .split = kWithinHost}),
                             .ranks = mates,
                             .roster = hierarchy.roster()};
    ready = meet_in_block(
        team, meeting, [&] { return shape_within_host(job_, mates.size(), next_id()); },
        [&](TeamBlock& block) -> Status {
          if (!ready.ok()) return std::move(ready);
          hierarchy.meet_in(block, shared_.host, *shared_.scratch);
          return {};
        });
  }
  // A member without memory tells the others. One that finds a member of its host lost gives the team up.
  Status told;
  if (ready.ok() || ready.code() == RMA_ERR_NO_MEMORY) {
    told = tell_hosts(team, ready.ok());
  } else {
    team.channel_->fail();
    told = std::move(ready);
  }
  if (told.ok() && hierarchy.open(*team.channel_, team.scratch_.get())) {
    const HostMap& hosts = hierarchy.hosts();
    team.engines_ = EngineTable({.members = hosts.members(),
                                 .hosts = hosts.hosts(),
                                 .hierarchy = true,
                                 .consecutive = hosts.consecutive()},
                                job_.settings().allgather);
    return {};
  }
  retire(team);
  team.hierarchy_.reset();
  return told;
}

Status Teams::tell_hosts(Team& team, bool ready) {
  const std::int32_t mine = ready ? team.hierarchy_->leader() : TeamHierarchy::kNoMemory;
  rma_collective_t collective = {};
  collective.kind = RMA_COLLECTIVE_ALLGATHER;
  collective.dst = team.hierarchy_->leaders().data();
  collective.src = &mine;
  collective.bytes = sizeof mine;
  // Needs no scratch, which this member may lack.
  return PlanRunner(*team.channel_, team.rank(), team.size(), nullptr).run(collective);
}

}  // namespace librma
