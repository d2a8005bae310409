/**
 * @file notification.h
 * Notification: puts that set a flag at their target, and waits of the target for flags and other words.
 * rma.h includes this header, and its conventions hold here.
 */
#ifndef RMA_NOTIFICATION_H
#define RMA_NOTIFICATION_H

#include <stddef.h>
#include <stdint.h>

#include "rma/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Performs rma_put of `src` to `dst`, then stores `value` into `*flag` at `rank`. A thread that
 *  sees the value in the flag also sees the data. `flag` is an 8-byte word of the target's heap, aligned to 8
 *  bytes. */
rma_status_t rma_put_notify(void* dst, const void* src, size_t bytes, uint64_t* flag, uint64_t value,
                            int rank);
/** Does the same with rma_put_strided. */
rma_status_t rma_put_strided_notify(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                    const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                    uint64_t* flag, uint64_t value, int rank);
/** Waits until the comparison of the local word `*flag` with `value` is true. Stores the flag's value that
 *  made it true into `*seen`, which may be null. `flag` may be any 8-byte word of this process that is
 *  aligned to 8 bytes. A thread that waits long sleeps. Puts and atomic operations of ranks of this host wake
 *  the sleeper at once. The sleeper notices any other write, such as one by a network device, by a strided
 *  put or by a plain store of the program without rma_wake, after at most an eighth of the time waited so
 *  far, and after at most 10 ms. */
rma_status_t rma_wait_until(const uint64_t* flag, rma_compare_t compare, uint64_t value, uint64_t* seen);
/** Waits until `met(context)` returns a value other than 0. The function loads words of this process that
 *  other ranks write, of any size and number, with acquire order, and compares them as it likes. It calls no
 *  function of the library, and the calling thread calls it often. The thread sleeps and is woken as in
 *  rma_wait_until. Returns RMA_ERR_ARGUMENT if `met` is null. */
rma_status_t rma_wait_for(int (*met)(void* context), void* context);
/** Waits until the comparisons of all words are true. A word counts once its comparison was seen true.
 *  Returns at once if there is no word that is not left out. The thread sleeps and is woken as in
 *  rma_wait_until. Returns RMA_ERR_ARGUMENT (null; another size of a word; no such comparison),
 *  RMA_ERR_ADDRESS (not aligned). */
rma_status_t rma_wait_until_all(const rma_words_t* words);
/** Waits until the comparison of one word is true, and stores that word's index into `*index`. Stores
 *  SIZE_MAX at once if there is no word that is not left out. */
rma_status_t rma_wait_until_any(const rma_words_t* words, size_t* index);
/** Waits until the comparison of one word is true. Stores the indices of all words whose comparisons are true
 *  then into `indices`, which has room for `count`, and their number into `*found`. The number is 0 only if
 *  there is no word that is not left out. */
rma_status_t rma_wait_until_some(const rma_words_t* words, size_t* indices, size_t* found);
/** Do the same without waiting. `*met`: 1 if all comparisons are true, else 0. `*index` is SIZE_MAX, and
 *  `*found` 0, if none is true. */
rma_status_t rma_test_until_all(const rma_words_t* words, int* met);
rma_status_t rma_test_until_any(const rma_words_t* words, size_t* index);
rma_status_t rma_test_until_some(const rma_words_t* words, size_t* indices, size_t* found);
/** Wakes the threads of `rank` that sleep in rma_wait_until or rma_wait_for. A program calls it after it has
 *  stored to memory of the rank with its own instructions (rma_map); rma_wake_after_store in direct.h costs
 *  less where mostly nobody sleeps. Returns RMA_ERR_RANK. Does nothing if the rank is on another host. */
rma_status_t rma_wake(int rank);
/** Makes the comparison of rma_wait_until once, without waiting. Sets `*met` to 1 if it is true, else to
 *  0. */
rma_status_t rma_test_until(const uint64_t* flag, rma_compare_t compare, uint64_t value, int* met);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif
