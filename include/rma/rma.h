/**
 * @file rma.h
 * The C interface of librma: one-sided communication in a partitioned global address space. This header
 * includes notification.h. Functions that other ranks call are in active_messages.h.
 *
 * Each process of a job owns memory that the other processes can access. Remote memory is memory of the
 * target's heap (rma_malloc, rma_malloc_local) or memory that the target registered (rma_register). Local
 * memory may be any memory of the caller. In this file the initiator is the process that makes a call, and
 * the target is the rank whose memory the call accesses. The target's program takes no part in the operation.
 *
 * These conventions hold for every function here:
 *  - Arguments come in memcpy's order: destination, source, size, then the rank.
 *  - The address of memory on another rank is that rank's own virtual address, as its owner would use it.
 *  - `rank` is a rank of the world team, 0 to rma_size() - 1, unless the text says "team rank".
 *  - Sizes are in bytes unless the text says "elements". Strides are in bytes and may be negative.
 *  - A call that can fail returns RMA_SUCCESS or one of the RMA_ERR_ codes. After a failure rma_last_error()
 *    returns a text that names the call, the rank and the values.
 *  - A call that fails because of a bad argument has changed nothing. There is one exception: a helper thread
 *    on another host executes some operations in pieces. If a later piece turns out to be out of reach
 *    (RMA_ERR_ADDRESS), earlier pieces may already be done.
 *  - Besides the errors named at a call, each call may return RMA_ERR_NOT_INITIALIZED. A call that reaches
 *    another rank may also return RMA_ERR_PEER_LOST, RMA_ERR_NO_MEMORY (no buffer is left, or too many
 *    operations are open at once) and RMA_ERR_UNSUPPORTED (no path leads to that memory; the text says why).
 *    If that rank is on another host, the call may also return RMA_ERR_STATE: the target registered and
 *    unregistered memory all the time, and this process could not read an unchanged list of its regions in
 *    1000 attempts.
 *  - A call returns RMA_ERR_NO_MEMORY when the process has no memory left for the call's own bookkeeping. The
 *    call has then undone everything that it had begun. If the call is collective, the other members fail
 *    with the same code.
 *  - A process that was forked while its parent was in the job, between rma_init and rma_finalize, is not a
 *    member of the job. There every call returns RMA_ERR_STATE; rma_initialized returns 0, rma_rank, rma_size
 *    and rma_team_world return the same as outside the job, and rma_abort ends only that process. The forked
 *    process may use the inlined accesses of direct.h to mapped memory, which it shares with its parent, and
 *    it may exec. A process that was forked before rma_init or after rma_finalize may call rma_init, and so
 *    may any program that a rank starts: it does not join the rank's job, but becomes a job of one.
 *  - A call refuses a handle (team, mutexes, request) with RMA_ERR_ARGUMENT once the handle has been freed or
 *    waited for, and after rma_finalize. No later handle is ever equal to it. (RMA_REQUEST_COMPLETE is the
 *    one exception; see there.)
 *  - Calls are thread-safe unless they are marked "collective". A collective call is made by one thread of
 *    each member of the team, and all members make their collective calls in the same order.
 *  - A collective call that refuses an argument (a null pointer, an invalid handle, a bad size or alignment)
 *    returns at once, and this process does not take part. The other members wait until this process makes
 *    the call with valid arguments, or until it ends (RMA_ERR_PEER_LOST). The only exception is rma_free,
 *    which takes part even if `mine` is wrong.
 *  - Blocking operations from one process to the same target take effect in program order. Nonblocking
 *    operations are unordered until they have been waited for or fenced.
 */
#ifndef RMA_RMA_H
#define RMA_RMA_H

#include <stddef.h>
#include <stdint.h>

#include "rma/notification.h"
#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Life ---------------------------------------------------------------------------------------------- */

/**
 * Joins the job and makes this process's memory reachable. Collective over all processes of the job. A
 * process that no launcher started becomes a job of one, and so does one whose rank another process is
 * already. RMA_ERR_LAUNCH if a launcher without PMIx has started several processes (RMA_SINGLETON). Calls
 * nest: each rma_init needs its own rma_finalize. The process may call rma_init again after the last
 * rma_finalize.
 * @return RMA_ERR_SETTING, RMA_ERR_LAUNCH, RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM, RMA_ERR_VERSION;
 *         RMA_ERR_UNSUPPORTED if the job has several hosts and no usable network.
 */
