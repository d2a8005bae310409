/**
 * @file unchecked.h
 * Short ways of rma/messages.h and rma/collectives.h for libraries over this one, such as one for MPI, that
 * check the arguments of their callers themselves and have objects of their own for requests. Programs need
 * none of them.
 *
 * These functions check no argument. The caller is between rma_init and rma_finalize. Ranks are ranks of the
 * job, tags are 0 or greater, buffers of more than 0 bytes are not null; wildcards are as in messages.h.
 */
#ifndef RMA_UNCHECKED_H
#define RMA_UNCHECKED_H

#include <stddef.h>
#include <stdint.h>

#include "rma/collectives.h"
#include "rma/messages.h"
#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sends a message if that needs nothing but a free place in the memory that `rank` reads. Returns 1 if the
 *  message is sent, and 0 if nothing was done: the caller then calls rma_send or rma_send_nb. */
int rma_try_send(const void* src, size_t bytes, int rank, int tag, uint32_t context);

/** The sending ends of the rings of messages to all ranks, indexed by rank. A library that is built together
 *  with this one may send short messages by them in its own code (src/rings/send_port.hpp). Null outside
 *  rma_init ... rma_finalize, in a forked child, if calls are traced, and if ranks are on several hosts.
 *  Loaded with acquire order. */
typedef struct rma_send_port rma_send_port_t;
extern rma_send_port_t* rma_send_ports;
/** Wakes the threads of `rank` that sleep until a message comes. The caller has sent a message by a port and
 *  was told that such a thread may exist. */
void rma_wake_receiver(int rank);

/** A receive whose end is told in the caller's memory. The memory stays in place until then. */
typedef struct rma_posted_recv {
  rma_message_info_t info; /**< the message, from the end on */
  rma_status_t status;     /**< from the end on */
  int failed_rank;         /**< the rank that a failure is about */
  int ended;               /**< 0, or one of the next two from the end on; see rma_posted_ended */
  int reserved;
  uint64_t operation; /**< the library's name of the receive; 0 while `own` is all that it has of it */
  void* address;      /**< the buffer: from the call that posts the receive to its end */
  size_t bytes;       /**< its size */
  uint64_t own[7];    /**< the library's, until the end */
} rma_posted_recv_t;

/** Posts a receive of contiguous memory. The members of `*posted` need no values. If this fails, the receive
 *  does not exist. Returns RMA_ERR_NO_MEMORY. */
rma_status_t rma_post_recv(void* dst, size_t bytes, int source, int tag, uint32_t context,
                           rma_posted_recv_t* posted);

/** A context in the form that a receive needs: a caller that has many receives in it looks it up once. */
typedef struct rma_receive_context rma_receive_context_t;
/** Returns the context with this number. It is valid until rma_finalize, or until the number is given back
 *  (rma_context_drop, rma_contexts_return). Returns null outside rma_init ... rma_finalize, if calls are
 *  traced, and if there is no memory: the caller then uses the functions that take the number. */
rma_receive_context_t* rma_find_receive_context(uint32_t context);
/** Receives a message if it is the next one that `source`, a rank, has sent, is there already, and fits the
 *  buffer. Returns 1 if the message is received, and 0 if nothing was done: the caller then calls another
 *  receive. `tag` may be RMA_ANY_TAG. `info` may be null. */
int rma_try_recv_in(void* dst, size_t bytes, int source, int tag, rma_receive_context_t* context,
                    rma_message_info_t* info);
/** Looks for a message without receiving it, and makes progress once if there is none. `source` and `tag` may
 *  be wildcards. Returns 1 and fills `*info` if there is a message, and 0 if there is none. Returns -1 if it
 *  cannot tell: the caller then calls rma_iprobe, which says why. */
int rma_try_probe(int source, int tag, rma_receive_context_t* context, rma_message_info_t* info);
/** Posts a receive without wildcards into the buffer that `posted->address` and `posted->bytes` describe.
 *  Returns RMA_SUCCESS: a receive that cannot be posted ends at once, and rma_posted_wait returns why. So a
 *  caller that has nothing else to do jumps here, and saves no registers. After rma_finalize and in a forked
 *  child the receive ends with what rma_post_recv returns, and the context is not looked at. */
rma_status_t rma_post_recv_in(rma_posted_recv_t* posted, int source, int tag, rma_receive_context_t* context);
/** The values of rma_posted_recv_t::ended after the end. */
enum { RMA_POSTED_WELL = 1, RMA_POSTED_FAILED = 2 };
/** Returns whether the receive has ended, and how: the buffer and the other members are valid then. Makes no
 *  progress. The thread that ends the receive stores the word last, with release order. */
static __inline__ int rma_posted_ended(const rma_posted_recv_t* posted) {
  return __atomic_load_n(&posted->ended, __ATOMIC_ACQUIRE);
}
/** Waits until the receive has ended, and returns its outcome, as rma_wait does. */
rma_status_t rma_posted_wait(rma_posted_recv_t* posted);
/** Makes progress once. Returns whether the receive has ended; rma_posted_wait returns the outcome then. */
int rma_posted_test(rma_posted_recv_t* posted);
/** Cancels the receive, as rma_cancel does. */
void rma_posted_cancel(rma_posted_recv_t* posted);
/** Turns the receive into one that has a request, for rma_wait_any: `*posted` ends no more, but its info is
 *  still filled. Stores RMA_REQUEST_NULL if the receive has ended or is about to: the caller then waits for
 *  `*posted`. Returns RMA_ERR_NO_MEMORY. */
rma_status_t rma_posted_request(rma_posted_recv_t* posted, rma_request_t* request);

/** The memory in which all members of a team meet. It exists as long as the team. */
typedef struct rma_meeting* rma_meeting_t;

/** Returns the memory in which the members of a team meet, or null. It is null if the members are on several
 *  hosts, if they have not met yet (rma_team_attach), if the settings ask for a trace of all calls or for
 *  checks of collective calls, and for a handle of no team. Local. */
rma_meeting_t rma_team_meeting(rma_team_t team);

/** These two execute a barrier and an allreduce of a few bytes, as rma_collective_run does. Members that call
 *  them and members that call rma_collective_run find each other. They return 1 if the operation is done, and
 *  0 if it is to be executed by rma_collective_run, which then also reports a member that is lost. */
int rma_try_barrier(rma_meeting_t meeting);
/** `dst` and `src` are equal or disjoint, and not null. The arguments of the members agree. */
int rma_try_allreduce(rma_meeting_t meeting, void* dst, const void* src, size_t count,
                      const rma_reducer_t* reducer);

/** Says that the library `name` uses the contexts above RMA_CONTEXT_LAST in this process, as one library may:
 *  two would take each other's messages. May be called at any time. The string stays in place.
 *  @return null, or the name of the other library that has said so before. */
const char* rma_claim_contexts(const char* name);

#ifdef __cplusplus
}
#endif

#endif
