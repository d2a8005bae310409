#pragma once

// The templates that the entry points call; generate.py writes the entry points.

#include "shmem.h"
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

/// Begins the definition of an entry point, which the library shows. The header does not say so: in a unity
/// build, a file in front of this one may have included it.
#define RMA_SHMEM_ENTRY [[gnu::visibility("default")]]
/// Defines shmem_x as a weak alias of pshmem_x. The compiler checks that the header declares it with the same
/// type.
#define RMA_SHMEM_WEAK(name) RMA_SHMEM_ENTRY [[gnu::weak, gnu::alias("p" #name)]] decltype(p##name) name
