/**
 * @file messages.h
 * Two-sided messages between the ranks of a job, beside the one-sided operations of rma.h. The two share
 * requests, errors and progress: rma_wait_any may wait for puts and for receives at once.
 *
 * A message goes from one rank to another. It has a *context*, a number that separates messages of one part
 * of a program from those of others, and a *tag* of the sender's choice. A receive names a context, and a
 * source and a tag or wildcards for them. The rules by which receives and messages match are those of MPI
 * (MPI 4.1, section 3.5): within a context, messages from one rank are received in the order of sending by
 * receives that fit them, and a message matches the receive that was posted first among those that fit.
 *
 * These conventions hold for every function here, besides those of rma.h:
 *  - `bytes` may be 0, with any pointer. Tags are 0 or greater. Contexts up to RMA_CONTEXT_LAST are the
 *    program's; librma and interfaces over it use the others.
 *  - A rank may send to itself.
 *  - A send may return before the message is received, if it is short and the receiver has room. A program
 *    must not depend on that: a send to a rank that never receives may wait for ever.
 *  - A call that waits takes in other messages meanwhile. No other thread is needed for progress.
 *  - `info` may be null. The call or, for a nonblocking receive, the end of the operation fills it.
 *  - Receives return, besides the errors of rma.h, RMA_ERR_TRUNCATED if the message is longer than the
 *    buffer. The buffer then holds the beginning of the message, and `info->bytes` is the message's whole
 *    size.
 *  - If a rank is lost, sends to it and receives from it fail with RMA_ERR_PEER_LOST. Receives from any
 *    source fail as well, because the message that they wait for may never come.
 */
#ifndef RMA_MESSAGES_H
#define RMA_MESSAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The wildcards of receives and probes. */
#define RMA_ANY_SOURCE (-1)
#define RMA_ANY_TAG (-1)

/** The last context that belongs to the program. */
#define RMA_CONTEXT_LAST UINT32_C(0x3fffffff)

/** A message as its receiver sees it. */
typedef struct rma_message_info {
  int source;
  int tag;
  size_t bytes; /**< the size of the message as it was sent */
} rma_message_info_t;

/** A message that rma_mprobe has found and taken out of the matching. Only rma_mrecv receives it. The handle
 *  is local: it is valid in this process only. */
typedef struct rma_message* rma_message_t;

/** Sends `bytes` bytes at `src` to `rank`. Returns when the caller may reuse `src`. Returns RMA_ERR_RANK,
 *  RMA_ERR_ARGUMENT (a null pointer, or a negative tag), RMA_ERR_SIZE (address + bytes overflows). */
rma_status_t rma_send(const void* src, size_t bytes, int rank, int tag, uint32_t context);
/** Starts an rma_send and returns. The caller may reuse `src` after it has waited for `*request`. */
rma_status_t rma_send_nb(const void* src, size_t bytes, int rank, int tag, uint32_t context,
                         rma_request_t* request);
/** Receives a message into the `bytes` bytes at `dst`. Returns when it is there. `source` may be
 *  RMA_ANY_SOURCE, `tag` may be RMA_ANY_TAG. The errors are those of rma_send, and RMA_ERR_TRUNCATED. */
rma_status_t rma_recv(void* dst, size_t bytes, int source, int tag, uint32_t context,
                      rma_message_info_t* info);
/** Posts a receive and returns. `dst` and `*info` are filled after the caller has waited for `*request`. */
rma_status_t rma_recv_nb(void* dst, size_t bytes, int source, int tag, uint32_t context,
                         rma_message_info_t* info, rma_request_t* request);

/** The forms of rma_data_t. */
#define RMA_DATA_CONTIGUOUS 0
#define RMA_DATA_STRIDED 1
#define RMA_DATA_VECTOR 2

/** Where the data of a message lie.
 *
 *  Noncontiguous memory is sent and received without a buffer in between where a transport can. The layouts
 *  of the two sides are independent of each other: the message consists of the bytes in the order of the
 *  layout. It may be sent from one layout and received into another, or into contiguous memory.
 *
 *  A strided layout is counts[0] contiguous bytes, repeated counts[1] times at a distance of strides[0]
 *  bytes; all of that is repeated counts[2] times at a distance of strides[1], and so on: `levels` strides
 *  and levels + 1 counts. Strides may be negative. If any count is 0, the message is empty. A vector layout
 *  is a list of segments. The caller may change the arrays of a layout when the call returns. Besides the
 *  errors of contiguous data, layouts give RMA_ERR_ARGUMENT (`levels` is negative or above RMA_MAX_LEVELS)
 *  and RMA_ERR_SIZE (the layout overflows the range of addresses). */
