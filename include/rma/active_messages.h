/**
 * @file active_messages.h
 * Active messages (von Eicken, Culler, Goldstein, Schauser, "Active Messages", ISCA 1992): a message names a
 * function, its *handler*, which the receiving process calls. The runtimes of languages use them for what a
 * put or get cannot express, such as following pointers at their owner. docs/for-languages.md has the calls
 * of GASNet-EX beside these.
 *
 * A *request* goes to any rank, the caller's own included. The handler of a request may send one *reply* to
 * the rank that sent it. Both carry up to RMA_AM_WORDS words, and exist in three categories:
 *  - short: words only;
 *  - medium: also a payload, which the handler finds in a buffer of the library;
 *  - long: also a payload, which lies in the receiver's memory at the address that the sender chose, before
 *    the handler runs.
 *
 * Threads. Handlers of messages from other ranks run one at a time: in a thread of the program that polls or
 * waits in the library, or in the library's helper thread, so that a rank that computes is served too. The
 * handler of a message to the own rank runs in the thread that sends it, before that call returns, perhaps at
 * the same time as another handler. The helper thread has a stack of 512 KiB.
 *
 * A handler does not wait. It may reply once, use its own memory and memory that this process has mapped
 * (rma_map, direct.h), call rma_wake, and call the functions that only return a value (rma_rank,
 * rma_same_host). It calls no other function of the library: requests, polls and waits of active messages
 * return RMA_ERR_STATE there, other calls may wait for ever. A thread that calls the library holds no lock
 * that a handler takes.
 *
 * Order. The requests of one thread to the same rank are handled in the order of the calls. A reply may
 * overtake later or earlier replies only if they come from different ranks. Active messages are not ordered
 * with puts, gets and atomics, except that the payload of a long message is in place when its handler runs:
 * fence before a request that announces other data.
 *
 * Flow control. A rank has at most RMA_AM_OPEN requests to another whose handlers have not run, as far as it
 * knows. A further request waits, and handles incoming messages meanwhile, so two ranks that flood each other
 * go on. Replies never wait.
 *
 * These functions return, besides the errors of rma.h:
 *  - RMA_ERR_ARGUMENT if no handler has the number, the count of words is not from 0 to RMA_AM_WORDS, or a
 *    pointer is null;
 *  - RMA_ERR_SIZE if the payload is longer than rma_am_limits says;
 *  - RMA_ERR_STATE for a request, poll or wait in a handler, and for a reply outside the token's handler or
 *    behind another reply;
 *  - RMA_ERR_PEER_LOST if the receiver is lost. A message that was sent before may have been lost with it.
 *
 * A rank that sends a message with the number of no handler, or a long one to memory that is not in reach, is
 * given up, because no call here sends one. rma_finalize does not wait for replies. Handlers may run until
 * it returns, and no longer.
 */
#ifndef RMA_ACTIVE_MESSAGES_H
#define RMA_ACTIVE_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The most words of a message. */
#define RMA_AM_WORDS 16
/** The most handlers of a process. */
#define RMA_AM_HANDLERS 256
/** The most requests of one rank to another that may be open at the same time. */
#define RMA_AM_OPEN 1024

/** Names the sender of a request while its handler runs. */
typedef struct rma_am_token rma_am_token_t;

/** A message as its handler sees it. All pointers are valid while the handler runs. */
typedef struct rma_am_message {
  int source;            /**< the rank that sent it */
  int handler;           /**< the handler's number */
  int word_count;        /**< 0 to RMA_AM_WORDS */
  const uint64_t* words; /**< aligned to 8 bytes; not null */
  void* payload;         /**< null in a short message; of a medium one, aligned to 8 bytes */
  size_t bytes;          /**< of the payload */
} rma_am_message_t;

/** A handler. `context` is that of rma_am_register. `token` is null if the message is a reply. */
typedef void (*rma_am_handler_t)(void* context, rma_am_token_t* token, const rma_am_message_t* message);

/** Registers a handler under the next number, which is the same on all ranks. Stores it into `*number`.
 *  Collective over the world team; all ranks register the same handlers in the same order. Messages to the
 *  handler may arrive before the call returns. Handlers stay until rma_finalize.
 *  @return RMA_ERR_NO_MEMORY if RMA_AM_HANDLERS are registered. */
rma_status_t rma_am_register(rma_am_handler_t handler, void* context, int* number);

/** Stores the most bytes of the payload of a medium message, and those of a long reply. Both are the same on
 *  all ranks, and follow from RMA_MESSAGE. A long request has no limit. Either pointer may be null. */
rma_status_t rma_am_limits(size_t* medium, size_t* long_reply);

/** Sends a request to `rank`. Returns when the caller may reuse `words` and `payload`; the handler may run
 *  later. A long one copies the payload to `dst` in the memory of `rank`, which rma_put could write to. If
 *  that memory is not mapped here and the payload is longer than that of a medium message, the call performs
 *  rma_put and rma_fence(rank) first. */
rma_status_t rma_am_request(int rank, int handler, const uint64_t* words, int word_count);
rma_status_t rma_am_request_medium(int rank, int handler, const uint64_t* words, int word_count,
                                   const void* payload, size_t bytes);
rma_status_t rma_am_request_long(int rank, int handler, const uint64_t* words, int word_count,
                                 const void* payload, size_t bytes, void* dst);

/** Replies to the request that `token` belongs to, in its handler, at most once. Does not wait. */
rma_status_t rma_am_reply(rma_am_token_t* token, int handler, const uint64_t* words, int word_count);
rma_status_t rma_am_reply_medium(rma_am_token_t* token, int handler, const uint64_t* words, int word_count,
                                 const void* payload, size_t bytes);
rma_status_t rma_am_reply_long(rma_am_token_t* token, int handler, const uint64_t* words, int word_count,
                               const void* payload, size_t bytes, void* dst);

/** Takes in the messages that have arrived, and runs their handlers, unless another thread does so. */
rma_status_t rma_am_poll(void);
/** Waits until `met(context)` returns a value other than 0, and handles messages meanwhile. The function
 *  reads what handlers write, with acquire order, calls no function of the library, and is called often. A
 *  thread that waits long sleeps, until a handler has run.
 *  @param rank  the call ends with RMA_ERR_PEER_LOST if this rank is lost before; -1: it does not.
 *  @return RMA_ERR_ARGUMENT if `met` is null, RMA_ERR_RANK. */
rma_status_t rma_am_wait(int (*met)(void* context), void* context, int rank);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
