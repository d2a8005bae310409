#pragma once

// What the entry points, which generate.py writes, call.

#pragma GCC visibility push(default)
#include "shmem.h"
#pragma GCC visibility pop

#include "shmem/active_sets.hpp"
#include "shmem/atomics.hpp"
#include "shmem/cache.hpp"
#include "shmem/collectives.hpp"
#include "shmem/contexts.hpp"
#include "shmem/heap.hpp"
#include "shmem/life.hpp"
#include "shmem/locks.hpp"
#include "shmem/order.hpp"
#include "shmem/query.hpp"
#include "shmem/reductions.hpp"
#include "shmem/signals.hpp"
#include "shmem/teams.hpp"
#include "shmem/transfers.hpp"
#include "shmem/waits.hpp"

/// Defines shmem_x as a weak alias of pshmem_x. The compiler checks that the header declares it with the same type.
#define RMA_SHMEM_WEAK(name) [[gnu::weak, gnu::alias("p" #name)]] decltype(p##name) name
