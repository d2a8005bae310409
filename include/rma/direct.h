/**
 * @file direct.h
 * The inlined path to memory that is mapped here: one bounds check, then the access itself.
 *
 * The library publishes, for each rank, where that rank's heap stands in its owner's address space and how
 * far away it is mapped here. An address outside goes to the library, which knows every other path. These
 * inlined accesses are not counted in the statistics.
 *
 * In a forked child the inlined path goes on as in its parent: the memory is shared, not copied. What takes
 * the library's path is refused there (RMA_ERR_STATE).
 */
#ifndef RMA_DIRECT_H
#define RMA_DIRECT_H

#include "rma/rma.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How one rank's heap is reached: [base, base + bytes) of its addresses lies at address + delta here. */
typedef struct rma_direct_peer {
  uintptr_t base;
  size_t bytes; /**< 0: not mapped here */
  ptrdiff_t delta;
} rma_direct_peer_t;

/** One entry per rank, `count` of them: 0 outside rma_init ... rma_finalize. Read only. */
typedef struct rma_direct_table {
  const rma_direct_peer_t* peers;
  size_t count;
  size_t atomic_count; /**< count where atomics are the processor's, 0 where a network device does them all */
} rma_direct_table_t;
extern rma_direct_table_t rma_direct;

/** Where `bytes` bytes at `address` of `rank` are mapped here, or null when they are not (or `rank` is none).
 */
static inline void* rma_direct_address(const void* address, size_t bytes, int rank) {
  if ((size_t)(unsigned)rank >= rma_direct.count) return NULL;
  const rma_direct_peer_t* const peer = &rma_direct.peers[rank];
  const uintptr_t offset = (uintptr_t)address - peer->base;
  if (bytes > peer->bytes || offset > peer->bytes - bytes) return NULL;
  return (char*)address + peer->delta;
}

/** As rma_put of 8 aligned bytes, inlined. */
static inline rma_status_t rma_put8(uint64_t* dst, uint64_t value, int rank) {
  void* const here = rma_direct_address(dst, sizeof value, rank);
  if (here == NULL || ((uintptr_t)dst & 7) != 0) return rma_put(dst, &value, sizeof value, rank);
  __atomic_store_n((uint64_t*)here, value, __ATOMIC_RELEASE);
  return RMA_SUCCESS;
}

/** As rma_get of 8 aligned bytes, inlined. */
static inline rma_status_t rma_get8(uint64_t* dst, const uint64_t* src, int rank) {
  void* const here = rma_direct_address(src, sizeof *dst, rank);
  if (here == NULL || ((uintptr_t)src & 7) != 0) return rma_get(dst, src, sizeof *dst, rank);
  *dst = __atomic_load_n((const uint64_t*)here, __ATOMIC_ACQUIRE);
  return RMA_SUCCESS;
}

/** As rma_atomic64(RMA_FETCH_ADD, ...), inlined, except that it wakes nobody who sleeps in rma_wait_until on
 * the word: that thread looks again within 10 ms. */
static inline rma_status_t rma_fetch_add8(uint64_t* target, uint64_t operand, uint64_t* old, int rank) {
  void* const here = (size_t)(unsigned)rank < rma_direct.atomic_count
                         ? rma_direct_address(target, sizeof operand, rank)
                         : NULL;
  if (here == NULL || ((uintptr_t)target & 7) != 0) {
    return rma_atomic64(RMA_FETCH_ADD, target, operand, 0, old, rank);
  }
  const uint64_t before = __atomic_fetch_add((uint64_t*)here, operand, __ATOMIC_SEQ_CST);
  if (old != NULL) *old = before;
  return RMA_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif
