/* One program on four interfaces: SHMEM, MPI, ARMCI and rma.h are initialized and ended in the orders that
 * the arguments give, and move data through the same memory.
 *
 * usage: mixed-orders INIT END    each a permutation of the letters a (ARMCI), m (MPI), r (rma.h) and s
 * (SHMEM) */

#include <armci.h>
#include <message.h>
#include <mpi.h>
#include <shmem.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/rma.h"

enum { kSlots = 8, kMost = 64, kBy = 4 };

/* Each slot is written by one interface. The last word counts. */
typedef struct {
  long slots[kSlots];
  long count;
} Block;

static Block block; /* symmetric static data */
static int mpi_runs, mpi_ended;
static int me, ranks, next, previous, wrong;

static void expect(int good, const char* what) {
  if (good) return;
  ++wrong;
  fprintf(stderr, "rank %d: %s\n", me, what);
}

static void require(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: %s: %s\n", me, what, rma_last_error());
  exit(1);
}

static void begin(char interface) {
  switch (interface) {
    case 'a':
      require(ARMCI_Init() == 0, "ARMCI_Init");
      break;
    case 'm':
      /* An ARMCI beside MPI initializes MPI if it comes first. */
      MPI_Initialized(&mpi_runs);
      if (!mpi_runs) require(MPI_Init(NULL, NULL) == MPI_SUCCESS, "MPI_Init");
      break;
    case 'r':
      require(rma_init() == RMA_SUCCESS, "rma_init");
      break;
    default:
      shmem_init();
      break;
  }
}

