/**
 * @file rma.h
 * The C interface of librma: one-sided communication in a partitioned global address space.
 *
 * Conventions that hold for every function here:
 *  - Arguments come in memcpy's order: destination, source, size, then the rank.
 *  - An address on another rank is that rank's own virtual address, as its owner would use it.
 *  - `rank` is a rank of the world team, 0 to rma_size() - 1, unless the text says "team rank".
 *  - Sizes are in bytes unless the text says "elements"; strides are in bytes and may be negative.
 *  - Every call that can fail returns RMA_SUCCESS or one of the RMA_ERR_ codes; rma_last_error() then holds a
 *    text that names the call, the rank and the values. A call that fails with a bad argument changed
 * nothing; but of what a helper at another host does in pieces, part may be done when a later part turns out
 * to be out of reach (RMA_ERR_ADDRESS).
 *  - Besides the errors named at a call, each may return RMA_ERR_NOT_INITIALIZED, and one that reaches
 * another rank RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY (buffers, operations that are open at once) and
 * RMA_ERR_UNSUPPORTED (there is no way to that memory; the text says why).
 *  - Where the process has no memory left for a call's own bookkeeping, the call returns RMA_ERR_NO_MEMORY
 * and has undone what it had begun; other members of a collective call then fail with the same code.
 *  - A process that was forked while its parent was in the job, between rma_init and rma_finalize, is no
 * member of the job: every call returns RMA_ERR_STATE there (rma_initialized 0, rma_rank, rma_size and
 * rma_team_world as outside), and rma_abort ends that process only. It may use direct.h's inlined accesses to
 * mapped memory, which it shares with its parent, and exec. A process that was forked before or after that
 * may join by itself.
 *  - A handle (team, mutexes, request) is refused with RMA_ERR_ARGUMENT once it has been freed or waited for,
 * and after rma_finalize; no later one is ever equal to it.
 *  - Calls are thread-safe unless marked "collective"; a collective call is made by one thread of each member
 * of the team, in the same order on all of them.
 *  - Blocking operations from one process to the same target take effect in program order. Nonblocking ones
 * are unordered until waited for or fenced.
 *
 * Remote memory is memory of the target's heap (rma_malloc, rma_malloc_local) or memory that it registered
 * (rma_register). Local memory may be anything.
 */
#ifndef RMA_RMA_H
#define RMA_RMA_H

#include <stddef.h>
#include <stdint.h>

#define RMA_VERSION_MAJOR 0
#define RMA_VERSION_MINOR 1
#define RMA_VERSION_PATCH 0

