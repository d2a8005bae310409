#include "collectives/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "collectives/board.hpp"
#include "collectives/collectives.hpp"
#include "collectives/split.hpp"

namespace rma {
namespace {

constexpr std::size_t kCacheLine = 64;
static_assert(sizeof(TeamBoard) % kCacheLine == 0, "the world team's block follows rank 0's board");

TeamShape shape_for(const Job& job, std::size_t members, std::uint64_t id) {
  return {.members = static_cast<std::uint32_t>(members),
          .flat = members <= job.settings().flat_ranks && job.wait_policy().spins != 0,
          .id = id,
          .direct_bytes = job.settings().direct_collective};
}

}  // namespace

constinit thread_local Teams::Known Teams::this_threads_known;
constinit std::atomic<std::uint64_t> Teams::epoch = 1;

Teams::~Teams() = default;

Result<std::unique_ptr<Teams>> Teams::create(Job& job) {
  const auto size = static_cast<std::uint32_t>(job.size());
  const std::size_t world_bytes = job.rank() == 0 ? TeamBlock::bytes_for(size) : 0;
  auto memory = job.provide(Service::teams, sizeof(TeamBoard) + world_bytes);
  if (!memory.ok()) return std::move(memory).status();
  auto* const board = new (memory.value()) TeamBoard;
  if (job.rank() == 0) TeamBlock::make(memory.value() + sizeof(TeamBoard), shape_for(job, size, 0));
  return std::unique_ptr<Teams>(new Teams(job, *board));
}

Status Teams::start() {
  std::vector<int> ranks(static_cast<std::size_t>(job_.size()));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = static_cast<int>(rank);
  if (Status status = check(ranks); !status.ok()) return std::move(status).within("world team");
  std::byte* const memory = job_.service(Service::teams, 0).data() + sizeof(TeamBoard);
  TeamBlock& block = *std::launder(reinterpret_cast<TeamBlock*>(memory));
  world_ = std::unique_ptr<Team>(new Team(job_, std::move(ranks), job_.rank(), block));
  return {};
}

Status Teams::stop() { return job_.bootstrap().fence(); }

TeamBoard& Teams::board_of(int rank) const {
  return *std::launder(reinterpret_cast<TeamBoard*>(job_.service(Service::teams, rank).data()));
}

Status Teams::check(std::span<const int> ranks) const {
  if (ranks.empty()) return {RMA_ERR_ARGUMENT, "a team has at least one member; none is listed"};
  std::vector<bool> listed(static_cast<std::size_t>(job_.size()));
  for (const int rank : ranks) {
    if (rank < 0 || rank >= job_.size()) {
      return {RMA_ERR_RANK,
              fmt::format("rank {} does not exist: the job has ranks 0 to {}", rank, job_.size() - 1)};
    }
    if (listed[static_cast<std::size_t>(rank)]) {
      return {RMA_ERR_ARGUMENT, fmt::format("rank {} is listed twice; list each member once", rank)};
    }
    listed[static_cast<std::size_t>(rank)] = true;
    if (!job_.mapped(rank)) {
      return {RMA_ERR_UNSUPPORTED,
              fmt::format("rank {} is on another host; a team's members share one", rank)};
    }
  }
  if (!listed[static_cast<std::size_t>(job_.rank())]) {
    return {RMA_ERR_RANK,
            fmt::format("this process, rank {}, is not listed; only members make a team", job_.rank())};
  }
  return {};
}

Result<Team*> Teams::create(std::span<const int> ranks) {
  if (Status status = check(ranks); !status.ok()) return status;
  return join({ranks.begin(), ranks.end()});
}

Result<Team*> Teams::join(std::vector<int> ranks) {
  const int first = ranks.front();
  const std::size_t bytes = TeamBlock::bytes_for(static_cast<std::uint32_t>(ranks.size()));
  const TeamKey key = TeamKey::of(ranks);
  TeamBlock* block = nullptr;
  if (first == job_.rank()) {
    auto memory = job_.allocator().allocate(MemoryKind::internal, bytes, kCacheLine);
    if (memory.ok()) {
      const std::uint64_t number = made_.fetch_add(1, std::memory_order_relaxed) + std::uint64_t{1};
      const std::uint64_t id = static_cast<std::uint64_t>(first) << 32U | number;
      block = &TeamBlock::make(memory.value(), shape_for(job_, ranks.size(), id));
    }
    if (ranks.size() > 1) {
      board_.post(key, reinterpret_cast<std::uintptr_t>(block), static_cast<std::uint32_t>(ranks.size() - 1),
                  job_.wait_policy());
    }
    if (!memory.ok()) {
      return std::move(memory).status().within(fmt::format("what a team of {} ranks shares", ranks.size()));
    }
  } else {
    const std::uint64_t address = board_of(first).take(key, job_.wait_policy());
    if (address == 0) {
      return Status(
          RMA_ERR_NO_MEMORY,
          fmt::format("rank {}, the first of the team, has no room for the {} bytes that its {} ranks "
                      "share; raise RMA_HEAP_SIZE",
                      first, bytes, ranks.size()));
    }
    std::byte* const here = job_.direct(reinterpret_cast<const void*>(address), bytes, first);
    if (here == nullptr || address % kCacheLine != 0) {
      return Status(
          RMA_ERR_STATE,
          fmt::format("what rank {} posted for a team of {} ranks is not in its heap", first, ranks.size()));
    }
    block = std::launder(reinterpret_cast<TeamBlock*>(here));
  }
  const auto me = std::find(ranks.begin(), ranks.end(), job_.rank()) - ranks.begin();
  return add(std::unique_ptr<Team>(new Team(job_, std::move(ranks), static_cast<int>(me), *block)));
}

Result<Team*> Teams::split(Team& parent, int color, int key) {
  std::vector<SplitChoice> choices(static_cast<std::size_t>(parent.size()));
  const SplitChoice mine = {.color = color, .key = key};
  if (Status status = allgather(parent, std::span(choices), mine); !status.ok()) return status;
  if (color < 0) return nullptr;
  std::vector<int> ranks = split_members(choices, color);
  for (int& rank : ranks) rank = parent.world_rank(rank);
  return join(std::move(ranks));
}

Status Teams::free(Team* team) {
  if (team == world_.get()) {
    return {RMA_ERR_ARGUMENT, "the world team cannot be freed; it lasts until rma_finalize"};
  }
  Status status = leave(*team);
  remove(team);
  return status;
}

Status Teams::leave(Team& team) {
  team.exchange().barrier();
  TeamBlock& block = team.block_;
  const int first = team.world_rank(0);
  if (first != job_.rank()) {
    block.left.fetch_add(1, std::memory_order_release);  // pairs with the load below
    board_of(first).bell().ring();
    return {};
  }
  const auto others = static_cast<std::uint32_t>(team.size() - 1);
  wait_until(board_.bell(), job_.wait_policy(),
             [&] { return block.left.load(std::memory_order_acquire) == others; });
  return job_.allocator().free(MemoryKind::internal, &block);
}

Team* Teams::add(std::unique_ptr<Team> team) {
  Team* const added = team.get();
  const std::unique_lock guard(mutex_);
  teams_.emplace(added, std::move(team));
  epoch.fetch_add(1, std::memory_order_release);
  return added;
}

void Teams::remove(Team* team) {
  const std::unique_lock guard(mutex_);
  teams_.erase(team);
  epoch.fetch_add(1, std::memory_order_release);
}

bool Teams::find(const Team* team) const {
  const std::shared_lock guard(mutex_);
  if (!teams_.contains(team)) return false;
  this_threads_known = {.team = team, .epoch = epoch.load(std::memory_order_relaxed)};
  return true;
}

}  // namespace rma