typedef struct rma_data {
  int form;          /**< one of RMA_DATA_* */
  const void* start; /**< of contiguous or strided data. Only receives write there */
  size_t count;      /**< bytes of contiguous data, or segments of a vector */
  int levels;        /**< this and the next two are those of a strided layout */
  const ptrdiff_t* strides;
  const size_t* counts;
  const struct iovec* segments; /**< of a vector */
} rma_data_t;

/** The modes of the calls below. Their sum is a mode too. */
#define RMA_SEND_SYNCHRONOUS 1 /**< the send ends after a receive has matched the message (MPI: MPI_Ssend) */
#define RMA_MESSAGE_STARTS 2   /**< the call only starts the operation */

/** Send and receive any data. They return when the operation has ended: a send when the caller may reuse the
 *  data, a receive when the message is there. With RMA_MESSAGE_STARTS they only start it, and it has ended
 *  after a wait for `*request`, which is not used otherwise. rma_mrecv_data receives the message that a
 *  matched probe has found, and makes `*message` null. Errors are those of rma_send and rma_recv, and
 *  RMA_ERR_ARGUMENT for a form or mode that does not exist, or an invalid message. */
rma_status_t rma_send_data(const rma_data_t* data, int rank, int tag, uint32_t context, int mode,
                           rma_request_t* request);
rma_status_t rma_recv_data(const rma_data_t* data, int source, int tag, uint32_t context,
                           rma_message_info_t* info, int mode, rma_request_t* request);
rma_status_t rma_mrecv_data(const rma_data_t* data, rma_message_t* message, rma_message_info_t* info,
                            int mode, rma_request_t* request);

/** A send or receive that the program starts again and again with the same arguments. The handle is local: it
 *  is valid in this process only, until rma_persistent_free or rma_finalize. */
typedef struct rma_persistent* rma_persistent_t;

/** These check the arguments of rma_send_nb, rma_ssend_nb and rma_recv_nb and keep them in `*persistent`. */
rma_status_t rma_send_init(const void* src, size_t bytes, int rank, int tag, uint32_t context,
                           rma_persistent_t* persistent);
rma_status_t rma_ssend_init(const void* src, size_t bytes, int rank, int tag, uint32_t context,
                            rma_persistent_t* persistent);
rma_status_t rma_recv_init(void* dst, size_t bytes, int source, int tag, uint32_t context,
                           rma_message_info_t* info, rma_persistent_t* persistent);
/** Starts the operation. The caller waits for `*request` before it starts it again. */
rma_status_t rma_start(rma_persistent_t persistent, rma_request_t* request);
/** Frees the handle and makes `*persistent` null. An operation that was started goes on. */
rma_status_t rma_persistent_free(rma_persistent_t* persistent);

/** Waits until a message is there that the receive with the same arguments would match, and describes it. The
 *  message stays there. */
rma_status_t rma_probe(int source, int tag, uint32_t context, rma_message_info_t* info);
/** Makes the test of rma_probe once. Sets `*found` to 1 if there is such a message, else to 0. */
rma_status_t rma_iprobe(int source, int tag, uint32_t context, int* found, rma_message_info_t* info);

/** Does the same as rma_probe, and takes the message out of the matching: no other receive or probe finds it.
 *  The caller then receives it by rma_mrecv. */
rma_status_t rma_mprobe(int source, int tag, uint32_t context, rma_message_t* message,
                        rma_message_info_t* info);
/** Makes the test of rma_mprobe once. `*message` is null if `*found` is 0. */
rma_status_t rma_improbe(int source, int tag, uint32_t context, int* found, rma_message_t* message,
                         rma_message_info_t* info);
/** Cancels a receive that no message has matched yet, or a send that no receive has matched yet. The caller
 *  still waits for the request: it returns RMA_ERR_CANCELED if the operation was cancelled, else its own
 *  status. A send that was cancelled is never received. One whose data have left already is not cancelled,
 *  and its request is complete. The wait for a send returns even if no receive is ever posted. Does nothing
 *  to other operations, which cannot be cancelled. */
