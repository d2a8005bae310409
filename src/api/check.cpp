#include "api/check.hpp"

#include "api/check_team.hpp"
#include "atomics/types.hpp"
#include "collectives/team/team.hpp"
#include "util/text.hpp"

namespace librma {

Status check_stranger(const Job& job, int rank) {
  if (rank >= 0 && rank < job.size() && job.mapped(rank)) return {};
  if (job.size() == job.world_size())
    return {RMA_ERR_RANK, text("there is no rank {}: ranks are 0 .. {}", rank, job.size() - 1)};
  return {RMA_ERR_RANK, text("this process has met no rank {}: its own world has the ranks {} .. {}", rank,
                             job.world_first(), job.world_first() + job.world_size() - 1)};
}

Status null_argument(const char* argument) { return {RMA_ERR_ARGUMENT, text("{} is null", argument)}; }

Status overflow(const void* address, std::size_t bytes) {
  return {RMA_ERR_SIZE, text("{} bytes at {} reach beyond the last address", bytes, address)};
}

Status misaligned(const void* address, std::size_t alignment) {
  return {RMA_ERR_ALIGNMENT, text("{} is not a multiple of {}", address, alignment)};
}

Status check_type(rma_type_t type) {
  if (valid_type(type)) return {};
  return {RMA_ERR_ARGUMENT, text("there is no element type {}", static_cast<int>(type))};
}

Status no_member(int team_rank, int size) {
  return {RMA_ERR_RANK, text("there is no team rank {}: the team has 0 .. {}", team_rank, size - 1)};
}

Status check_team(const Runtime& runtime, rma_team_t handle, Team*& team) {
  team = runtime.teams->find(handle);
  if (team != nullptr) [[likely]]
    return {};
  return {RMA_ERR_ARGUMENT,
          text("{} is not a team of this process, or was freed", static_cast<const void*>(handle))};
}

Status check_member(const Runtime& runtime, rma_team_t handle, int team_rank, Team*& team) {
  RMA_TRY(check_team(runtime, handle, team));
  const int size = team->size();
  if (static_cast<unsigned>(team_rank) < static_cast<unsigned>(size)) [[likely]]
    return {};
  return no_member(team_rank, size);
}

Status check_accumulate(const Runtime& runtime, const void* dst, const void* src, std::size_t count,
                        rma_type_t type, int rank) {
  RMA_TRY(check_type(type));
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, type_size(type), &bytes)) {
    return {RMA_ERR_SIZE, text("{} elements of {} bytes overflow a size", count, type_size(type))};
  }
  Status status = check_transfer(runtime, dst, src, bytes, rank);
  if (status.ok() && count > 0) status = check_aligned(dst, type_alignment(type));
  return status;
}

Status check_strided(const Runtime& runtime, const void* dst, const ptrdiff_t* dst_strides, const void* src,
                     const ptrdiff_t* src_strides, const std::size_t* counts, int levels, int rank) {
  RMA_TRY(check_rank(runtime, rank));
  if (levels < 0 || levels > RMA_MAX_LEVELS) {
    return {RMA_ERR_ARGUMENT, text("levels is {}: expected 0 .. {}", levels, RMA_MAX_LEVELS)};
  }
  RMA_TRY(check_not_null(counts, "counts"));
  for (int i = 0; i <= levels; ++i) {
    if (counts[i] == 0) return {};
  }
  if (levels > 0) {
    RMA_TRY(check_not_null(dst_strides, "dst_strides"));
    RMA_TRY(check_not_null(src_strides, "src_strides"));
  }
  RMA_TRY(check_not_null(dst, "dst"));
  return check_not_null(src, "src");
}

Status check_vector(const Runtime& runtime, const rma_iov_t* iov, std::size_t count, int rank) {
  RMA_TRY(check_rank(runtime, rank));
  if (count == 0) return {};
  RMA_TRY(check_not_null(iov, "iov"));
  for (std::size_t i = 0; i < count; ++i) {
    if (iov[i].segments == 0 || iov[i].bytes == 0) continue;
    if (iov[i].dst == nullptr || iov[i].src == nullptr) {
      return {RMA_ERR_ARGUMENT,
              text("descriptor {} has {} segments and a null dst or src", i, iov[i].segments)};
    }
    if (iov[i].segments > std::numeric_limits<std::size_t>::max() / iov[i].bytes) {
      return {RMA_ERR_SIZE, text("descriptor {}: {} segments of {} bytes overflow a size", i, iov[i].segments,
                                 iov[i].bytes)};
    }
  }
  return {};
}

}  // namespace librma
