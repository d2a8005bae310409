/**
 * @file collectives.h
 * Collective operations on the teams of rma.h that go on while the program computes, and those that rma.h has
 * not: gather, scatter, all-to-all, reduce-scatter and scan.
 *
 * A nonblocking call starts the operation and returns a request. The operation makes progress while any
 * thread of the process is inside the library, and all the time with RMA_PROGRESS=thread. No buffer may be
 * touched until the caller has waited for the request. A member of a team may have any number of them open.
 *
 * These conventions hold for every function here, besides those of rma.h:
 *  - The calls are collective. All members make their collective calls on a team in the same order, blocking
 *    and nonblocking ones together, and with arguments that agree. They may wait for the requests in any
 *    order.
 *  - A nonblocking call does not wait for other members. The operation may be complete on one member before
 *    another has started it, unless it needs that member's data.
 *  - `src` and `dst` are disjoint, unless the text says that they may be equal.
 *  - If a member is lost, the operation fails on all members with RMA_ERR_PEER_LOST, and so does every later
 *    one of this file on the team.
 */
#ifndef RMA_COLLECTIVES_H
#define RMA_COLLECTIVES_H

#include <stddef.h>
#include <stdint.h>

#include "rma/messages.h"
#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#define RMA_ENUM : int
#else
#define RMA_ENUM
#endif

/** Starts a barrier. It is complete when every member has started it. Unlike rma_barrier, it performs no
 *  rma_fence_all. */
rma_status_t rma_barrier_nb(rma_team_t team, rma_request_t* request);
/** Starts an rma_broadcast. */
rma_status_t rma_broadcast_nb(rma_team_t team, void* buffer, size_t bytes, int root, rma_request_t* request);

/** Gathers `bytes` bytes from each member's `src` into the root's `dst`, in the order of team ranks. `dst`
 *  has room for team size * `bytes` bytes, and is ignored on the other members. At the root, `src` may be the
 *  root's own place in `dst`. */
rma_status_t rma_gather(rma_team_t team, void* dst, const void* src, size_t bytes, int root);
rma_status_t rma_gather_nb(rma_team_t team, void* dst, const void* src, size_t bytes, int root,
                           rma_request_t* request);
/** Copies block i of the root's `src` to the `dst` of member i. Each block has `bytes` bytes. `src` is
 *  ignored on the other members. At the root, `dst` may be the root's own block in `src`. */
rma_status_t rma_scatter(rma_team_t team, void* dst, const void* src, size_t bytes, int root);
rma_status_t rma_scatter_nb(rma_team_t team, void* dst, const void* src, size_t bytes, int root,
                            rma_request_t* request);
/** Starts an rma_allgather. */
rma_status_t rma_allgather_nb(rma_team_t team, void* dst, const void* src, size_t bytes,
                              rma_request_t* request);
/** Copies block i of member j's `src` to block j of member i's `dst`, for all members i and j. Each block has
 *  `bytes` bytes. `src` and `dst` may be equal. */
rma_status_t rma_alltoall(rma_team_t team, void* dst, const void* src, size_t bytes);
rma_status_t rma_alltoall_nb(rma_team_t team, void* dst, const void* src, size_t bytes,
                             rma_request_t* request);

/** Start an rma_reduce and an rma_allreduce. The order in which elements are combined depends only on the
 *  team and on `count`, and differs from that of the blocking calls. rma_allreduce_nb gives every member the
 *  same bits. */
rma_status_t rma_reduce_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                           rma_reduction_t op, int root, rma_request_t* request);
rma_status_t rma_allreduce_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                              rma_reduction_t op, rma_request_t* request);
/** Reduces all members' `src`, team size * `count` elements, and stores block i of the result, `count`
 *  elements, into the `dst` of member i. */
rma_status_t rma_reduce_scatter(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                                rma_reduction_t op);
rma_status_t rma_reduce_scatter_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                                   rma_reduction_t op, rma_request_t* request);
/** Reduces the `src` of the members 0 to i into the `dst` of member i, for each member i. `dst` and `src` are
 *  equal or disjoint. */
rma_status_t rma_scan(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                      rma_reduction_t op);
rma_status_t rma_scan_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                         rma_reduction_t op, rma_request_t* request);

/* ---- The general form ---------------------------------------------------------------------------------- */

/** The operations. RMA_COLLECTIVE_EXSCAN is a scan without the member's own elements: `dst` of member 0 does
 *  not change. RMA_COLLECTIVE_NEIGHBORS exchanges blocks between the members that the caller lists: every
 *  block of `src_blocks` goes to a member, and every block of `dst_blocks` comes from one. */
typedef enum rma_collective_kind RMA_ENUM {
  RMA_COLLECTIVE_BARRIER = 0,
  RMA_COLLECTIVE_BROADCAST = 1,
  RMA_COLLECTIVE_GATHER = 2,
  RMA_COLLECTIVE_SCATTER = 3,
  RMA_COLLECTIVE_ALLGATHER = 4,
  RMA_COLLECTIVE_ALLTOALL = 5,
  RMA_COLLECTIVE_REDUCE = 6,
  RMA_COLLECTIVE_ALLREDUCE = 7,
  RMA_COLLECTIVE_REDUCE_SCATTER = 8,
  RMA_COLLECTIVE_SCAN = 9,
  RMA_COLLECTIVE_EXSCAN = 10,
  RMA_COLLECTIVE_NEIGHBORS = 11
} rma_collective_kind_t;

