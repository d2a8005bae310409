/**
 * @file variables.h
 * The library's counters and settings, for tools. The interfaces over librma show both in their own
 * ways: MPI as the variables of MPI_T.
 *
 * Counters and settings have numbers from 0 on, which stay the same as long as the process lives. Other
 * versions of the library have other numbers, so a program that wants one of them looks for its name.
 *
 * All calls are local and thread-safe, and may be made at any time, also before rma_init, after rma_finalize
 * and in a forked child.
 */
#ifndef RMA_VARIABLES_H
#define RMA_VARIABLES_H

#include <stddef.h>
#include <stdint.h>

#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the number of counters. */
size_t rma_counter_count(void);

/** Returns the name of a counter, such as "put_bytes", which RMA_STATS prints, too. Returns null if there is
 *  no such counter. */
const char* rma_counter_name(size_t counter);

/** Returns what a counter counts, as a text of one line. Returns null if there is no such counter. */
const char* rma_counter_text(size_t counter);

/** Returns how much this process has counted: 0 before its first rma_init, and the total of all its jobs
 *  otherwise, also after rma_finalize. The value never decreases. Counts of other threads may be in it a
 *  little later. Accesses that direct.h inlines are not counted. Returns 0 if there is no such counter. */
uint64_t rma_counter_value(size_t counter);

/** Returns the number of settings. */
size_t rma_setting_count(void);

/** Returns the name of a setting, which is an environment variable, such as "RMA_HEAP_SIZE". Returns null if
 *  there is no such setting. */
const char* rma_setting_name(size_t setting);

/** Returns what a setting means, as a text of one line. Returns null if there is no such setting. */
const char* rma_setting_text(size_t setting);

/** Returns 1 if the values of a setting are numbers, and 0 if they are words or texts, or if there is no such
 *  setting. */
int rma_setting_is_number(size_t setting);

/**
 * Stores the value of a setting whose values are numbers. In a job it is the job's; outside of one, that
 * which rma_init would read from the environment.
 * @return RMA_ERR_ARGUMENT (`value` is null, there is no such setting, or its values are no numbers);
 *         RMA_ERR_SETTING (outside of a job: the environment has a setting that is not valid).
 */
rma_status_t rma_setting_number(size_t setting, uint64_t* value);

/**
 * Stores the value of a setting as a user writes it, such as "64K".
 * @param value   out: at most `bytes` bytes: the text, cut short if there is no room for it, and a null. May
 *                be null if `bytes` is 0.
 * @param needed  out: the bytes that the whole text takes, with the null. May be null.
 * @return the errors of rma_setting_number, but for values that are no numbers.
 */
rma_status_t rma_setting_value(size_t setting, char* value, size_t bytes, size_t* needed);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
