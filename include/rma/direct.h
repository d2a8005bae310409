/**
 * @file direct.h
 * The inlined path to memory that this process has mapped: one bounds check, then the access itself. The
 * functions are valid in every version of C since C89, which has no word `inline`.
 *
 * For each rank the library publishes where that rank's heap lies in the owner's address space, and the
 * distance from there to the place where this process has mapped it. The functions below pass every other
 * address to the library, which knows all other paths. The statistics do not count inlined accesses.
 *
 * In a forked child the inlined path works as in its parent: the two share the memory, and the child does not
 * get a copy. The library refuses every other path there (RMA_ERR_STATE).
 */
#ifndef RMA_DIRECT_H
#define RMA_DIRECT_H

#include "rma/rma.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Says how to reach one rank's heap: the owner's address `a` in [base, base + bytes) is mapped at a + delta
 *  in this process. */
typedef struct rma_direct_peer {
  uintptr_t base;
  size_t bytes; /**< 0 if this process has not mapped the heap */
  ptrdiff_t delta;
  /** Not 0 while a thread of the rank sleeps until a store to its memory; null if the heap is not mapped. */
  const uint32_t* awaits_stores;
} rma_direct_peer_t;

/** The table of all ranks, one entry for each of `count` ranks. `count` is 0 before rma_init and after
 *  rma_finalize. Programs may only read it. */
typedef struct rma_direct_table {
  const rma_direct_peer_t* peers;
  size_t count;
  size_t atomic_count; /**< `count` if the processor executes atomics, 0 if a network device does */
} rma_direct_table_t;
extern rma_direct_table_t rma_direct;

/** Returns the address at which this process has mapped the `bytes` bytes at `address` of `rank`. Returns
 *  null if it has not mapped all of them, or if there is no such rank. */
static __inline__ void* rma_direct_address(const void* address, size_t bytes, int rank) {
  const rma_direct_peer_t* peer;
  uintptr_t offset;
  if ((size_t)(unsigned)rank >= rma_direct.count) return NULL;
  peer = &rma_direct.peers[rank];
  offset = (uintptr_t)address - peer->base;
  if (bytes > peer->bytes || offset > peer->bytes - bytes) return NULL;
  return (char*)address + peer->delta;
}

/** Wakes the threads of `rank` that sleep in rma_wait_until, rma_wait_for and their relatives, because this
 *  thread has stored to memory of the rank that it has mapped. Costs a load if nobody sleeps. The functions
 *  of this library do it themselves; a program does it after its own stores (rma_map). */
static __inline__ void rma_wake_after_store(int rank) {
  /* For the compiler. The sleeper has the processor ordered (rma_wake in rma.h). */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(__atomic_load_n(rma_direct.peers[rank].awaits_stores, __ATOMIC_RELAXED) != 0, 0))
    rma_wake(rank);
}

/** Stores `value` into the 8 bytes at `dst` of `rank`, as rma_put does, with an inlined store if the memory
 *  is mapped and `dst` is aligned to 8 bytes. */
static __inline__ rma_status_t rma_put8(uint64_t* dst, uint64_t value, int rank) {
  void* const here = rma_direct_address(dst, sizeof value, rank);
  if (here == NULL || ((uintptr_t)dst & 7) != 0) return rma_put(dst, &value, sizeof value, rank);
  __atomic_store_n((uint64_t*)here, value, __ATOMIC_RELEASE);
  rma_wake_after_store(rank);
  return RMA_SUCCESS;
}

/** Loads the 8 bytes at `src` of `rank` into `*dst`, as rma_get does, with an inlined load if the memory is
 *  mapped and `src` is aligned to 8 bytes. */
static __inline__ rma_status_t rma_get8(uint64_t* dst, const uint64_t* src, int rank) {
  void* const here = rma_direct_address(src, sizeof *dst, rank);
  if (here == NULL || ((uintptr_t)src & 7) != 0) return rma_get(dst, src, sizeof *dst, rank);
  *dst = __atomic_load_n((const uint64_t*)here, __ATOMIC_ACQUIRE);
  return RMA_SUCCESS;
}

/** Adds `operand` to the 8-byte integer at `target` of `rank`, as rma_atomic64(RMA_FETCH_ADD, ...) does, with
 *  an inlined atomic instruction if the memory is mapped. `old` may be null. */
static __inline__ rma_status_t rma_fetch_add8(uint64_t* target, uint64_t operand, uint64_t* old, int rank) {
  void* const here = (size_t)(unsigned)rank < rma_direct.atomic_count
                         ? rma_direct_address(target, sizeof operand, rank)
                         : NULL;
  uint64_t before;
  if (here == NULL || ((uintptr_t)target & 7) != 0) {
    return rma_atomic64(RMA_FETCH_ADD, target, operand, 0, old, rank);
  }
  before = __atomic_fetch_add((uint64_t*)here, operand, __ATOMIC_SEQ_CST);
  if (old != NULL) *old = before;
  rma_wake_after_store(rank);
  return RMA_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
