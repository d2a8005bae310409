/* Static data whose alias librma refuses: MPI_Init comes first, and either RMA_ALIAS is 0 or a thread runs
 * already. SHMEM's calls give the results that they give on an alias, and MPI, ARMCI and rma.h find the same
 * data.
 *
 * usage: mixed-refused [thread] */

#include <armci.h>
#include <mpi.h>
#include <pthread.h>
#include <shmem.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/rma.h"

enum { kWords = 3000, kMost = 64, kRounds = 300, kBy = 4 };

static long words[kWords];
static long table[4] = {1, 2, 3, 4};
static long count, gathered[kMost], sum_in, sum_out;
static int narrow, critical;
static float fraction;
static long guard; /* a lock of SHMEM */
static uint64_t signal_word;
static long flag;
static int me, ranks, next, previous, wrong;

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static volatile long stored_by_thread; /* static data that the other thread writes */

static void expect(int good, const char* what) {
  if (good) return;
  ++wrong;
  fprintf(stderr, "rank %d: %s\n", me, what);
}

static void* wait_at_gate(void* given) {
  (void)given;
  stored_by_thread = 6;
  pthread_mutex_lock(&gate);
  stored_by_thread = 7;
  pthread_mutex_unlock(&gate);
  return NULL;
}

/* Puts, gets and their strided forms. */
static void transfer(void) {
  long sent[kWords], got[kWords];
  for (int i = 0; i < kWords; ++i) sent[i] = 1000L * me + i;
  expect(table[3] == 4 && shmem_long_g(&table[2], next) == 3, "what the executable has stored");
  shmem_barrier_all();
  shmem_long_put(words, sent, kWords, next);
  shmem_long_p(&table[1], -1L - me, next);
  shmem_quiet();
  shmem_long_get(got, words, kWords, next);
  expect(memcmp(sent, got, sizeof sent) == 0, "get");
  shmem_barrier_all();
  expect(words[0] == 1000L * previous && words[kWords - 1] == 1000L * previous + kWords - 1, "put");
  expect(table[1] == -1L - previous && table[0] == 1, "p");
  shmem_barrier_all();
  shmem_long_iput(words, sent, 3, 1, kWords / 3, next);
  shmem_long_put_nbi(&words[1], sent, 1, next);
  shmem_quiet();
  shmem_long_iget(got, words, 1, 3, kWords / 3, next);
  expect(memcmp(sent, got, kWords / 3 * sizeof *sent) == 0, "iput and iget");
  shmem_barrier_all();
  expect(words[1] == 1000L * previous, "put_nbi");
  expect(shmem_ptr(words, next) == NULL || next == me, "shmem_ptr of memory that is not mapped");
  shmem_barrier_all();
}

/* Atomics of all PEs on words of PE 0, all at a time. */
static void count_together(void) {
  long most = -1;
  for (int i = 0; i < kRounds; ++i) {
    const long old = shmem_long_atomic_fetch_add(&count, 2, 0);
    expect(old > most, "fetch_add returns an old value twice");
    most = old;
    shmem_int_atomic_inc(&narrow, 0);
    shmem_set_lock(&guard);
    const int seen = shmem_int_g(&critical, 0);
    shmem_int_p(&critical, seen + 1, 0);
    shmem_quiet();
    shmem_clear_lock(&guard);
  }
  shmem_barrier_all();
  expect(shmem_long_atomic_fetch(&count, 0) == 2L * kRounds * ranks, "fetch_add");
  expect(shmem_int_atomic_fetch(&narrow, 0) == kRounds * ranks, "inc");
  expect(shmem_int_g(&critical, 0) == kRounds * ranks, "set_lock and clear_lock");
  shmem_float_atomic_set(&fraction, 0.5F * (float)(me + 1), next);
  shmem_barrier_all();
  expect(fraction == 0.5F * (float)(previous + 1), "set");
  shmem_barrier_all();
  expect(shmem_float_atomic_swap(&fraction, 4.0F, next) == 0.5F * (float)(me + 1), "swap");
  shmem_barrier_all();
  expect(shmem_long_atomic_compare_swap(&count, me == 0 ? 2L * kRounds * ranks : -1, 5, 0) >= 5,
         "compare_swap");
  shmem_barrier_all();
  expect(shmem_long_g(&count, 0) == 5, "what compare_swap leaves");
  shmem_barrier_all();
}