#ifdef __cplusplus
#define RMA_ENUM : int
extern "C" {
#else
#define RMA_ENUM
#endif

/** What a call returns. */
typedef enum rma_status RMA_ENUM {
  RMA_SUCCESS = 0,
  RMA_ERR_NOT_INITIALIZED = 1, /**< before rma_init or after rma_finalize */
  RMA_ERR_ARGUMENT = 2,        /**< a null pointer, an unknown enumerator, a handle that is none */
  RMA_ERR_RANK = 3,            /**< no such rank in the team */
  RMA_ERR_SIZE = 4,            /**< a size or count overflows, or totals differ */
  RMA_ERR_ALIGNMENT =
      5, /**< an atomic's address is not a multiple of its size, or an alignment is no power of two */
  RMA_ERR_ADDRESS = 6,      /**< memory that is neither the target's heap nor registered there; what of the
                               heap is allocated is not looked at */
  RMA_ERR_NO_MEMORY = 7,    /**< the heap, or the system, has no more */
  RMA_ERR_SETTING = 8,      /**< an RMA_ environment variable is unknown or malformed */
  RMA_ERR_LAUNCH = 9,       /**< the launcher's services failed */
  RMA_ERR_PEER_LOST = 10,   /**< the other process is gone or unreachable */
  RMA_ERR_UNSUPPORTED = 11, /**< this path cannot do that */
  RMA_ERR_SYSTEM = 12,      /**< a system call failed; the text has its errno */
  RMA_ERR_STATE = 13,       /**< the call does not fit now: unlocking what is not held, and the like */
  RMA_ERR_VERSION = 14      /**< two processes of the job were built from different librma versions */
} rma_status_t;

/** Element types of accumulate and reductions. */
typedef enum rma_type RMA_ENUM {
  RMA_INT = 0,           /**< int */
  RMA_LONG = 1,          /**< long */
  RMA_LONG_LONG = 2,     /**< long long */
  RMA_FLOAT = 3,         /**< float */
  RMA_DOUBLE = 4,        /**< double */
  RMA_COMPLEX_FLOAT = 5, /**< two floats: real, imaginary */
  RMA_COMPLEX_DOUBLE = 6 /**< two doubles: real, imaginary */
} rma_type_t;

/** Operators of reductions. RMA_MIN and RMA_MAX are not defined for complex types; RMA_B* only for integers.
 */
typedef enum rma_reduction RMA_ENUM {
  RMA_SUM = 0,
  RMA_PROD = 1,
  RMA_MIN = 2,
  RMA_MAX = 3,
  RMA_BAND = 4,
  RMA_BOR = 5,
  RMA_BXOR = 6
} rma_reduction_t;

/** Atomic read-modify-write operations. */
typedef enum rma_atomic_op RMA_ENUM {
  RMA_FETCH_ADD = 0,
  RMA_SWAP = 1,
  RMA_COMPARE_SWAP = 2, /**< stores the operand where the old value equals `compare` */
  RMA_AND = 3,
  RMA_OR = 4,
  RMA_XOR = 5,
  RMA_SET = 6,  /**< stores; the old value is not returned */
  RMA_FETCH = 7 /**< reads; the operand is ignored */
} rma_atomic_op_t;

/** Comparisons for rma_wait_until: the value seen, compared (unsigned) with the one given. */
typedef enum rma_compare RMA_ENUM {
  RMA_EQ = 0,
  RMA_NE = 1,
  RMA_LT = 2,
  RMA_LE = 3,
  RMA_GT = 4,
  RMA_GE = 5
} rma_compare_t;

/** A team: an ordered subset of the job's ranks. A local handle. */
typedef struct rma_team* rma_team_t;

/** Mutexes created together. A local handle. */
typedef struct rma_mutexes* rma_mutexes_t;

/** A nonblocking operation that is still to be waited for, under way or complete. RMA_REQUEST_NULL is none,
 * and counts as complete. */
typedef uint64_t rma_request_t;
#define RMA_REQUEST_NULL ((rma_request_t)0)

/** The request of an operation that was complete when it was issued: waiting for it only makes it null. */
#define RMA_REQUEST_COMPLETE ((rma_request_t)1)

/** The most stride levels of a strided transfer. */
#define RMA_MAX_LEVELS 16

/* ---- Life ---------------------------------------------------------------------------------------------- */

/**
 * Joins the job and makes this process's memory reachable. Collective over all processes of the job. Under no
 * launcher the process is a job of one. May be called again after rma_finalize, and nests: each call needs
 * its rma_finalize.
 * @return RMA_ERR_SETTING, RMA_ERR_LAUNCH, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM, RMA_ERR_VERSION;
 * RMA_ERR_UNSUPPORTED where the job has several hosts and no usable network.
 */
rma_status_t rma_init(void);

/**
 * How the processes of a job find each other where they have means of their own: an MPI, say. allgather and
 * barrier are called in rma_init_with and rma_finalize, by their thread, in the same order on all processes;
 * they return 0 for success.
 */
typedef struct rma_bootstrap {
  int rank; /**< of this process, 0 to size - 1 */
  int size; /**< processes of the job */
  /** Gathers `bytes` bytes of each process, in the order of ranks, into everyone's `all`. Collective. */
  int (*allgather)(void* context, const void* mine, void* all, size_t bytes);
  /** Returns when all have called it. Collective. */
  int (*barrier)(void* context);
  /** Ends all processes with `exit_code`; at any time until rma_finalize, by any thread. May be null: then
   * only this process ends. */
  void (*abort)(void* context, int exit_code);
  void* context; /**< what the calls are given */
} rma_bootstrap_t;

/**
 * As rma_init, for the processes that `bootstrap` knows, whatever launcher there is: the job is these, in
 * that order. Needs rma_finalize as rma_init does.
 * @return as rma_init; RMA_ERR_LAUNCH when one of the calls failed, RMA_ERR_ARGUMENT, RMA_ERR_RANK when
 * `rank` is none, RMA_ERR_STATE when already initialized.
 */
rma_status_t rma_init_with(const rma_bootstrap_t* bootstrap);

/** Completes everything outstanding and leaves the job. Collective over the world team. */
rma_status_t rma_finalize(void);

/** 1 between rma_init and rma_finalize, else 0. */
int rma_initialized(void);

/** This process's rank, or -1 when not initialized. */
int rma_rank(void);

/** Number of processes of the job, or -1 when not initialized. */
int rma_size(void);

/** 1 when `rank`'s memory is mapped here (same host), 0 when not or when there is no such rank. */
int rma_same_host(int rank);

/** Ends the whole job with `exit_code` after printing `text` (may be null). What this process has in streams
 * of C, and in units of GNU Fortran, is written first. Does not return. */
void rma_abort(int exit_code, const char* text);

/** The name of a status code, such as "RMA_ERR_RANK". Never null. */
const char* rma_strerror(rma_status_t status);

/** What went wrong in this thread's last failed call; "" when nothing did. Valid until its next failed call.
 */
const char* rma_last_error(void);

/** "major.minor.patch" of the library that is running. */
const char* rma_version(void);

/* ---- Memory -------------------------------------------------------------------------------------------- */

/**
 * Allocates memory that every rank may reach. Collective over `team`.
 * @param bytes      how much this member wants; may differ by member, and be 0 (its address is then null).
 * @param alignment  a power of two, or 0 for 64.
 * @param addresses  out, one per member in team-rank order: the member's address (its own virtual one). May
 * be null where the caller only wants `mine`.
 * @param mine       out: this member's address. May be null.
 * @return RMA_ERR_NO_MEMORY on all members when any of them has no room (nothing is then allocated anywhere).
 */
rma_status_t rma_malloc(rma_team_t team, size_t bytes, size_t alignment, void** addresses, void** mine);

/** Frees what rma_malloc gave this member (null where it asked for 0 bytes). Collective over the same team;
 *  implies a barrier before anything is freed. RMA_ERR_ADDRESS when `mine` is not such an address; the other
 *  members still free theirs. */
rma_status_t rma_free(rma_team_t team, void* mine);

/** Allocates memory of this process that every rank may reach, without asking the others. Arguments as
 *  rma_malloc; `*address` is null for 0 bytes. */
rma_status_t rma_malloc_local(size_t bytes, size_t alignment, void** address);

/** Frees what rma_malloc_local gave; null is allowed. RMA_ERR_ADDRESS for anything else. */
rma_status_t rma_free_local(void* address);

/** Makes `bytes` bytes at `address`, any memory of this process, reachable for others until rma_unregister.
 * The memory must stay mapped. Registering what is registered (or part of it) is counted. */
rma_status_t rma_register(void* address, size_t bytes);

/** Ends one rma_register of exactly this address. RMA_ERR_ADDRESS when there is none. */
rma_status_t rma_unregister(void* address);

/** Where `rank`'s heap memory [address, address + bytes) is mapped in this process, for plain loads and
 * stores. RMA_ERR_ADDRESS when it is not mapped here. */
rma_status_t rma_map(const void* address, size_t bytes, int rank, void** here);

/* ---- Contiguous transfers ------------------------------------------------------------------------------ */

/** Writes local `src` to `rank`'s `dst`. Returns when `src` may be reused. 0 bytes is allowed, with any
 *  pointers. RMA_ERR_RANK, RMA_ERR_ARGUMENT (null), RMA_ERR_ADDRESS, RMA_ERR_SIZE (address + bytes
 * overflows). */
rma_status_t rma_put(void* dst, const void* src, size_t bytes, int rank);
/** As rma_put; `src` may be reused after waiting for `*request`. */
rma_status_t rma_put_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request);
/** As rma_put; `src` may be reused after the next rma_fence(rank) or rma_fence_all. */
rma_status_t rma_put_nbi(void* dst, const void* src, size_t bytes, int rank);

