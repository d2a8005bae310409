/* Tests ARMCI beside an MPI: either may begin first; sub-communicators, groups' communicators, and both at
 * once.
 *
 * usage: mpi_test before|after|alone|sub|messages|half|threads */
#undef NDEBUG
#include <armci.h>
#include <assert.h>
#include <message.h>
#include <mpi.h>
#include <rma/rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts around a ring by ARMCI's process numbers, with messages of `comm` between. Both number the processes
 * alike. */
static void ring(MPI_Comm comm) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  assert(rma_rank() == me && rma_size() == size);
  void** rows = calloc((size_t)size, sizeof *rows);
  assert(rows != NULL && ARMCI_Malloc(rows, 1000 * sizeof(int)) == 0);
  const int next = (me + 1) % size;
  const int last = (me + size - 1) % size;
  for (int round = 0; round < 20; ++round) {
    int row[1000];
    for (int i = 0; i < 1000; ++i) row[i] = 1000 * me + i + round;
    assert(ARMCI_Put(row, rows[next], sizeof row, next) == 0);
    ARMCI_Fence(next);
    int theirs = -1; /* a message says that the row is there */
    MPI_Sendrecv(&me, 1, MPI_INT, next, round, &theirs, 1, MPI_INT, last, round, comm, MPI_STATUS_IGNORE);
    assert(theirs == last);
    for (int i = 0; i < 1000; ++i) assert(((int*)rows[me])[i] == 1000 * last + i + round);
    MPI_Barrier(comm);
  }
  long old = -1;
  memset(rows[me], 0, sizeof old);
  MPI_Barrier(comm);
  assert(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, rows[0], 1, 0) == 0);
  long sum = 0;
  MPI_Allreduce(&old, &sum, 1, MPI_LONG, MPI_SUM, comm);
  assert(sum == (long)size * (size - 1) / 2);
  assert(ARMCI_Free(rows[me]) == 0);
  free(rows);
}

/* Tests the communicators of all processes and of each half. */
static void groups(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  const int me = rma_rank();
  const int size = rma_size();
  MPI_Comm comm = armci_group_comm(&world);
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  assert(rank == me);
  int* members = calloc((size_t)size, sizeof *members);
  int count = 0;
  for (int i = me % 2; i < size; i += 2) members[count++] = i;
  ARMCI_Group half;
  ARMCI_Group_create(count, members, &half);
  comm = armci_group_comm(&half);
  int total = 0;
  MPI_Allreduce(&me, &total, 1, MPI_INT, MPI_SUM, comm);
  int expected = 0;
  for (int i = 0; i < count; ++i) expected += members[i];
  assert(total == expected);
  MPI_Comm_rank(comm, &rank);
  assert(rank == me / 2);
  ARMCI_Group_free(&half);
  free(members);
}

/* Sends messages between armci_msg_init and ARMCI_Init, and after ARMCI_Finalize. With `half`, messages and
 * ARMCI use half of the communicator. */
static void messages(int* argc, char*** argv, int half) {
  armci_msg_init(argc, argv);
  int me, size;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  assert(armci_msg_me() == me && armci_msg_nproc() == size);
  if (half) {
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &comm);
    armci_msg_init_comm(comm);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    assert(armci_msg_me() == me && armci_msg_nproc() == size);
  }
  for (int round = 0; round < 2; ++round) {
    assert(ARMCI_Initialized() == 0);
    armci_msg_barrier();
    int token = me;
    if (me == 0) armci_msg_snd(1, &token, sizeof token, size - 1);
    if (me == size - 1) armci_msg_rcv(1, &token, sizeof token, NULL, 0);
    assert(token == (me == size - 1 ? 0 : me));
    int sum = 1;
    char plus[] = "+";
    armci_msg_igop(&sum, 1, plus);
    assert(sum == size && ARMCI_Initialized() == 0);
    /* The message is sent before ARMCI_Init_mpi_comm and received after it. */
    if (me == 0) armci_msg_snd(2, &sum, sizeof sum, size - 1);
    assert(ARMCI_Init_mpi_comm(comm) != 0 && ARMCI_Initialized() == 1);
    if (me == size - 1) armci_msg_rcv(2, &sum, sizeof sum, NULL, 0);
    ring(comm);
    groups();
    ARMCI_Finalize();
    assert(armci_msg_me() == me && armci_msg_nproc() == size);
  }
  armci_msg_barrier();
  if (half) MPI_Comm_free(&comm);
  armci_msg_finalize();
  puts("right");
}

/* Tests ARMCI_Init_thread and ARMCI_Init_thread_comm. */
static void threads(void) {
  assert(ARMCI_Init_thread(MPI_THREAD_MULTIPLE) == 0 && ARMCI_Initialized() == 1);
  ring(MPI_COMM_WORLD);
  ARMCI_Finalize();
  MPI_Comm half;
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  assert(ARMCI_Init_thread_comm(MPI_THREAD_SINGLE, MPI_COMM_NULL) != 0);
  assert(ARMCI_Init_thread_comm(MPI_THREAD_SINGLE, half) == 0);
  ring(half);
  ARMCI_Finalize();
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  assert(argc == 2);
  int runs = 0;
  if (strcmp(argv[1], "messages") == 0 || strcmp(argv[1], "half") == 0) {
    messages(&argc, &argv, argv[1][0] == 'h');
    return EXIT_SUCCESS;
  }
  if (strcmp(argv[1], "before") == 0 || strcmp(argv[1], "alone") == 0) {
    assert(ARMCI_Init_args(&argc, &argv) == 0);
    MPI_Initialized(&runs);
    assert(runs);
    ring(MPI_COMM_WORLD);
    groups();
    ARMCI_Finalize();
    if (strcmp(argv[1], "alone") == 0) {
      puts("right");
      return EXIT_SUCCESS; /* a program that does not use MPI does not finalize it */
    }
  } else {
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (strcmp(argv[1], "sub") == 0) {
      MPI_Comm half;
      MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half); /* in the opposite order */
      assert(ARMCI_Init_mpi_comm(MPI_COMM_NULL) == 0);
      assert(ARMCI_Init_mpi_comm(half) != 0);
      ring(half);
      groups();
      ARMCI_Finalize();
      MPI_Comm_free(&half);
    }
    if (strcmp(argv[1], "threads") == 0) threads();
    for (int round = 0; round < 2; ++round) {
      assert(ARMCI_Init() == 0);
      ring(MPI_COMM_WORLD);
      groups();
      ARMCI_Finalize();
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  puts("right");
  return EXIT_SUCCESS;
}