/* Signals, waits and collectives. */
static void synchronize(void) {
  long sent[4] = {me, me + 1, me + 2, me + 3};
  shmem_long_put_signal(words, sent, 4, &signal_word, 3, SHMEM_SIGNAL_ADD, next);
  expect(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 3) == 3, "signal_wait_until");
  expect(words[0] == previous && words[3] == previous + 3, "put_signal");
  shmem_long_p(&flag, 9, next);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 9);
  shmem_barrier_all(); /* the PE before adds now */
  shmem_long_atomic_add(&flag, 1, next);
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 10);
  const long mine = 50 + me;
  words[9] = mine;
  shmem_barrier_all();
  shmem_long_fcollect(SHMEM_TEAM_WORLD, gathered, &words[9], 1);
  for (int pe = 0; pe < ranks; ++pe) expect(gathered[pe] == 50 + pe, "fcollect");
  sum_in = me + 1;
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum_out, &sum_in, 1);
  expect(sum_out == (long)ranks * (ranks + 1) / 2, "sum_reduce");
  if (me == 0) words[10] = 81;
  shmem_long_broadcast(SHMEM_TEAM_WORLD, &words[11], &words[10], 1, 0);
  expect(words[11] == 81, "broadcast");
  shmem_barrier_all();
}

/* The other interfaces on the same words: a window, and the addresses that SHMEM has registered. All count at
 * PE 0, all at a time. */
static void mix(void) {
  long* all[kMost];
  long* const mine = words;
  long tickets[kBy], drawn[kBy * kMost];
  MPI_Win window;
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  memset(words, 0, sizeof words);
  MPI_Win_create(words, sizeof words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  const long sent[kBy] = {100 + me, 200 + me, 300 + me, 400 + me};
  MPI_Put(&sent[0], 1, MPI_LONG, next, 1, 1, MPI_LONG, window);
  MPI_Win_flush(next, window);
  expect(ARMCI_Put((void*)&sent[1], all[next] + 2, sizeof(long), next) == 0, "ARMCI_Put");
  ARMCI_Fence(next);
  expect(rma_put(all[next] + 3, &sent[2], sizeof(long), next) == RMA_SUCCESS, "rma_put");
  rma_fence(next);
  shmem_long_put(words + 4, &sent[3], 1, next);
  shmem_quiet();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kBy; ++i)
    expect(words[1 + i] == 100L * (i + 1) + previous, "a put of one of the interfaces");

  const long one = 1;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Fetch_and_op(&one, &tickets[0], MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &tickets[1], all[0], 1, 0);
    expect(rma_atomic64(RMA_FETCH_ADD, (uint64_t*)all[0], 1, 0, (uint64_t*)&tickets[2], 0) == RMA_SUCCESS,
           "rma_atomic64");
    tickets[3] = shmem_long_atomic_fetch_add(words, 1, 0);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 5, 1, MPI_LONG, MPI_SUM, window);
    shmem_long_atomic_inc(&words[5], 0);
  }
  /* A barrier completes neither of the last two. */
  MPI_Win_flush(0, window);
  shmem_quiet();
  MPI_Barrier(MPI_COMM_WORLD);
  char text[100];
  snprintf(text, sizeof text, "the counts are %ld and %ld", words[0], words[5]);
  if (me == 0) expect(words[0] == (long)kBy * ranks * kRounds && words[5] == 2L * ranks * kRounds, text);
  MPI_Allgather(tickets, kBy, MPI_LONG, drawn, kBy, MPI_LONG, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * kBy; ++i) {
    for (int j = 0; j < i; ++j) expect(drawn[i] != drawn[j], "one ticket twice");
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  shmem_long_p(&words[1], 5, next);
  shmem_barrier_all();
  expect(words[1] == 5, "SHMEM after MPI_Win_free");
}

int main(int argc, char** argv) {
  const int threaded = argc > 1 && strcmp(argv[1], "thread") == 0;
  pthread_t thread;
  pthread_mutex_lock(&gate);
  if (threaded && pthread_create(&thread, NULL, wait_at_gate, NULL) != 0) return 1;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  shmem_init();
  ARMCI_Init();
  me = shmem_my_pe();
  ranks = shmem_n_pes();
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  if (ranks > kMost) shmem_global_exit(1);
  void* in_heap = NULL;
  expect(rma_find_alias(words, sizeof words, &in_heap) != RMA_SUCCESS, "static data have an alias");
  expect(strstr(rma_last_error(), threaded ? "thread" : "RMA_ALIAS") != NULL, rma_last_error());

  transfer();
  count_together();
  synchronize();
  mix();

  pthread_mutex_unlock(&gate);
  if (threaded) {
    pthread_join(thread, NULL);
    expect(stored_by_thread == 7, "what the thread has stored");
  }
  int sum = 0;
  MPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0 && sum == 0) puts("right");
  ARMCI_Finalize();
  shmem_finalize();
  MPI_Finalize();
  return sum == 0 ? 0 : 1;
}