rma_status_t rma_cancel(rma_request_t request);

/** Says that this process uses a context no more: none of its receives there is pending, and it posts no
 *  other one. Messages that no receive has taken are lost, and the memory of the context is free for others.
 *  Without this call a context costs some KiB until rma_finalize. Another use of the same number is safe if
 *  nobody can still send a message of the first one. */
rma_status_t rma_context_drop(uint32_t context);

/** Draws a number for an object that several ranks share, such as a communicator of MPI: no other such object
 *  of the job has it. The caller tells it to the other members. For interfaces over this library: the object
 *  has the contexts RMA_CONTEXT_LAST + 1 + 4 * number to RMA_CONTEXT_LAST + 4 + 4 * number, and at most two
 *  attached teams (rma_team_attach), of the numbers RMA_CONTEXT_LAST / 2 + 1 + number and that plus 2^28.
 *  @return RMA_ERR_NO_MEMORY if all numbers of this process are in use. */
rma_status_t rma_contexts_draw(uint32_t* number);
/** Says that this process is done with an object: it has freed the object's teams, its sends and receives in
 *  the object's contexts have ended, and it posts no others. Messages that no receive has taken are lost.
 *  Local. The number is drawn again when all members have called this and no message of theirs can arrive any
 *  more.
 *  @param ranks  the world ranks of all members, in any order
 *  @param count  how many these are
 *  @return RMA_ERR_ARGUMENT (null, no members, or no number that a rank of the job draws), RMA_ERR_RANK */
rma_status_t rma_contexts_return(uint32_t number, const int* ranks, int count);

/* ---- The same by name ---------------------------------------------------------------------------- */

static __inline__ rma_data_t rma_contiguous_data(const void* start, size_t bytes) {
  rma_data_t data = {RMA_DATA_CONTIGUOUS, NULL, 0, 0, NULL, NULL, NULL};
  data.start = start;
  data.count = bytes;
  return data;
}
static __inline__ rma_data_t rma_strided_data(const void* start, const ptrdiff_t* strides,
                                              const size_t* counts, int levels) {
  rma_data_t data = {RMA_DATA_STRIDED, NULL, 0, 0, NULL, NULL, NULL};
  data.start = start;
  data.strides = strides;
  data.counts = counts;
  data.levels = levels;
  return data;
}
static __inline__ rma_data_t rma_vector_data(const struct iovec* segments, size_t count) {
  rma_data_t data = {RMA_DATA_VECTOR, NULL, 0, 0, NULL, NULL, NULL};
  data.segments = segments;
  data.count = count;
  return data;
}

