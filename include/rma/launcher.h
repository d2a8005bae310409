/**
 * @file launcher.h
 * Functions by which a library over rma.h, such as one for MPI, asks the launcher of a running job: to start
 * more ranks, to let ranks meet that did not start together, and for ports and names. Programs need none of
 * them. Only rmarun serves these requests: in a job of another launcher the functions that return a status
 * return RMA_ERR_UNSUPPORTED. All return RMA_ERR_ARGUMENT for null pointers and for counts that are not
 * positive.
 *
 * The processes that start together are a *world*. rma_size() and rma_team_world() are of the world of the
 * calling process. The ranks of the command line are the first world, and have the ranks from 0 on. Those of
 * each rma_launch are another one, and have the next ranks. Two ranks of different worlds can use each
 * other's memory and send each other messages once they have met.
 */
#ifndef RMA_LAUNCHER_H
#define RMA_LAUNCHER_H

#include <stddef.h>
#include <stdint.h>

#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the first rank of this process's world; -1 outside rma_init ... rma_finalize. */
int rma_world_first(void);
/** Returns how many ranks the job has or may have altogether. Ranks are below this. rma_size() if no ranks
 *  can be added; -1 outside rma_init ... rma_finalize. */
int rma_seats(void);
/** Returns how many ranks have started this process's world: 0 in the first one. Stores where they are
 *  listed, until rma_finalize, and the number under which they meet this world (rma_meet_later). */
int rma_parents(const int** ranks, uint32_t* number);
/** Returns the name of the job, which no other job on this host has, or null outside rma_init ...
 *  rma_finalize. */
const char* rma_job_name(void);

/** Lets ranks of several worlds meet: afterwards each can reach all others. Each of the `count` ranks calls
 *  it with the same ranks, in any order. `number` identifies the meeting: no meeting that takes place at the
 *  same time has the same one. Ranks may meet again. The call receives messages while it waits.
 *  @return RMA_ERR_PEER_LOST if one of the ranks has ended; RMA_ERR_RANK. */
rma_status_t rma_meet_later(const int* ranks, int count, uint32_t number);

/** A program of which more ranks are to start. Texts may be null, which is the same as empty. */
typedef struct rma_launch_program {
  int ranks;
  const char* const* command; /**< the program and its arguments, and a null behind them */
  const char* directory;      /**< in which they start; empty: rmarun's */
  const char* path;           /**< where the program is looked for: folders, separated by colons */
  const char* host;           /**< hosts on which they may start, separated by commas; empty: any */
  const char* soft;           /**< how many will do: "2,4:8,10:20:5"; empty: `ranks` */
} rma_launch_program_t;

/** Starts the ranks of `count` programs as a new world, all or none of them. `parents` lists the
 *  `parent_count` ranks that will meet them. Stores the first new rank, and for each program how many ranks
 *  have started. The parents and the new ranks then call rma_meet_later with `number`, which the new ranks
 *  get from rma_parents.
 *  @return RMA_ERR_ARGUMENT with rmarun's reason if they cannot start; RMA_ERR_RANK. */
rma_status_t rma_launch(const rma_launch_program_t* programs, int count, const int* parents, int parent_count,
                        uint32_t number, int* first, int* started);

/** Opens a port, at which ranks of the job can wait for each other. Its number is no other port's. */
rma_status_t rma_port_open(uint32_t* port);
/** Closes it. Ranks that wait there fail. @return RMA_ERR_ARGUMENT if no such port is open. */
rma_status_t rma_port_close(uint32_t port);
/** Waits at a port until a rank that accepts (`accepts` is not 0) and one that connects (0) are there. Each
 *  of the two sends `bytes` bytes to the other, and gets the other's by one call of `take`. Receives messages
 *  while it waits. A rank that connects waits `seconds` seconds at most, or as long as it takes if that is 0.
 *  @return RMA_ERR_ARGUMENT if no such port is open, it is closed meanwhile, or no rank has accepted in that
 *  time. */
rma_status_t rma_port_meet(uint32_t port, int accepts, int seconds, const void* mine, size_t bytes,
                           void (*take)(void* context, const void* theirs, size_t bytes), void* context);

/** Publishes a name with a value. @return RMA_ERR_ARGUMENT if it is published already. */
rma_status_t rma_name_publish(const char* name, const char* value);
/** Finds the value of a name, with its end, in `room` bytes. @return RMA_ERR_ARGUMENT if it is not
 *  published, RMA_ERR_SIZE if there is less room. */
rma_status_t rma_name_look_up(const char* name, char* value, size_t room);
/** Withdraws a published name. @return RMA_ERR_ARGUMENT if it is not published. */
rma_status_t rma_name_unpublish(const char* name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