/** Reads `rank`'s `src` into local `dst`. Returns when the data is there. Errors as rma_put. */
rma_status_t rma_get(void* dst, const void* src, size_t bytes, int rank);
/** As rma_get; the data is there after waiting for `*request`. */
rma_status_t rma_get_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request);
/** As rma_get; the data is there after the next rma_fence(rank) or rma_fence_all. */
rma_status_t rma_get_nbi(void* dst, const void* src, size_t bytes, int rank);

/**
 * dst[i] += scale * src[i] for `count` elements of `type` at `rank`'s `dst`. Atomic, element by element, with
 * respect to other accumulates.
 * @param scale  one element of `type`, or null for 1.
 * @return as rma_put; RMA_ERR_ALIGNMENT when `dst` is not aligned as its real type (of a complex: its part).
 */
rma_status_t rma_acc(void* dst, const void* src, size_t count, rma_type_t type, const void* scale, int rank);
/** As rma_acc; `src` may be reused after waiting for `*request`. */
rma_status_t rma_acc_nb(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                        int rank, rma_request_t* request);
/** As rma_acc; `src` may be reused after the next fence. */
rma_status_t rma_acc_nbi(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                         int rank);

/* ---- Strided transfers --------------------------------------------------------------------------------- */

/**
 * The shape of a strided transfer: counts[0] contiguous bytes, repeated counts[1] times at distance
 * strides[0], all that repeated counts[2] times at distance strides[1], and so on (ARMCI's form). counts has
 * levels + 1 entries; each stride array has `levels` entries, in bytes, of any sign. Any count of 0 makes the
 * transfer empty. For accumulate counts[0] is bytes too, a multiple of the type's size. RMA_ERR_ARGUMENT for
 * levels outside 0..RMA_MAX_LEVELS, RMA_ERR_SIZE when the extent overflows.
 */