rma_status_t rma_init(void);

/**
 * Joins a job as rma_init does, but takes its processes and their order from `bootstrap` and ignores any
 * launcher. Needs an rma_finalize, as rma_init does.
 * @return the errors of rma_init; RMA_ERR_LAUNCH if one of the functions of `bootstrap` failed;
 *         RMA_ERR_ARGUMENT if `bootstrap`, its allgather or its barrier is null; RMA_ERR_RANK if its `rank`
 *         is not in 0 .. size - 1; RMA_ERR_STATE if the process has already joined a job.
 */
rma_status_t rma_init_with(const rma_bootstrap_t* bootstrap);

/** Completes all outstanding operations of this process and leaves the job. Collective over the world
 *  team. If a rank was lost, does not wait for it and returns RMA_ERR_PEER_LOST; the process has left the job
 *  then too. */
rma_status_t rma_finalize(void);

/** Returns 1 between rma_init and rma_finalize, else 0. */
int rma_initialized(void);

/** Returns this process's rank, or -1 if the library is not initialized. */
int rma_rank(void);

/** Returns the number of processes of the job, or -1 if the library is not initialized. */
int rma_size(void);

/** Returns the number of this process's program in a job of several programs, in the order of the launcher's
 *  command line; 0 in a job of one program, and -1 if the library is not initialized. */
int rma_program(void);

/** Returns 1 if this process has mapped the memory of `rank`, which is then a rank of the same host. Returns
 *  0 if not, and if there is no such rank. */
int rma_same_host(int rank);

/** Ends the whole job with `exit_code` after printing `text`, which may be null. Code 0 says that the job has
 *  done its work: then a null `text` prints nothing. First flushes this process's
 *  C streams and its units of GNU Fortran. Does not return. */
void rma_abort(int exit_code, const char* text);

/** Returns the name of a status code, such as "RMA_ERR_RANK". Never returns null. */
const char* rma_strerror(rma_status_t status);

/** Returns a text that describes this thread's last failed call, or "" if no call of this thread has failed.
 *  The text is valid until the thread's next failed call. */
const char* rma_last_error(void);

/** Returns the version of the running library as "major.minor.patch". */
const char* rma_version(void);

/* ---- Memory -------------------------------------------------------------------------------------------- */

/**
 * Allocates memory of each member's heap that every rank can access. Collective over `team`.
 * @param bytes      the number of bytes for this member. Members may ask for different numbers. A member that
 *                   asks for 0 bytes gets a null address.
 * @param alignment  in bytes: a power of two, or 0 for 64. The call returns RMA_ERR_ALIGNMENT for others.
 * @param addresses  out: one address per member, in the order of team ranks. Each is that member's own
 *                   virtual address. May be null if the caller wants `mine` only.
 * @param mine       out: this member's address. May be null.
 * @return RMA_ERR_NO_MEMORY on all members if any of them has no room; then no member keeps an allocation.
 */
rma_status_t rma_malloc(rma_team_t team, size_t bytes, size_t alignment, void** addresses, void** mine);

/**
 * Reserves addresses of each member's heap that every rank can access, without memory behind them. rma_commit
 * puts memory there; until then no rank may access them. An allocator over this range needs no other rank for
 * its blocks. Collective over `team`. The arguments and errors are those of rma_malloc. The heap has a little
 * more than twice RMA_HEAP_SIZE addresses for all its blocks.
 */
rma_status_t rma_reserve(rma_team_t team, size_t bytes, size_t alignment, void** addresses, void** mine);

/** Puts memory behind the `bytes` bytes at `address` of this process's own rma_reserve, in whole pages. Pages
 *  that have memory keep it. New memory reads as zeros and stays until rma_free. `bytes` may be 0. The call
 *  is local. Another rank may access the memory once it knows of the call's return, for example after a
 *  barrier. Returns RMA_ERR_ARGUMENT (null), RMA_ERR_SIZE (address + bytes overflows), RMA_ERR_ADDRESS (not
 *  inside one range of rma_reserve); RMA_ERR_NO_MEMORY (a part of the bytes may then have memory). */
