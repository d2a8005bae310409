#pragma once

#include "shmem/errors.hpp"

namespace rma::shmem {

void set_lock(Call call, long* lock);
/// Returns 0 if this PE has got the lock, and 1 if another holds it.
int test_lock(Call call, long* lock);
void clear_lock(Call call, long* lock);

}  // namespace rma::shmem
