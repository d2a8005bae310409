#include "collectives/team/team_memory.hpp"

#include <algorithm>
#include <vector>

#include "collectives/team/collectives.hpp"
#include "core/job/job.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

constexpr std::size_t kUsualAlignment = 64;

/// `make(alignment)` makes this member's block.
template <typename Make>
Status make_blocks(Job& job, Team& team, std::size_t bytes, std::size_t alignment, std::span<void*> addresses,
                   void** mine, const Make& make) {
  std::byte* block = nullptr;
  std::vector<void*> all;
  Status status = unless_exhausted([&]() -> Status {
    // Allocates before any communication: a member that has no memory tells the others, and needs none for
    // that.
    all.resize(size_of(team));
    if (bytes == 0) return {};
    auto made = make(alignment != 0 ? alignment : kUsualAlignment);
    if (!made.ok()) return std::move(made).status().within(text("rank {}", job.rank()));
    block = made.value();
    return {};
  });
  status = agree(team, std::move(status));
  // After another failure the block stays, because members that have not seen the failure may use it.
  if (status.code() == RMA_ERR_NO_MEMORY && block != nullptr) {
    RMA_TRY(job.memory().allocator().free(MemoryKind::collective, block));
  }
  if (!status.ok()) return status;
  RMA_TRY(allgather(team, std::span(all), static_cast<void*>(block)));
  std::copy_n(all.begin(), addresses.size(), addresses.begin());
  if (mine != nullptr) *mine = block;
  return {};
}

}  // namespace

Status allocate(Job& job, Team& team, std::size_t bytes, std::size_t alignment, std::span<void*> addresses,
                void** mine) {
  return make_blocks(job, team, bytes, alignment, addresses, mine, [&](std::size_t known) {
    return job.memory().allocator().allocate(MemoryKind::collective, bytes, known);
  });
}

Status reserve(Job& job, Team& team, std::size_t bytes, std::size_t alignment, std::span<void*> addresses,
               void** mine) {
  return make_blocks(job, team, bytes, alignment, addresses, mine,
                     [&](std::size_t known) { return job.memory().allocator().reserve(bytes, known); });
}

Status release(Job& job, Team& team, void* mine) {
  RMA_TRY(barrier(team));
  if (mine == nullptr) return {};
  return job.memory().allocator().free(MemoryKind::collective, mine);
}

}  // namespace librma