rma_status_t rma_commit(void* address, size_t bytes);

/** Frees the memory that rma_malloc or rma_reserve returned to this member. `mine` is null if the member
 *  asked for 0 bytes. Collective over the same team. The call performs rma_barrier before it frees anything.
 *  Returns RMA_ERR_ADDRESS if `mine` is not such an address; the other members still free theirs. */
rma_status_t rma_free(rma_team_t team, void* mine);

/** Allocates memory of this process's heap that every rank can access. The call is local: no other rank takes
 *  part. The arguments are those of rma_malloc. `*address` is null for 0 bytes. Returns RMA_ERR_NO_MEMORY,
 *  RMA_ERR_ALIGNMENT. */
rma_status_t rma_malloc_local(size_t bytes, size_t alignment, void** address);

/** Frees memory that rma_malloc_local returned. Null is allowed. Returns RMA_ERR_ADDRESS for any other
 *  address. */
rma_status_t rma_free_local(void* address);

/** Makes `bytes` bytes at `address` accessible to other ranks until rma_unregister. The bytes may be any
 *  memory of this process, and must stay mapped until then. A program may register memory several times,
 *  wholly or in part; each rma_register then needs its own rma_unregister. Returns RMA_ERR_ARGUMENT (null),
 *  RMA_ERR_SIZE (0 bytes, or address + bytes overflows), RMA_ERR_NO_MEMORY (the list of regions is full;
 *  RMA_MAX_REGIONS sets its length). A transfer may span several registered ranges that touch. */
rma_status_t rma_register(void* address, size_t bytes);

/** Undoes one rma_register whose `address` was exactly this one. If several registrations start there, the
 *  call undoes the shortest. Returns RMA_ERR_ADDRESS if there is none. */
rma_status_t rma_unregister(void* address);

/**
 * Makes memory of the program a part of the heap: puts a file of shared memory behind the whole pages
 * that hold the `bytes` bytes at `address`. They keep their addresses and contents. From the next
 * rma_init on, other ranks reach them like any memory of the heap, by the address that rma_find_alias
 * returns. It is meant for the static data of an executable, and needs no registration.
 *
 * The call is local, and comes before rma_init, while the process has one thread: what another thread
 * stored meanwhile would be lost. The alias stays until the process ends, over rma_finalize. A process
 * has one alias; further calls for memory inside it succeed, at any time. Anonymous pages that the
 * process never touched (.bss) stay without memory, unless the job has a network, which registers them.
 *
 * A forked child gets a private copy. A child of vfork or posix_spawn shares the memory until it calls
 * exec, as it shares all memory.
 * @return RMA_ERR_ARGUMENT (null); RMA_ERR_SIZE (0 bytes, or address + bytes overflows); RMA_ERR_ADDRESS
 *         (a part of the memory is not mapped, or not private, readable and writable); RMA_ERR_STATE (the
 *         process has joined a job, has another thread, or has an alias elsewhere); RMA_ERR_UNSUPPORTED
 *         (RMA_ALIAS=0); RMA_ERR_SETTING; RMA_ERR_NO_MEMORY; RMA_ERR_SYSTEM. Nothing has changed then,
 *         and rma_register still serves.
 */
rma_status_t rma_alias(void* address, size_t bytes);

/**
 * Asks rma_init to call rma_alias for the memory, before it starts threads of its own. A library whose
 * memory other ranks are to reach makes the call from its constructor: it then gets its alias although the
 * program initialises another library of the same job first. libshmem does so for static data. A process
 * has one request, which stays for all its jobs.
 *
 * If the alias is refused, rma_init succeeds all the same and counts alias_refused. rma_alias returns the
 * reason then, and rma_register still serves.
 * @return RMA_ERR_ARGUMENT (null); RMA_ERR_SIZE (0 bytes, or address + bytes overflows); RMA_ERR_STATE
 *         (other memory is requested already).
 */
rma_status_t rma_alias_at_init(void* address, size_t bytes);

