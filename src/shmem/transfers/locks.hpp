#pragma once

#include "shmem/job/errors.hpp"

namespace librma::shmem {

void set_lock(Call call, long* lock);
/// Returns 0 if this PE has got the lock, and 1 if another holds it.
int test_lock(Call call, long* lock);
void clear_lock(Call call, long* lock);
/// Returns the PE in front of the calling thread in the queue of the lock that it waits for, or -1.
[[nodiscard]] int find_pe_in_front();

}  // namespace librma::shmem