rma_status_t rma_put_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
rma_status_t rma_put_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request);
rma_status_t rma_put_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
rma_status_t rma_get_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
rma_status_t rma_get_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request);
rma_status_t rma_get_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
rma_status_t rma_acc_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, rma_type_t type,
                             const void* scale, int rank);
rma_status_t rma_acc_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                rma_type_t type, const void* scale, int rank, rma_request_t* request);
rma_status_t rma_acc_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                 rma_type_t type, const void* scale, int rank);

/* ---- Vector transfers ---------------------------------------------------------------------------------- */

/** One descriptor of an I/O vector: `segments` pieces of `bytes` bytes each; piece i goes from src[i] to
 * dst[i]. */
typedef struct rma_iov {
  void* const* dst;
  const void* const* src;
  size_t segments;
  size_t bytes;
} rma_iov_t;

/** Writes the pieces of `count` descriptors to `rank` (dst are its addresses). Errors as rma_put. Pieces that
 *  overlap at their destination end up with the data of one of them. The lists are the caller's again when
 *  the call returns. */
rma_status_t rma_put_vector(const rma_iov_t* iov, size_t count, int rank);
rma_status_t rma_put_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request);
rma_status_t rma_put_vector_nbi(const rma_iov_t* iov, size_t count, int rank);
/** Reads the pieces of `count` descriptors from `rank` (src are its addresses). */
rma_status_t rma_get_vector(const rma_iov_t* iov, size_t count, int rank);
rma_status_t rma_get_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request);
rma_status_t rma_get_vector_nbi(const rma_iov_t* iov, size_t count, int rank);
/** Accumulates the pieces; `bytes` of each descriptor is a multiple of the type's size. */
rma_status_t rma_acc_vector(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale, int rank);
rma_status_t rma_acc_vector_nb(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                               int rank, rma_request_t* request);
rma_status_t rma_acc_vector_nbi(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                                int rank);

/* ---- Completion and order ------------------------------------------------------------------------------ */

/** Waits for `*request` and makes it RMA_REQUEST_NULL. Returns the operation's own status; RMA_ERR_ARGUMENT
 * for a handle that is none (any more); of operations that were complete when they were issued, this cannot
 * be told. */
rma_status_t rma_wait(rma_request_t* request);
/** Sets `*done` to 1 and `*request` to RMA_REQUEST_NULL when it is complete, else `*done` to 0. */
rma_status_t rma_test(rma_request_t* request, int* done);
/** Waits until one of `count` requests is complete; its place goes to `*index` and it becomes
 * RMA_REQUEST_NULL.
 *  `*index` is `count` when all are null. */
rma_status_t rma_wait_any(rma_request_t* requests, size_t count, size_t* index);
/** Waits for all; returns the first failure. */
rma_status_t rma_wait_all(rma_request_t* requests, size_t count);

/** Everything this process issued to `rank` is visible there. Returns the first failure, since that
 * rank's last fence, of what no call has reported: _nbi operations, and to other hosts small puts and
 * accumulates whose calls had returned. */
rma_status_t rma_fence(int rank);
/** rma_fence for every rank; costs by the number of ranks written to since, not by the job's size. */
rma_status_t rma_fence_all(void);
/** rma_fence_all, and every member of `team` has arrived. Collective over `team`. */
rma_status_t rma_barrier(rma_team_t team);

/* ---- Atomics ------------------------------------------------------------------------------------------- */

/**
 * One atomic operation on an 8-byte (4-byte) integer in `rank`'s memory.
 * @param target   aligned to its size, else RMA_ERR_ALIGNMENT.
 * @param compare  used by RMA_COMPARE_SWAP only.
 * @param old      out: the value before; may be null where it is not wanted.
 */
rma_status_t rma_atomic64(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                          uint64_t* old, int rank);
rma_status_t rma_atomic32(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                          uint32_t* old, int rank);

/* ---- Notification -------------------------------------------------------------------------------------- */

/** Writes `src` to `rank`'s `dst`, then stores `value` to `*flag` there: whoever sees the value sees the
 * data. `flag` is an aligned 8-byte word of the target's heap. */
