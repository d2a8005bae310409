/**
 * @file waits.h
 * The waits of a process, as the launcher reports them about a job that hangs (docs/debugging.md). These
 * functions are for libraries over rma.h, such as one for MPI, whose calls and objects have names that
 * programmers know. Programs need none of them. A wait costs nothing more because of them until a thread has
 * slept in it for 0.1 s.
 */
#ifndef RMA_WAITS_H
#define RMA_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Takes what a library knows of a place. `name` is "MPI_COMM_WORLD", or empty if the place has none.
 *  `for_program` is 1 if messages there are the program's, and 0 if the library sends them by itself in its
 *  collective calls. `ranks` are the ranks with which this process communicates there, in the order of the
 *  numbers that the program knows them by. */
typedef struct rma_place_sink {
  void* data;
  void (*take)(void* data, const char* name, int for_program, const int* ranks, size_t count);
} rma_place_sink_t;

/** Declares the linker's symbols of the library that the file is a part of, for the next. */
#define RMA_WAIT_LIBRARY_SYMBOLS                                          \
  extern const char __ehdr_start[] __attribute__((visibility("hidden"))); \
  extern const char rma_library_dynamic[] __asm__("_DYNAMIC") __attribute__((weak, visibility("hidden")));

/** A library over rma.h. */
typedef struct rma_wait_library {
  const void* header;  /**< the library's __ehdr_start */
  const void* dynamic; /**< the library's _DYNAMIC, which is rma_library_dynamic above */
  /** Calls `sink->take` once if the library has an object whose messages have this context or, if `team` is
   *  not null, whose team that is. A thread calls it that has waited for long; it waits for no lock. May be
   *  null. */
  void (*find_place)(uint32_t context, rma_team_t team, const rma_place_sink_t* sink);
  /** Returns the rank that the calling thread waits for in rma_wait_for or rma_wait_until, which know only
   *  the word, or -1. May be null. */
  int (*find_writer)(void);
} rma_wait_library_t;

/** Says that exported functions of a library are calls of the program, so that waits are called by their
 *  names, and who knows the library's objects. `*library` stays where it is, and so does the library. Up to 8
 *  libraries; more are ignored. Thread-safe; may be called at any time, and again with the same argument. */
void rma_waits_know(const rma_wait_library_t* library);

/** A wait that is shown. */
typedef struct rma_shown_wait rma_shown_wait_t;

/**
 * Shows a wait of the calling thread that is not one inside this library, because the library above polls. It
 * should have lasted for 0.1 s.
 * @param since  when it began, in nanoseconds of CLOCK_MONOTONIC
 * @param about  what it is for, as a reader would say it behind the name of the call: "rank 0's window
 * 'halo'"
 * @param ranks  `count` ranks for which it waits
 * @param any    1 if one of them is enough
 * @return null if the wait is not shown. The thread passes the result to rma_wait_hide when the wait is over.
 */
rma_shown_wait_t* rma_wait_show(int64_t since, const char* about, const int* ranks, size_t count, int any);
/** Ends it. Does nothing for null. */
void rma_wait_hide(rma_shown_wait_t* wait);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
