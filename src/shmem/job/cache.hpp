#pragma once

#include "shmem/job/errors.hpp"

namespace librma::shmem {

// The deprecated control of caches. The caches of all processors that this library runs on are coherent.
inline void no_cache(Call /*call*/) {}
inline void no_cache(Call /*call*/, void* /*address*/) {}

}  // namespace librma::shmem
