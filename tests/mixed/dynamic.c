/* A dynamic window of MPI over memory of every kind: static data, the stack, memory of malloc and of
 * shmem_malloc. SHMEM uses the memory that is symmetric at the same time. MPI's puts, gets and accumulates
 * find the same bytes, and the atomics of both interfaces and of rma.h are atomic to each other. */

#include <mpi.h>
#include <shmem.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/rma.h"

enum { kWords = 600, kMost = 64, kRounds = 400, kRaces = 5000, kFaster = 20, kAttachments = 300 };

typedef struct {
  long count; /* of all ranks, at rank 0 */
  int small;
  int swapped;
  double sum;
  long words[kWords];
} Block;

static Block block; /* symmetric static data */
static Block initialized = {.words = {5}};
static int me, ranks, next, previous, wrong;

static void expect(int good, const char* name, const char* what) {
  if (good) return;
  ++wrong;
  fprintf(stderr, "rank %d: %s: %s\n", me, name, what);
}

static void succeeds(int code, const char* name, const char* what) {
  expect(code == MPI_SUCCESS, name, what);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Tells all ranks where each has its block. */
static void share(Block* mine, MPI_Aint places[]) {
  MPI_Aint place;
  MPI_Get_address(mine, &place);
  MPI_Allgather(&place, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
}

static MPI_Aint at(MPI_Aint place, size_t offset) { return MPI_Aint_add(place, (MPI_Aint)offset); }

/* Puts and gets of MPI, read and written by its owner and by SHMEM. */
static void move(MPI_Win window, Block* mine, const MPI_Aint places[], int symmetric, const char* name) {
  long sent[kWords], got[kWords];
  for (int i = 0; i < kWords; ++i) sent[i] = 1000L * me + i;
  succeeds(MPI_Put(sent, kWords, MPI_LONG, next, at(places[next], offsetof(Block, words)), kWords, MPI_LONG,
                   window),
           name, "MPI_Put");
  MPI_Win_flush(next, window);
  succeeds(MPI_Get(got, kWords, MPI_LONG, next, at(places[next], offsetof(Block, words)), kWords, MPI_LONG,
                   window),
           name, "MPI_Get");
  MPI_Win_flush(next, window);
  expect(memcmp(sent, got, sizeof sent) == 0, name, "MPI_Get does not return what MPI_Put has stored");
  MPI_Barrier(MPI_COMM_WORLD);
  expect(mine->words[0] == 1000L * previous && mine->words[kWords - 1] == 1000L * previous + kWords - 1, name,
         "the owner does not see the put");
  if (symmetric) {
    expect(shmem_long_g(&mine->words[7], next) == 1000L * me + 7, name, "SHMEM does not see the put");
    shmem_long_p(&mine->words[8], -1L - me, next);
    shmem_quiet();
    long seen = 0;
    MPI_Get(&seen, 1, MPI_LONG, next, at(places[next], offsetof(Block, words[8])), 1, MPI_LONG, window);
    MPI_Win_flush(next, window);
    expect(seen == -1L - me, name, "MPI does not see what SHMEM has stored");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* Every third word, which is a strided transfer. */
  MPI_Datatype column;
  MPI_Type_vector(kWords / 3, 1, 3, MPI_LONG, &column);
  MPI_Type_commit(&column);
  memset(got, 0, sizeof got);
  MPI_Put(sent, kWords / 3, MPI_LONG, next, at(places[next], offsetof(Block, words)), 1, column, window);
  MPI_Win_flush(next, window);
  MPI_Get(got, kWords / 3, MPI_LONG, next, at(places[next], offsetof(Block, words)), 1, column, window);
  MPI_Win_flush(next, window);
  expect(memcmp(sent, got, kWords / 3 * sizeof *sent) == 0, name, "a column");
  MPI_Type_free(&column);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks count at rank 0, by the atomics of each interface in turn, and add into its sums. */
static void count(MPI_Win window, Block* mine, const MPI_Aint places[], int symmetric, const char* name) {
  const long one = 1;
  const int narrow = 1;
  const double half = 0.5;
  long old;
  int before;
  for (int round = 0; round < kRounds; ++round) {
    succeeds(
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, at(places[0], offsetof(Block, count)), MPI_SUM, window),
        name, "MPI_Fetch_and_op");
    succeeds(MPI_Accumulate(&narrow, 1, MPI_INT, 0, at(places[0], offsetof(Block, small)), 1, MPI_INT,
                            MPI_SUM, window),
             name, "MPI_Accumulate");
    succeeds(MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, at(places[0], offsetof(Block, sum)), 1, MPI_DOUBLE,
                            MPI_SUM, window),
             name, "MPI_Accumulate of doubles");
    if (symmetric) {
      shmem_long_atomic_inc(&mine->count, 0);
      shmem_int_atomic_add(&mine->small, 1, 0);
    }
    int expected = round;
    const int desired = round + 1;
    MPI_Compare_and_swap(&desired, &expected, &before, MPI_INT, me, at(places[me], offsetof(Block, swapped)),
                         window);
    MPI_Win_flush(me, window);
    expect(before == round, name, "MPI_Compare_and_swap");
  }
  MPI_Win_flush_all(window);
  shmem_quiet();
  MPI_Barrier(MPI_COMM_WORLD);
  if (me == 0) {
    const long times = (long)ranks * kRounds * (symmetric ? 2 : 1);
    char text[120];
    snprintf(text, sizeof text, "the counts are %ld and %d, and not %ld", mine->count, mine->small, times);
    expect(mine->count == times && mine->small == times, name, text);
    expect(mine->sum == half * ranks * kRounds, name, "the sum of doubles");
  }
  expect(mine->swapped == kRounds, name, "what MPI_Compare_and_swap leaves");
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Odd ranks count at rank 0 by MPI while the even ones do it by SHMEM, more often because that is faster. */
static void race(MPI_Win window, Block* mine, const MPI_Aint places[], const char* name) {
  const long one = 1;
  mine->count = 0;
  shmem_barrier_all();
  for (int i = 0; i < kRaces * kFaster && me % 2 == 0; ++i) shmem_long_atomic_inc(&mine->count, 0);
  for (int i = 0; i < kRaces && me % 2 == 1; ++i) {
    MPI_Accumulate(&one, 1, MPI_LONG, 0, at(places[0], offsetof(Block, count)), 1, MPI_LONG, MPI_SUM, window);
  }
  MPI_Win_flush_all(window);
  shmem_barrier_all();
  const long times = (long)kRaces * (ranks / 2 + (long)kFaster * ((ranks + 1) / 2));
  char text[80];
  snprintf(text, sizeof text, "the count of a race is %ld, and not %ld", mine->count, times);
  if (me == 0) expect(mine->count == times, name, text);
  shmem_barrier_all();
}

static void use(MPI_Win window, Block* mine, int symmetric, const char* name) {
  MPI_Aint places[kMost];
  memset(mine, 0, sizeof *mine);
  succeeds(MPI_Win_attach(window, mine, sizeof *mine), name, "MPI_Win_attach");
  share(mine, places);
  MPI_Win_lock_all(0, window);
  move(window, mine, places, symmetric, name);
  count(window, mine, places, symmetric, name);
  if (symmetric) race(window, mine, places, name);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_Win_detach(window, mine), name, "MPI_Win_detach");
  /* What one interface has given back stays with the other. */
  if (symmetric) {
    shmem_long_p(&mine->words[1], 77L + me, next);
    shmem_barrier_all();
    expect(mine->words[1] == 77L + previous, name, "SHMEM after MPI_Win_detach");
    shmem_barrier_all();
  }
}

/* One target that lies in memory of all kinds: its datatype has their addresses. */
static void scatter(MPI_Win window, Block* const blocks[], int kinds) {
  const char* const name = "a target of all kinds of memory";
  MPI_Aint mine[kMost], all[kMost * kMost];
  int values[kMost];
  MPI_Datatype here, first;
  for (int i = 0; i < kinds; ++i) {
    memset(blocks[i], 0, sizeof *blocks[i]);
    MPI_Get_address(&blocks[i]->small, &mine[i]);
    values[i] = i + 1;
    succeeds(MPI_Win_attach(window, blocks[i], sizeof *blocks[i]), name, "MPI_Win_attach");
  }
  MPI_Allgather(mine, kinds, MPI_AINT, all, kinds, MPI_AINT, MPI_COMM_WORLD);
  MPI_Type_create_hindexed_block(kinds, 1, &all[kinds * next], MPI_INT, &here);
  MPI_Type_create_hindexed_block(kinds, 1, all, MPI_INT, &first);
  MPI_Type_commit(&here);
  MPI_Type_commit(&first);
  MPI_Win_lock_all(0, window);
  succeeds(MPI_Put(values, kinds, MPI_INT, next, 0, 1, here, window), name, "MPI_Put");
  MPI_Win_flush(next, window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kinds; ++i) expect(blocks[i]->small == i + 1, name, "a put");
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 0; round < kRounds; ++round) {
    succeeds(MPI_Accumulate(values, kinds, MPI_INT, 0, 0, 1, first, MPI_SUM, window), name, "MPI_Accumulate");
    for (int i = 0; i < kinds; ++i)
      MPI_Accumulate(values, 1, MPI_INT, 0, all[i], 1, MPI_INT, MPI_SUM, window);
    shmem_int_atomic_inc(&block.small, 0);
  }
  MPI_Win_flush(0, window);
  shmem_quiet();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kinds && me == 0; ++i) {
    const int by_shmem = blocks[i] == &block ? 1 : 0;
    expect(blocks[i]->small == i + 1 + ranks * kRounds * (i + 1 + 1 + by_shmem), name, "a sum");
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kinds; ++i) succeeds(MPI_Win_detach(window, blocks[i]), name, "MPI_Win_detach");
  MPI_Type_free(&here);
  MPI_Type_free(&first);
}

