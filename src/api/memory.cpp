// Allocation and registration.

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/check_team.hpp"
#include "api/fence.hpp"
#include "collectives/team/collectives.hpp"
#include "collectives/team/team_memory.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

constexpr std::size_t kDefaultAlignment = 64;

Status check_alignment(std::size_t& alignment) {
  if (alignment == 0) alignment = kDefaultAlignment;
  if ((alignment & (alignment - 1)) == 0) return {};
  return {RMA_ERR_ALIGNMENT, text("alignment {} is not a power of two", alignment)};
}

/// Checks the arguments of rma_malloc and rma_reserve, which differ in `make`: allocate() or reserve().
Status make_blocks(decltype(allocate) make, Runtime& runtime, rma_team_t team, std::size_t bytes,
                   std::size_t alignment, void** addresses, void** mine) {
  Team* members = nullptr;
  RMA_TRY(check_team(runtime, team, members));
  RMA_TRY(check_alignment(alignment));
  const std::span<void*> all(addresses, addresses != nullptr ? size_of(*members) : 0);
  return make(*runtime.job, *members, bytes, alignment, all, mine);
}

}  // namespace

extern "C" {

rma_status_t rma_malloc(rma_team_t team, size_t bytes, size_t alignment, void** addresses, void** mine) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) {
    return make_blocks(allocate, runtime, team, bytes, alignment, addresses, mine);
  });
}

rma_status_t rma_reserve(rma_team_t team, size_t bytes, size_t alignment, void** addresses, void** mine) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) {
    return make_blocks(reserve, runtime, team, bytes, alignment, addresses, mine);
  });
}

rma_status_t rma_commit(void* address, size_t bytes) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) {
    RMA_TRY(check_range(address, bytes, "address"));
    return bytes == 0 ? Status() : runtime.job->memory().allocator().commit(address, bytes);
  });
}

rma_status_t rma_free(rma_team_t team, void* mine) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    Team* members = nullptr;
    RMA_TRY(check_team(runtime, team, members));
    Status fenced = fence_all_contexts(runtime);
    Status freed = release(*runtime.job, *members, mine);
    return freed.ok() ? std::move(fenced) : std::move(freed);
  });
}

rma_status_t rma_malloc_local(size_t bytes, size_t alignment, void** address) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(address, "address"));
    RMA_TRY(check_alignment(alignment));
    librma::count(Counter::allocate);
    *address = nullptr;
    if (bytes == 0) return {};
    RMA_TRY_ASSIGN(block, runtime.job->memory().allocator().allocate(MemoryKind::local, bytes, alignment));
    *address = block;
    return {};
  });
}

rma_status_t rma_free_local(void* address) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    return address == nullptr ? Status() : runtime.job->memory().allocator().free(MemoryKind::local, address);
  });
}

rma_status_t rma_register(void* address, size_t bytes) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) {
    RMA_TRY(check_range(address, bytes, "address"));
    return runtime.job->memory().user_regions().add(static_cast<std::byte*>(address), bytes);
  });
}

rma_status_t rma_unregister(void* address) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    return runtime.job->memory().user_regions().remove(static_cast<std::byte*>(address));
  });
}

rma_status_t rma_map(const void* address, size_t bytes, int rank, void** here) {
  return call(__func__, rank, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_rank(runtime, rank));
    RMA_TRY(check_range(address, bytes, "address"));
    RMA_TRY(check_not_null(here, "here"));
    *here = runtime.job->direct(address, bytes, rank);
    if (*here != nullptr) return {};
    return {RMA_ERR_ADDRESS,
            text("{} bytes at {} are not in the heap of rank {}, or this process has not mapped it", bytes,
                 address, rank)};
  });
}

}  // extern "C"

}  // namespace librma
