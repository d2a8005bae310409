/* An image fails in the middle of lock: it is in the queue, but has not told the image in front. That one
 * hands the lock over all the same, and those behind get it. Run by rmarun --survive with 4 images.
 *
 * usage: lock_window alone|followed    with an image behind the one that fails when the lock is given back */

#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rma/rma.h"

typedef void* token_t;
typedef struct {
  uint64_t* data;
  char rest[512];
} descriptor_t;

void _gfortran_caf_init(int* argc, char*** argv);
void _gfortran_caf_finalize(void);
int _gfortran_caf_this_image(int distance);
void _gfortran_caf_register(size_t size, int type, token_t* token, descriptor_t* shape, int* stat,
                            char* message, size_t length);
void _gfortran_caf_sync_all(int* stat, char* message, size_t length);
void _gfortran_caf_sync_images(int count, const int* images, int* stat, char* message, size_t length);
void _gfortran_caf_lock(token_t token, size_t index, int image, int* acquired, int* stat, char* message,
                        size_t length);
void _gfortran_caf_unlock(token_t token, size_t index, int image, int* stat, char* message, size_t length);
void _gfortran_caf_error_stop(int code, bool quiet);

enum { kFails = 2, kStatFailedImage = 6001, kStatUnlockedFailedImage = 6002 };

static bool fails_in_queue = false;

/* Stands in front of librma's function. The image that shall fail does so when it has entered the queue. */
rma_status_t rma_atomic64(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                          uint64_t* old, int rank) {
  static rma_status_t (*next)(rma_atomic_op_t, uint64_t*, uint64_t, uint64_t, uint64_t*, int) = NULL;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "rma_atomic64");
  const rma_status_t status = next(op, target, operand, compare, old, rank);
  if (fails_in_queue && op == RMA_COMPARE_SWAP && *old == compare) raise(SIGKILL);
  return status;
}

static void expect(bool good, const char* what) {
  if (good) return;
  fprintf(stderr, "image %d: %s\n", _gfortran_caf_this_image(0), what);
  _gfortran_caf_error_stop(3, false);
}

static uint64_t end_of(const uint64_t* queue) { return __atomic_load_n(queue, __ATOMIC_ACQUIRE); }

int main(int argc, char** argv) {
  _gfortran_caf_init(&argc, &argv);
  const bool followed = argc > 1 && strcmp(argv[1], "followed") == 0;
  const int me = _gfortran_caf_this_image(0);
  token_t guard = NULL;
  descriptor_t shape = {.data = NULL};
  const int kAllocatableLock = 3;
  _gfortran_caf_register(1, kAllocatableLock, &guard, &shape, NULL, NULL, 0);

  if (me == 1) _gfortran_caf_lock(guard, 0, 1, NULL, NULL, NULL, 0);
  const uint64_t first = end_of(shape.data);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  fails_in_queue = me == kFails;
  if (me == kFails) _gfortran_caf_lock(guard, 0, 1, NULL, NULL, NULL, 0);

  int stat = 0;
  const int failed = kFails;
  _gfortran_caf_sync_images(1, &failed, &stat, NULL, 0);
  expect(stat == kStatFailedImage, "the image has not failed");
  const int others[] = {me == 1 ? 3 : 1, me == 4 ? 3 : 4};
  const uint64_t second = end_of(shape.data);
  if (me == 1) expect(first != second, "the image that failed is not in the queue");
  if (!followed && me == 1) _gfortran_caf_unlock(guard, 0, 1, NULL, NULL, 0);
  /* No other image is in the queue yet. */
  _gfortran_caf_sync_images(2, others, NULL, NULL, 0);
  if (followed && me == 1) {
    while (end_of(shape.data) == second) continue;
    _gfortran_caf_unlock(guard, 0, 1, NULL, NULL, 0);
  }
  /* The first of the others takes the lock over. */
  int taken = 0;
  if (me != 1) {
    _gfortran_caf_lock(guard, 0, 1, NULL, &taken, NULL, 0);
    expect(taken == 0 || taken == kStatUnlockedFailedImage, "the status of lock");
    _gfortran_caf_unlock(guard, 0, 1, NULL, NULL, 0);
  }
  _gfortran_caf_sync_images(2, others, NULL, NULL, 0);
  puts("right");
  _gfortran_caf_finalize();
  return 0;
}