/* Attaches the same memory again and again, wholly and in parts, and uses it each time. */
static void attach_often(MPI_Win window, Block* mine, const char* name) {
  MPI_Aint places[kMost];
  share(mine, places);
  for (int i = 0; i < kAttachments; ++i) {
    long* const part = &mine->words[i % 16];
    const long value = 10000L * me + i;
    succeeds(MPI_Win_attach(window, part, 8 * sizeof *part), name, "MPI_Win_attach, again");
    succeeds(MPI_Win_attach(window, part + 8, 8 * sizeof *part), name, "MPI_Win_attach of the bytes behind");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
    succeeds(
        MPI_Put(&value, 1, MPI_LONG, next,
                at(places[next], offsetof(Block, words) + (i % 16 + 9) * sizeof(long)), 1, MPI_LONG, window),
        name, "MPI_Put, again");
    MPI_Win_unlock(next, window);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(mine->words[i % 16 + 9] == 10000L * previous + i, name, "a put after MPI_Win_attach, again");
    succeeds(MPI_Win_detach(window, part + 8), name, "MPI_Win_detach, again");
    succeeds(MPI_Win_detach(window, part), name, "MPI_Win_detach, again");
  }
}

static void finish(MPI_Win* window, int attached_now, Block* mine, const char* name) {
  /* MPI_Win_free detaches what is still attached. */
  if (attached_now)
    succeeds(MPI_Win_attach(*window, mine, sizeof *mine), name, "MPI_Win_attach before MPI_Win_free");
  succeeds(MPI_Win_free(window), name, "MPI_Win_free");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  shmem_init();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  if (ranks > kMost) MPI_Abort(MPI_COMM_WORLD, 1);

  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  Block on_stack;
  Block* const ordinary = malloc(sizeof *ordinary);
  Block* const symmetric = shmem_malloc(sizeof *symmetric);
  if (ordinary == NULL || symmetric == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  expect(initialized.words[0] == 5, "initialized static data", "their contents");
  use(window, &block, 1, "static data");
  use(window, &initialized, 1, "initialized static data");
  use(window, &on_stack, 0, "the stack");
  use(window, ordinary, 0, "memory of malloc");
  use(window, symmetric, 1, "memory of shmem_malloc");
  Block* const all[] = {&block, &on_stack, symmetric, ordinary};
  scatter(window, all, 4);
  attach_often(window, &block, "static data");
  attach_often(window, &on_stack, "the stack");
  attach_often(window, ordinary, "memory of malloc");
  attach_often(window, symmetric, "memory of shmem_malloc");
  finish(&window, 1, &block, "static data");
  shmem_free(symmetric);
  free(ordinary);

  int sum = 0;
  MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0 && sum == 0) puts("right");
  shmem_finalize();
  MPI_Finalize();
  return sum == 0 ? 0 : 1;
}
