#pragma once

// What the entry points, which generate.py writes, call.

#pragma GCC visibility push(default)
#include "shmem.h"
#pragma GCC visibility pop

#include "shmem/collectives/active_sets.hpp"
#include "shmem/collectives/collectives.hpp"
#include "shmem/collectives/reductions.hpp"
#include "shmem/job/cache.hpp"
#include "shmem/life/life.hpp"
#include "shmem/memory/heap.hpp"
#include "shmem/teams/query.hpp"
#include "shmem/teams/teams.hpp"
#include "shmem/transfers/atomics.hpp"
#include "shmem/transfers/contexts.hpp"
#include "shmem/transfers/locks.hpp"
#include "shmem/transfers/order.hpp"
#include "shmem/transfers/signals.hpp"
#include "shmem/transfers/transfers.hpp"
#include "shmem/transfers/waits.hpp"

/// Defines shmem_x as a weak alias of pshmem_x. The compiler checks that the header declares it with the same
/// type.
#define RMA_SHMEM_WEAK(name) [[gnu::weak, gnu::alias("p" #name)]] decltype(p##name) name