rma_status_t rma_put_notify(void* dst, const void* src, size_t bytes, uint64_t* flag, uint64_t value,
                            int rank);
/** The same for a strided put. */
rma_status_t rma_put_strided_notify(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                    const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                    uint64_t* flag, uint64_t value, int rank);
/** Waits until the local word `*flag` compares so with `value`; a long wait sleeps. `*seen` (may be null) is
 * the value that did. A word written by rma_put_notify, rma_put_strided_notify or rma_atomic64 from this host
 * wakes the sleeper at once; one written by a network device, by rma_fetch_add8 or in any other way is
 * noticed after an eighth of the time waited so far, at most 10 ms. `flag` may be any aligned word of this
 * process. */
rma_status_t rma_wait_until(const uint64_t* flag, rma_compare_t compare, uint64_t value, uint64_t* seen);
/** As rma_wait_until without waiting: `*met` is 1 or 0. */
rma_status_t rma_test_until(const uint64_t* flag, rma_compare_t compare, uint64_t value, int* met);

/* ---- Mutexes ------------------------------------------------------------------------------------------- */

/** Creates `count` mutexes owned by this member (may differ by member, and be 0). Collective over `team`. */
rma_status_t rma_mutexes_create(rma_team_t team, size_t count, rma_mutexes_t* mutexes);
/** Destroys them. Collective over their team. RMA_ERR_STATE, on all members, when any of them is held or
 * waited for: then they all stay. */
rma_status_t rma_mutexes_destroy(rma_mutexes_t* mutexes);
/** Locks mutex `index` of member `rank` (world rank). Fair: first come, first served; waiting sleeps.
 *  RMA_ERR_RANK, RMA_ERR_ARGUMENT (no such index), RMA_ERR_STATE when this thread holds it. RMA_ERR_PEER_LOST
 * when a rank of this host ended that held it, or whose turn it was: the mutex stays locked for ever, the
 * others of its set can be used. */
rma_status_t rma_lock(rma_mutexes_t mutexes, size_t index, int rank);
/** Unlocks. Everything this process issued before is visible to the next holder. By the thread
 *  that holds it, else RMA_ERR_STATE. */
rma_status_t rma_unlock(rma_mutexes_t mutexes, size_t index, int rank);

/* ---- Teams --------------------------------------------------------------------------------------------- */

/** The team of all ranks; null when not initialized. */
rma_team_t rma_team_world(void);
/** A team of the listed world ranks, in that order. Called by exactly the ranks listed, each with the same
 * list. Several threads of a rank may make teams at the same time. Where they list the same ranks, all their
 * teams are whole, but any thread of one rank may meet any thread of another: to have threads of the same
 * number meet, let each split a team of its own. */
rma_status_t rma_team_create(const int* ranks, int count, rma_team_t* team);
/** Splits `parent`: members with the same `color` form a team, ordered by `key`, then by parent rank. A
 * negative color joins none (`*team` is null). Collective over `parent`. Splits of different teams, of the
 * same members too, may be made by different threads at the same time, and never meet each other. */
rma_status_t rma_team_split(rma_team_t parent, int color, int key, rma_team_t* team);
/** Frees a team and makes the handle null; the world team cannot be freed. Collective over the team. Where a
 * member is lost, the team is gone and the handle null all the same, and the call says RMA_ERR_PEER_LOST. */
rma_status_t rma_team_free(rma_team_t* team);
/** This process's team rank and the number of members; either pointer may be null. */
rma_status_t rma_team_info(rma_team_t team, int* rank, int* size);
/** The world rank of team rank `team_rank`. */
rma_status_t rma_team_world_rank(rma_team_t team, int team_rank, int* world_rank);

/** Copies `bytes` bytes at the root's `buffer` to everyone's. `root` is a team rank. Collective over `team`.
 */
rma_status_t rma_broadcast(rma_team_t team, void* buffer, size_t bytes, int root);
/** Element-wise reduction to the root's `dst` (ignored elsewhere). `dst` and `src` are equal or disjoint. The
 *  result is the same in every run with the same team; elements are combined in another order when its
 * members share one host than when they do not. Collective over `team`. */
rma_status_t rma_reduce(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                        rma_reduction_t op, int root);
/** As rma_reduce with the result everywhere, bit for bit the same. */
rma_status_t rma_allreduce(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                           rma_reduction_t op);
/** Gathers `bytes` bytes of each member, in team-rank order, into everyone's `dst` (team size * bytes). */
rma_status_t rma_allgather(rma_team_t team, void* dst, const void* src, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