/** Stores into `*heap_address` the address in this process's heap of the `bytes` bytes at `address`,
 *  which rma_alias has made a part of it. Other ranks use that address. Returns RMA_ERR_ARGUMENT (null),
 *  RMA_ERR_SIZE (0 bytes, or address + bytes overflows), RMA_ERR_ADDRESS (not inside the alias that this
 *  process had at rma_init). */
rma_status_t rma_find_alias(const void* address, size_t bytes, void** heap_address);

/**
 * Tells which memory of this process is aliased, or would be had the alias not been refused. A library that
 * gets addresses from other ranks needs it: it turns addresses of that memory into those of the heap.
 * @param address       out: the first byte: of the alias that the process had at rma_init, or, without one,
 *                      of the memory that rma_alias_at_init has named. Null if there is neither.
 * @param bytes         out: the number of bytes, or 0.
 * @param heap_address  out: where the first byte lies in the heap. Null if the memory is not in the heap; who
 *                      wants other ranks to reach it registers it then (rma_register).
 * @return RMA_ERR_ARGUMENT (null).
 */
rma_status_t rma_alias_range(void** address, size_t* bytes, void** heap_address);

/** Stores into `*here` the address at which this process has mapped `rank`'s heap memory [address, address +
 *  bytes). The program may use plain loads and stores there. Returns RMA_ERR_ADDRESS if that memory is not
 *  mapped in this process. */
rma_status_t rma_map(const void* address, size_t bytes, int rank, void** here);

/* ---- Contiguous transfers ------------------------------------------------------------------------------ */

/** Copies `bytes` bytes from local `src` to `dst` in the memory of `rank`. Returns when the caller may reuse
 *  `src`; rma_fence(rank) then makes sure that the data is visible there. `bytes` may be 0, with any
 *  pointers. Returns RMA_ERR_RANK, RMA_ERR_ARGUMENT (a null pointer), RMA_ERR_ADDRESS, RMA_ERR_SIZE (address
 *  + bytes overflows). */
rma_status_t rma_put(void* dst, const void* src, size_t bytes, int rank);
/** Starts an rma_put and returns. The caller may reuse `src` after it has waited for `*request`. */
rma_status_t rma_put_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request);
/** Starts an rma_put without a request. The caller may reuse `src` after its next rma_fence(rank) or
 *  rma_fence_all. */
rma_status_t rma_put_nbi(void* dst, const void* src, size_t bytes, int rank);

/** Copies `bytes` bytes from `src` in the memory of `rank` to local `dst`. Returns when the data is in `dst`.
 *  The errors are those of rma_put. */
rma_status_t rma_get(void* dst, const void* src, size_t bytes, int rank);
/** Starts an rma_get and returns. The data is in `dst` after the caller has waited for `*request`. */
rma_status_t rma_get_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request);
/** Starts an rma_get without a request. The data is in `dst` after the caller's next rma_fence(rank) or
 *  rma_fence_all. */
rma_status_t rma_get_nbi(void* dst, const void* src, size_t bytes, int rank);

/**
 * Accumulates: performs dst[i] += scale * src[i] for `count` elements of `type`, where `dst` is memory of
 * `rank` and `src` is local. The update of each element is atomic with respect to other accumulates. Returns
 * when the caller may reuse `src`.
 * @param scale  one element of `type`, or null for 1.
 * @return the errors of rma_put; RMA_ERR_ALIGNMENT if `dst` is not aligned to the size of its real type. The
 *         real type of a complex element is the type of its parts.
 */
rma_status_t rma_acc(void* dst, const void* src, size_t count, rma_type_t type, const void* scale, int rank);
/** Starts an rma_acc and returns. The caller may reuse `src` after it has waited for `*request`. */
rma_status_t rma_acc_nb(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                        int rank, rma_request_t* request);
/** Starts an rma_acc without a request. The caller may reuse `src` after its next rma_fence(rank) or
 *  rma_fence_all. */
rma_status_t rma_acc_nbi(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                         int rank);

/* ---- Strided transfers --------------------------------------------------------------------------------- */

