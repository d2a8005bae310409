#include "collectives/team_memory.hpp"

#include <fmt/format.h>

#include <vector>

#include "collectives/collectives.hpp"

namespace rma {
namespace {

constexpr std::size_t kUsualAlignment = 64;

/// What a member tells the others about its allocation.
struct Outcome {
  void* address = nullptr;
  int failed = 0;
};

}  // namespace

Status allocate(Job& job, Team& team, std::size_t bytes, std::size_t alignment, std::span<void*> addresses,
                void** mine) {
  Outcome outcome;
  Status status;
  if (bytes != 0) {
    auto block =
        job.allocator().allocate(MemoryKind::collective, bytes, alignment != 0 ? alignment : kUsualAlignment);
    if (block.ok()) {
      outcome.address = block.value();
    } else {
      outcome.failed = 1;
      status = std::move(block).status();
    }
  }

  std::vector<Outcome> outcomes(static_cast<std::size_t>(team.size()));
  // After a failure the block stays: members that noticed nothing may use it.
  if (Status told = allgather(team, std::span(outcomes), outcome); !told.ok()) return told;
  int failures = 0;
  int first_failed = 0;
  for (int member = team.size() - 1; member >= 0; --member) {
    if (outcomes[static_cast<std::size_t>(member)].failed == 0) continue;
    first_failed = team.world_rank(member);
    ++failures;
  }

  if (failures == 0) {
    for (std::size_t member = 0; member < addresses.size(); ++member) {
      addresses[member] = outcomes[member].address;
    }
    if (mine != nullptr) *mine = outcome.address;
    return {};
  }
  if (!status.ok()) return std::move(status).within(fmt::format("rank {}", job.rank()));
  if (outcome.address != nullptr) {
    if (Status freed = job.allocator().free(MemoryKind::collective, outcome.address); !freed.ok())
      return freed;
  }
  return {RMA_ERR_NO_MEMORY,
          failures == 1
              ? fmt::format("rank {} could not allocate its part, so nothing was allocated; its own "
                            "error says why",
                            first_failed)
              : fmt::format("rank {} and {} more could not allocate their parts, so nothing was "
                            "allocated; their own errors say why",
                            first_failed, failures - 1)};
}

Status release(Job& job, Team& team, void* mine) {
  if (Status status = barrier(team); !status.ok()) return status;
  if (mine == nullptr) return {};
  return job.allocator().free(MemoryKind::collective, mine);
}

}  // namespace rma
