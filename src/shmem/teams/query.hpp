#pragma once

#include "shmem.h"
#include "shmem/job/errors.hpp"

namespace librma::shmem {

int pe_accessible(Call call, int pe);
int addr_accessible(Call call, const void* address, int pe);
/// Returns where this process may load and store the object of `pe`, or null if it cannot.
void* pointer(Call call, const void* address, int pe);
void* team_pointer(Call call, shmem_team_t team, const void* address, int pe);

}  // namespace librma::shmem