/*
 * These calls transfer memory with a strided layout, in the form that ARMCI uses. The layout is counts[0]
 * contiguous bytes, repeated counts[1] times at distance strides[0]; all of that is repeated counts[2] times
 * at distance strides[1], and so on. `counts` has levels + 1 entries. Each stride array has `levels` entries,
 * in bytes, of any sign. If any count is 0, the transfer is empty. counts[0] is in bytes for accumulates too,
 * and is there a multiple of the type's size.
 *
 * The names are built as above: rma_put_strided completes as rma_put does, rma_put_strided_nb as rma_put_nb,
 * rma_put_strided_nbi as rma_put_nbi, and so on. Besides the errors of the contiguous call, each returns
 * RMA_ERR_ARGUMENT for levels outside 0 .. RMA_MAX_LEVELS and RMA_ERR_SIZE if the extent overflows.
 */

/** Copies a strided layout of local memory to a strided layout of the memory of `rank`. */
rma_status_t rma_put_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
rma_status_t rma_put_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request);
rma_status_t rma_put_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
/** Copies a strided layout of the memory of `rank` to a strided layout of local memory. */
rma_status_t rma_get_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
rma_status_t rma_get_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request);
rma_status_t rma_get_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank);
/** Accumulates a strided layout of local memory into a strided layout of the memory of `rank`. The elements
 *  are updated as by rma_acc. Returns RMA_ERR_SIZE if counts[0] is not a multiple of the type's size, and
 *  RMA_ERR_ALIGNMENT if `dst` or a stride at the target is not a multiple of the alignment that rma_acc
 *  requires. */
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

/** Copies the segments of `count` descriptors to `rank`. The entries of `dst` are addresses of `rank`. If
 *  segments overlap at their destination, the overlapping bytes end up with the data of one of them. The
 *  caller may reuse the lists (`iov`, `dst` and `src` themselves) when the call returns, also when the data
 *  is still under way. The _nb and _nbi forms complete as rma_put_nb and rma_put_nbi do. The errors are those
 *  of rma_put. */
rma_status_t rma_put_vector(const rma_iov_t* iov, size_t count, int rank);
rma_status_t rma_put_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request);
rma_status_t rma_put_vector_nbi(const rma_iov_t* iov, size_t count, int rank);
/** Copies the segments of `count` descriptors from `rank`. The entries of `src` are addresses of `rank`. */
rma_status_t rma_get_vector(const rma_iov_t* iov, size_t count, int rank);
rma_status_t rma_get_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request);
rma_status_t rma_get_vector_nbi(const rma_iov_t* iov, size_t count, int rank);
/** Accumulates the segments of `count` descriptors into the memory of `rank`, as rma_acc does. `bytes` of
 *  each descriptor is a multiple of the type's size. */
rma_status_t rma_acc_vector(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale, int rank);
rma_status_t rma_acc_vector_nb(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                               int rank, rma_request_t* request);
rma_status_t rma_acc_vector_nbi(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                                int rank);

/* ---- Completion and order ------------------------------------------------------------------------------ */

/** Waits for the operation that `*request` names and makes `*request` RMA_REQUEST_NULL. Returns the
 *  operation's own status, or RMA_ERR_ARGUMENT if the handle is invalid or was already waited for.
 *  (Operations that were complete when they were issued share one handle, RMA_REQUEST_COMPLETE, so a second
 *  wait on it is not detected.) */
rma_status_t rma_wait(rma_request_t* request);
/** Tests whether the operation is complete, without waiting. If it is, sets `*done` to 1 and `*request` to
 *  RMA_REQUEST_NULL and returns the operation's own status. Else sets `*done` to 0. The errors are those of
 *  rma_wait. */
rma_status_t rma_test(rma_request_t* request, int* done);
/** Waits until one of `count` requests is complete. Stores its position into `*index`, makes it
 *  RMA_REQUEST_NULL and returns its operation's own status. If all requests are null, sets `*index` to
 *  `count`. */
rma_status_t rma_wait_any(rma_request_t* requests, size_t count, size_t* index);
/** Waits for all of `count` requests and makes each RMA_REQUEST_NULL. Returns the first failure. */
rma_status_t rma_wait_all(rma_request_t* requests, size_t count);