static __inline__ rma_status_t rma_send_strided(const void* src, const ptrdiff_t* strides,
                                                const size_t* counts, int levels, int rank, int tag,
                                                uint32_t context) {
  const rma_data_t data = rma_strided_data(src, strides, counts, levels);
  return rma_send_data(&data, rank, tag, context, 0, NULL);
}
static __inline__ rma_status_t rma_send_strided_nb(const void* src, const ptrdiff_t* strides,
                                                   const size_t* counts, int levels, int rank, int tag,
                                                   uint32_t context, rma_request_t* request) {
  const rma_data_t data = rma_strided_data(src, strides, counts, levels);
  return rma_send_data(&data, rank, tag, context, RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_send_vector(const struct iovec* segments, size_t count, int rank, int tag,
                                               uint32_t context) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_send_data(&data, rank, tag, context, 0, NULL);
}
static __inline__ rma_status_t rma_send_vector_nb(const struct iovec* segments, size_t count, int rank,
                                                  int tag, uint32_t context, rma_request_t* request) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_send_data(&data, rank, tag, context, RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_ssend(const void* src, size_t bytes, int rank, int tag, uint32_t context) {
  const rma_data_t data = rma_contiguous_data(src, bytes);
  return rma_send_data(&data, rank, tag, context, RMA_SEND_SYNCHRONOUS, NULL);
}
static __inline__ rma_status_t rma_ssend_nb(const void* src, size_t bytes, int rank, int tag,
                                            uint32_t context, rma_request_t* request) {
  const rma_data_t data = rma_contiguous_data(src, bytes);
  return rma_send_data(&data, rank, tag, context, RMA_SEND_SYNCHRONOUS | RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_ssend_strided(const void* src, const ptrdiff_t* strides,
                                                 const size_t* counts, int levels, int rank, int tag,
                                                 uint32_t context) {
  const rma_data_t data = rma_strided_data(src, strides, counts, levels);
  return rma_send_data(&data, rank, tag, context, RMA_SEND_SYNCHRONOUS, NULL);
}
static __inline__ rma_status_t rma_ssend_strided_nb(const void* src, const ptrdiff_t* strides,
                                                    const size_t* counts, int levels, int rank, int tag,
                                                    uint32_t context, rma_request_t* request) {
  const rma_data_t data = rma_strided_data(src, strides, counts, levels);
  return rma_send_data(&data, rank, tag, context, RMA_SEND_SYNCHRONOUS | RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_ssend_vector(const struct iovec* segments, size_t count, int rank, int tag,
                                                uint32_t context) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_send_data(&data, rank, tag, context, RMA_SEND_SYNCHRONOUS, NULL);
}
static __inline__ rma_status_t rma_ssend_vector_nb(const struct iovec* segments, size_t count, int rank,
                                                   int tag, uint32_t context, rma_request_t* request) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_send_data(&data, rank, tag, context, RMA_SEND_SYNCHRONOUS | RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_recv_strided(void* dst, const ptrdiff_t* strides, const size_t* counts,
                                                int levels, int source, int tag, uint32_t context,
                                                rma_message_info_t* info) {
  const rma_data_t data = rma_strided_data(dst, strides, counts, levels);
  return rma_recv_data(&data, source, tag, context, info, 0, NULL);
}
static __inline__ rma_status_t rma_recv_strided_nb(void* dst, const ptrdiff_t* strides, const size_t* counts,
                                                   int levels, int source, int tag, uint32_t context,
                                                   rma_message_info_t* info, rma_request_t* request) {
  const rma_data_t data = rma_strided_data(dst, strides, counts, levels);
  return rma_recv_data(&data, source, tag, context, info, RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_recv_vector(const struct iovec* segments, size_t count, int source,
                                               int tag, uint32_t context, rma_message_info_t* info) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_recv_data(&data, source, tag, context, info, 0, NULL);
}
static __inline__ rma_status_t rma_recv_vector_nb(const struct iovec* segments, size_t count, int source,
                                                  int tag, uint32_t context, rma_message_info_t* info,
                                                  rma_request_t* request) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_recv_data(&data, source, tag, context, info, RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_mrecv(void* dst, size_t bytes, rma_message_t* message,
                                         rma_message_info_t* info) {
  const rma_data_t data = rma_contiguous_data(dst, bytes);
  return rma_mrecv_data(&data, message, info, 0, NULL);
}
static __inline__ rma_status_t rma_mrecv_nb(void* dst, size_t bytes, rma_message_t* message,
                                            rma_message_info_t* info, rma_request_t* request) {
  const rma_data_t data = rma_contiguous_data(dst, bytes);
  return rma_mrecv_data(&data, message, info, RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_mrecv_strided(void* dst, const ptrdiff_t* strides, const size_t* counts,
                                                 int levels, rma_message_t* message,
                                                 rma_message_info_t* info) {
  const rma_data_t data = rma_strided_data(dst, strides, counts, levels);
  return rma_mrecv_data(&data, message, info, 0, NULL);
}
static __inline__ rma_status_t rma_mrecv_strided_nb(void* dst, const ptrdiff_t* strides, const size_t* counts,
                                                    int levels, rma_message_t* message,
                                                    rma_message_info_t* info, rma_request_t* request) {
  const rma_data_t data = rma_strided_data(dst, strides, counts, levels);
  return rma_mrecv_data(&data, message, info, RMA_MESSAGE_STARTS, request);
}
static __inline__ rma_status_t rma_mrecv_vector(const struct iovec* segments, size_t count,
                                                rma_message_t* message, rma_message_info_t* info) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_mrecv_data(&data, message, info, 0, NULL);
}
static __inline__ rma_status_t rma_mrecv_vector_nb(const struct iovec* segments, size_t count,
                                                   rma_message_t* message, rma_message_info_t* info,
                                                   rma_request_t* request) {
  const rma_data_t data = rma_vector_data(segments, count);
  return rma_mrecv_data(&data, message, info, RMA_MESSAGE_STARTS, request);
}

#ifdef __cplusplus
}
#endif

#endif