/** Says how a reduction combines elements of `element_bytes` bytes. */
typedef struct rma_reducer {
  /** Performs inout[i] = in[i] op inout[i] for `count` elements. The operation is associative. The elements
   *  of `in` come from lower team ranks than those of `inout`, unless `commutes`. The arrays are disjoint.
   *  Those that the library provides are aligned to 64 bytes, or continue one that is. Any thread of the
   *  process that is inside the library may call it, one at a time. It calls no function of the library. */
  void (*combine)(const void* in, void* inout, size_t count, void* context);
  void* context;        /**< the library passes it to `combine` */
  size_t element_bytes; /**< greater than 0 */
  int commutes;         /**< whether a op b is b op a */
} rma_reducer_t;

/** One member's part of the data. */
typedef struct rma_block {
  void* address;
  size_t bytes;
} rma_block_t;

/**
 * A collective operation as one member takes part in it. The members agree on `kind`, `root`, `uneven`,
 * `count`, `counts` and the reducer. Members that the text of the operation excludes may leave buffers null.
 *
 * By default all blocks have `bytes` bytes and follow each other in `dst` and `src`. If `uneven` is not 0,
 * `bytes` is the size of the member's own block in a gather, scatter or allgather, and lists with one entry
 * for each member stand in place of the arrays of blocks: `dst_blocks` in a gather (at the root) and an
 * allgather, `src_blocks` in a scatter (at the root), both in an all-to-all. Data that one member sends and
 * another receives have the same size in both lists. A list may be its own counterpart (dst_blocks ==
 * src_blocks) where `src` and `dst` may be equal.
 *
 * If `first_group` is not 0, the operation connects two groups (MPI 4.1, section 6.2.2: an
 * intercommunicator): the first `first_group` members of the team, and the others. A root exchanges data with
 * the members of the other group only. Without a root, each group gets the data or the reduced data of the
 * other one; in a reduce-scatter, `counts` has an entry for each member of the caller's group. Buffers and
 * lists have one block for each member of the group with which they are exchanged. A member of the root's
 * group that is not the root passes -1 as the root, and takes no part. Scans and RMA_COLLECTIVE_NEIGHBORS do
 * not exist for two groups, and no buffers may be equal.
 *
 * In RMA_COLLECTIVE_NEIGHBORS block i of `src_blocks` goes to member destinations[i], and block i of
 * `dst_blocks` comes from member sources[i]. A member may be listed several times, and the caller too. The
 * blocks that go from one member to another are matched in the order of both lists.
 *
 * The lists may be freed when the call has returned; the buffers may not.
 */
typedef struct rma_collective {
  rma_collective_kind_t kind;
  int root;        /**< of a broadcast, gather, scatter and reduce: a team rank */
  void* dst;       /**< also the buffer of a broadcast */
  const void* src; /**< of a reduction: equal to `dst`, or disjoint */
  size_t bytes;
  int uneven;
  const rma_block_t* dst_blocks;
  const rma_block_t* src_blocks;
  size_t count;         /**< elements of a reduction; in a reduce-scatter, of one block */
  const size_t* counts; /**< of a reduce-scatter: elements of each block, or null if each has `count` */
  rma_reducer_t reducer;
  int first_group;    /**< members of the first of two groups; 0 if the members are one group */
  const int* sources; /**< of RMA_COLLECTIVE_NEIGHBORS: team ranks, as are the destinations */
  const int* destinations;
  int source_count;
  int destination_count;
  const char* name;      /**< of the call, for RMA_CHECK_COLLECTIVES: different names do not match; or null */
  const char* reduction; /**< the same for the operation of a reduction */
} rma_collective_t;

/** Executes the operation. The errors are those of rma_collective_nb. Elements are combined in the order of
 *  team ranks, unless the reducer commutes. All members get the same bits of an allreduce. */
rma_status_t rma_collective_run(rma_team_t team, const rma_collective_t* collective);
/** Starts the operation. Besides the errors of rma.h, returns RMA_ERR_ARGUMENT for an operation that does not
 *  exist, a null pointer, a negative number of neighbors, groups that are not two, or a reducer without a
 *  function or with elements of 0 bytes. */
rma_status_t rma_collective_nb(rma_team_t team, const rma_collective_t* collective, rma_request_t* request);
/** Keeps the operation, which rma_start then starts, again and again. The order of the members' collective
 *  calls includes this one, but not rma_start: members may start several such operations in different orders.
 *  The caller waits for an operation before it starts it again or frees it (rma_persistent_free). */
rma_status_t rma_collective_init(rma_team_t team, const rma_collective_t* collective,
                                 rma_persistent_t* persistent);

/**
 * Makes a team of the listed world ranks without communication, for an interface over this one that has
 * agreed with the other members already. All collective calls work on it. The call is local, and so is
 * rma_team_free for this team. At the first blocking collective the members wait for each other, if all are
 * on one host.
 * @param ranks    world ranks in the order of team ranks. They include the caller, and none is listed twice.
 * @param context  a number from 0 to RMA_CONTEXT_LAST. All members give the same. No other such team that has
 *                 a member in common has the same number at the same time. Numbers up to RMA_CONTEXT_LAST / 2
 *                 are the program's.
 * @return RMA_ERR_ARGUMENT, RMA_ERR_RANK as rma_team_create.
 */
rma_status_t rma_team_attach(const int* ranks, int count, uint32_t context, rma_team_t* team);

#undef RMA_ENUM

#ifdef __cplusplus
}
#endif

#endif