/** Waits until everything that this process issued to `rank` is visible there, as far as it was issued in the
 *  calling thread's completion context. (OpenSHMEM calls this a quiet, MPI a flush.) A program that makes no
 *  contexts has one, the default one. Returns the first failure, since the last fence of `rank` in this
 *  context, that no other call has reported.
 *  Such failures come from _nbi operations and, for ranks of other hosts, from small puts and accumulates
 *  whose calls had already returned. */
rma_status_t rma_fence(int rank);
/** Performs rma_fence for every rank. The cost grows with the number of ranks that this process has issued
 *  operations to since its last rma_fence_all, not with the size of the job. */
rma_status_t rma_fence_all(void);
/** Performs rma_fence_all in every completion context and then waits until every member of `team` has called
 *  rma_barrier. Collective over `team`. */
rma_status_t rma_barrier(rma_team_t team);

/** Makes a completion context. An operation belongs to the context that its thread uses when it issues the
 *  operation, and rma_fence and rma_fence_all wait for the operations of the calling thread's context alone.
 *  So a part of a program, or a thread, need not wait for what another has under way. (OpenSHMEM calls this a
 *  communication context.) Operations of different contexts are not ordered. Several threads may use one
 *  context. Local. Returns RMA_ERR_ARGUMENT (null), RMA_ERR_NO_MEMORY. */
rma_status_t rma_context_create(rma_context_t* context);
/** Performs rma_fence_all in the context, frees it and sets `*context` to RMA_CONTEXT_DEFAULT. The calling
 *  thread uses the default context afterwards if it used this one. No other thread uses the context at the
 *  time or later. Local. Returns the failures of rma_fence_all, or RMA_ERR_ARGUMENT if there is no such
 *  context or it is the default one. */
rma_status_t rma_context_free(rma_context_t* context);
/** Lets the calling thread use `context` from now on. Stores the context that it has used into `*previous`,
 *  which may be null. Operations of other interfaces of the library, such as those of MPI windows, belong to
 *  the thread's context as well. Local. Returns RMA_ERR_ARGUMENT if there is no such context. */
rma_status_t rma_context_use(rma_context_t context, rma_context_t* previous);

/* ---- Atomics ------------------------------------------------------------------------------------------- */

/**
 * Performs one atomic operation on an integer in the memory of `rank`: of 8 bytes (rma_atomic64) or of 4
 * (rma_atomic32). Returns when the operation is complete.
 * @param target   the integer's address. If it is not a multiple of the integer's size, the call returns
 *                 RMA_ERR_ALIGNMENT.
 * @param compare  used by RMA_COMPARE_SWAP only.
 * @param old      out: the value before the operation. May be null.
 */
rma_status_t rma_atomic64(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                          uint64_t* old, int rank);
rma_status_t rma_atomic32(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                          uint32_t* old, int rank);
/** Start an atomic operation and return. The operation is complete, and the value before is in `*old`, after
 *  the caller has waited for `*request`. */
rma_status_t rma_atomic64_nb(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                             uint64_t* old, int rank, rma_request_t* request);
rma_status_t rma_atomic32_nb(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                             uint32_t* old, int rank, rma_request_t* request);
/** Start an atomic operation without a request. The operation is complete, and the value before is in `*old`,
 *  after the caller's next rma_fence(rank) or rma_fence_all. */
rma_status_t rma_atomic64_nbi(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                              uint64_t* old, int rank);
rma_status_t rma_atomic32_nbi(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                              uint32_t* old, int rank);

/* ---- Mutexes ------------------------------------------------------------------------------------------- */

/** Creates a set of mutexes, `count` of them in this member's memory. `count` may differ by member and may be
 *  0. Collective over `team`. */
rma_status_t rma_mutexes_create(rma_team_t team, size_t count, rma_mutexes_t* mutexes);
/** Destroys a set of mutexes. Collective over its team. Returns RMA_ERR_STATE on all members if any mutex of
 *  the set is held or waited for; then the whole set stays. */