static void end(char interface) {
  switch (interface) {
    case 'a':
      ARMCI_Finalize();
      break;
    case 'm':
      require(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
      break;
    case 'r':
      require(rma_finalize() == RMA_SUCCESS, "rma_finalize");
      break;
    default:
      shmem_finalize();
      break;
  }
}

/* A barrier by one interface. */
static void meet(char interface) {
  switch (interface) {
    case 'a':
      ARMCI_Barrier();
      break;
    case 'm':
      MPI_Finalized(&mpi_ended);
      if (!mpi_ended) MPI_Barrier(MPI_COMM_WORLD);
      break;
    case 'r':
      require(rma_barrier(rma_team_world()) == RMA_SUCCESS, "rma_barrier");
      break;
    default:
      shmem_barrier_all();
      break;
  }
}

/* Writes a slot of the next rank's block by each interface, and adds to the count of rank 0's. `all` has the
 * blocks' addresses; `symmetric` says whether SHMEM knows them. */
static void use(Block* mine, Block* all[], int symmetric, const char* name) {
  static long sent[kBy];
  long tickets[kBy] = {-1, -1, -1, -1};
  const int interfaces = symmetric ? kBy : kBy - 1;
  MPI_Win window;
  memset(mine, 0, sizeof *mine);
  MPI_Win_create(mine, sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int i = 0; i < kBy; ++i) sent[i] = 100 * (i + 1) + me;
  MPI_Win_lock_all(0, window);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Put(&sent[0], 1, MPI_LONG, next, offsetof(Block, slots[0]), 1, MPI_LONG, window);
  MPI_Win_flush(next, window);
  expect(ARMCI_Put(&sent[1], &all[next]->slots[1], sizeof(long), next) == 0, "ARMCI_Put");
  ARMCI_Fence(next);
  expect(rma_put(&all[next]->slots[2], &sent[2], sizeof(long), next) == RMA_SUCCESS, "rma_put");
  rma_fence(next);
  if (symmetric) {
    shmem_long_put(&mine->slots[3], &sent[3], 1, next);
    shmem_quiet();
  }

  const long one = 1;
  MPI_Fetch_and_op(&one, &tickets[0], MPI_LONG, 0, offsetof(Block, count), MPI_SUM, window);
  MPI_Win_flush(0, window);
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &tickets[1], &all[0]->count, 1, 0);
  expect(
      rma_atomic64(RMA_FETCH_ADD, (uint64_t*)&all[0]->count, 1, 0, (uint64_t*)&tickets[2], 0) == RMA_SUCCESS,
      "rma_atomic64");
  if (symmetric) tickets[3] = shmem_long_atomic_fetch_add(&mine->count, 1, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);

  char text[80];
  for (int i = 0; i < interfaces; ++i) {
    snprintf(text, sizeof text, "%s: slot %d is %ld", name, i, mine->slots[i]);
    expect(mine->slots[i] == 100 * (i + 1) + previous, text);
  }
  if (me == 0) {
    snprintf(text, sizeof text, "%s: the count is %ld", name, mine->count);
    expect(mine->count == (long)interfaces * ranks, text);
  }
  /* Each ticket was given out once. */
  long* const drawn = calloc((size_t)ranks * kBy, sizeof *drawn);
  MPI_Allgather(tickets, kBy, MPI_LONG, drawn, kBy, MPI_LONG, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * kBy; ++i) {
    if (i % kBy >= interfaces) continue;
    expect(drawn[i] >= 0 && drawn[i] < (long)interfaces * ranks, "a ticket that nobody gave out");
    for (int j = 0; j < i; ++j) expect(j % kBy >= interfaces || drawn[i] != drawn[j], "one ticket twice");
  }
  free(drawn);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

/* Tells all ranks where each has its block. */
static void share(Block* mine, Block* all[]) {
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  if (argc != 3 || strlen(argv[1]) != 4 || strlen(argv[2]) != 4) {
    fprintf(stderr, "usage: %s INIT END\n", argv[0]);
    return 2;
  }
  for (const char* each = argv[1]; *each != '\0'; ++each) begin(*each);
  int rank, size, armci_me;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  me = shmem_my_pe();
  ranks = shmem_n_pes();
  next = (me + 1) % ranks;
  previous = (me + ranks - 1) % ranks;
  armci_me = armci_msg_me();
  expect(rank == me && rma_rank() == me && armci_me == me, "the ranks differ");
  expect(size == ranks && rma_size() == ranks && armci_msg_nproc() == ranks, "the sizes differ");
  require(ranks <= kMost, "too many ranks");

  Block* all[kMost];
  Block* mine = shmem_calloc(1, sizeof *mine);
  require(mine != NULL, "shmem_calloc");
  share(mine, all);
  use(mine, all, 1, "memory of shmem_calloc");
  shmem_free(mine);

  void* addresses[kMost];
  require(ARMCI_Malloc(addresses, sizeof *mine) == 0, "ARMCI_Malloc");
  for (int i = 0; i < ranks; ++i) all[i] = addresses[i];
  use(all[me], all, 0, "memory of ARMCI_Malloc");
  ARMCI_Free(all[me]);

  require(rma_malloc(rma_team_world(), sizeof *mine, 0, addresses, NULL) == RMA_SUCCESS, "rma_malloc");
  for (int i = 0; i < ranks; ++i) all[i] = addresses[i];
  use(all[me], all, 0, "memory of rma_malloc");
  rma_free(rma_team_world(), all[me]);

  MPI_Win window;
  MPI_Win_allocate(sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  share(mine, all);
  use(mine, all, 0, "memory of MPI_Win_allocate");
  MPI_Win_free(&window);

  /* Static data are a part of the heap, whichever interface came first. */
  void* in_heap = NULL;
  require(rma_find_alias(&block, sizeof block, &in_heap) == RMA_SUCCESS, "rma_find_alias");
  expect(!rma_same_host(next) || shmem_ptr(&block, next) != NULL, "static data are not mapped");
  share(in_heap, all);
  use(&block, all, 1, "static data");

  for (const char* each = argv[2]; *each != '\0'; ++each) {
    meet(*each);
    end(*each);
    for (const char* left = each + 1; *left != '\0'; ++left) meet(*left);
  }
  expect(!rma_initialized(), "the job goes on after all have ended");
  if (wrong == 0 && me == 0) puts("right");
  return wrong == 0 ? 0 : 1;
}
