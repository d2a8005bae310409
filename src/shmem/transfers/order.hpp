#pragma once

#include <cstddef>

#include "shmem.h"
#include "shmem/job/errors.hpp"

namespace librma::shmem {

void fence(Call call);
void quiet(Call call);
void pe_quiet(Call call, const int* pes, std::size_t count);
void ctx_fence(Call call, shmem_ctx_t ctx);
void ctx_quiet(Call call, shmem_ctx_t ctx);
void ctx_pe_quiet(Call call, shmem_ctx_t ctx, const int* pes, std::size_t count);
void barrier_all(Call call);
void sync_all(Call call);
int team_sync(Call call, shmem_team_t team);

}  // namespace librma::shmem