rma_status_t rma_mutexes_destroy(rma_mutexes_t* mutexes);
/** Locks mutex `index` of the member whose world rank is `rank`. A mutex is held by a thread, so threads of
 *  one process exclude each other too. The mutex is fair: threads get it in the order in which they asked. A
 *  thread that waits long sleeps. Returns RMA_ERR_RANK, RMA_ERR_ARGUMENT (no such index), RMA_ERR_STATE if
 *  this thread already holds the mutex. Returns RMA_ERR_PEER_LOST if a rank has ended that held the mutex
 *  or whose turn it was, or that owns the mutex; rma_last_error() names it. If it is on another host, the
 *  call notices it after up to twice RMA_PEER_TIMEOUT. The mutex then stays locked for ever, and the other
 *  mutexes of its set remain usable. */
rma_status_t rma_lock(rma_mutexes_t mutexes, size_t index, int rank);
/** Unlocks the mutex. First performs rma_fence_all, so that the next holder sees everything that this process
 *  issued before. Returns RMA_ERR_STATE if the calling thread does not hold the mutex. */
rma_status_t rma_unlock(rma_mutexes_t mutexes, size_t index, int rank);

/* ---- Teams --------------------------------------------------------------------------------------------- */

/** Returns the team of all ranks, or null if the library is not initialized. */
rma_team_t rma_team_world(void);
/** Creates a team of the listed world ranks, in that order. Exactly the listed ranks call it, each with the
 *  same list. Several threads of a rank may create teams at the same time. If they list the same ranks, each
 *  team has one thread of every rank, but the library does not say which: thread A of one rank may share a
 *  team with any of the calling threads of another. A program that wants certain threads together lets each
 *  of them split a team of its own. Returns RMA_ERR_ARGUMENT for an empty list or a rank that is listed
 *  twice, and RMA_ERR_RANK for a rank that does not exist or if the caller is not listed. */
rma_status_t rma_team_create(const int* ranks, int count, rma_team_t* team);
/** Splits `parent` into teams. Members with the same `color` form one team, ordered by `key` and then by
 *  their rank in `parent`. A member with a negative color joins no team and gets a null `*team`. Collective
 *  over `parent`. Different threads may split different teams at the same time, even teams of the same
 *  members; these splits do not affect each other. */
rma_status_t rma_team_split(rma_team_t parent, int color, int key, rma_team_t* team);
/** Frees a team and makes the handle null. Collective over the team. The world team cannot be freed. If a
 *  member is lost, the call frees the team and makes the handle null all the same, and returns
 *  RMA_ERR_PEER_LOST. */
rma_status_t rma_team_free(rma_team_t* team);
/** Stores this process's team rank into `*rank` and the number of members into `*size`. Either pointer may be
 *  null. */
rma_status_t rma_team_info(rma_team_t team, int* rank, int* size);
/** Stores the world rank of the member `team_rank` (a team rank) into `*world_rank`. */
rma_status_t rma_team_world_rank(rma_team_t team, int team_rank, int* world_rank);

/** Copies `bytes` bytes from the root's `buffer` to every member's `buffer`. `root` is a team rank.
 *  Collective over `team`. */
rma_status_t rma_broadcast(rma_team_t team, void* buffer, size_t bytes, int root);
/** Combines element i of all members' `src` by `op` and stores the result into element i of the root's `dst`,
 *  for `count` elements of `type`. `root` is a team rank; `dst` is ignored on the other members. `dst` and
 *  `src` are equal or disjoint. The result is the same in every run with the same team, as long as its
 *  members are distributed over hosts alike: the library combines elements in one order if all members share
 *  one host, and in another if they do not. Collective over `team`. Returns RMA_ERR_ARGUMENT if `op` is not
 *  defined for `type`, and RMA_ERR_ALIGNMENT if `src` or the root's `dst` is not aligned as its real type. */
rma_status_t rma_reduce(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                        rma_reduction_t op, int root);
/** Reduces as rma_reduce does, and stores the result into every member's `dst`, bit for bit the same. */
rma_status_t rma_allreduce(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                           rma_reduction_t op);
/** Gathers `bytes` bytes from each member's `src` into every member's `dst`, in the order of team ranks.
 *  `dst` has room for team size * `bytes` bytes. Collective over `team`. */
rma_status_t rma_allgather(rma_team_t team, void* dst, const void* src, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
