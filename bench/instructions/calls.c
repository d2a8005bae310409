// Counts the instructions of MPI calls with 8 bytes between two processes, under Callgrind.
// bench/instructions.sh runs it and reads what Callgrind writes: one part of its output for each row, named
// after the row and its number of calls.
//
// Callgrind counts only between begin() and end_row(), and only in rank 0. Before that the processes meet()
// (rows.h). So a message lies where its sender has put it when the call that is counted begins, and no loop
// that waits is counted.
//
// usage: calls FILE     FILE has at least 4096 zero bytes; both ranks map it

#include <mpi.h>
#include <stdio.h>

#include "rows.h"

#ifdef WITH_RMA
#include <rma/rma.h>
#endif

enum { kTag = 7, kOtherTag = 8 };

static MPI_Request requests[2 * kCalls];

static void send_all(void) {
  for (int i = 0; i < kCalls; ++i) MPI_Send(&data[i], 8, MPI_BYTE, 1 - rank, kTag, MPI_COMM_WORLD);
}

static void receive_all(void) {
  for (int i = 0; i < kCalls; ++i)
    MPI_Recv(&data[i], 8, MPI_BYTE, 1 - rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void post_all(void) {
  for (int i = 0; i < kCalls; ++i)
    MPI_Irecv(&data[i], 8, MPI_BYTE, 1 - rank, kTag, MPI_COMM_WORLD, &requests[i]);
}

// Takes in what has come. Nothing has this tag.
static void progress(void) {
  int found = 0;
  for (int i = 0; i < kCalls; ++i) MPI_Iprobe(1 - rank, kOtherTag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

static void wait_each(void) {
  for (int i = 0; i < kCalls; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

// ---- The rows: what rank 0 does, while rank 1 does the other function ----

static void sends(void) {
  begin();
  send_all();
  end_row("send", kCalls);
  meet();
  begin();
  for (int i = 0; i < kCalls; ++i) MPI_Isend(&data[i], 8, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[i]);
  end_row("isend", kCalls);
  begin();
  MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
  end_row("waitall-sends", kCalls);
  meet();
  for (int i = 0; i < kCalls; ++i)
    MPI_Send_init(&data[i], 8, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[i]);
  begin();
  for (int i = 0; i < kCalls; ++i) MPI_Start(&requests[i]);
  end_row("start-send", kCalls);
  wait_each();
  for (int i = 0; i < kCalls; ++i) MPI_Request_free(&requests[i]);
  meet();
}

static void other_of_sends(void) {
  for (int i = 0; i < 3; ++i) {
    receive_all();
    meet();
  }
}

static void receives(void) {
  meet();  // the messages are there
  begin();
  receive_all();
  end_row("recv", kCalls);
  meet();
  begin();
  progress();
  end_row("iprobe-nothing", kCalls);

  begin();
  post_all();
  end_row("irecv-posted", kCalls);
  int done = 0;
  begin();
  for (int i = 0; i < kCalls; ++i) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
  end_row("test-nothing", kCalls);
  meet();
  meet();
  begin();
  MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
  end_row("waitall-posted", kCalls);

  post_all();
  meet();
  meet();
  begin();
  progress();
  end_row("arrival+iprobe", kCalls);
  begin();
  wait_each();
  end_row("wait-complete", kCalls);

  post_all();
  meet();
  meet();
  progress();
  begin();
  for (int i = 0; i < kCalls; ++i) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
  end_row("test-complete", kCalls);

  meet();
  meet();
  begin();
  post_all();
  end_row("irecv-sent", kCalls);
  begin();
  MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
  end_row("waitall-sent", kCalls);

  meet();
  meet();
  progress();
  int found = 0;
  begin();
  for (int i = 0; i < kCalls; ++i) MPI_Iprobe(1, kTag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  end_row("iprobe-found", kCalls);
  begin();
  post_all();
  end_row("irecv-unexpected", kCalls);
  begin();
  MPI_Waitall(kCalls, requests, MPI_STATUSES_IGNORE);
  end_row("waitall-unexpected", kCalls);

  for (int i = 0; i < kCalls; ++i)
    MPI_Recv_init(&data[i], 8, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &requests[i]);
  begin();
  for (int i = 0; i < kCalls; ++i) MPI_Start(&requests[i]);
  end_row("start-recv", kCalls);
  meet();
  meet();
  wait_each();
  for (int i = 0; i < kCalls; ++i) MPI_Request_free(&requests[i]);
}

static void other_of_receives(void) {
  send_all();
  meet();
  meet();
  for (int i = 0; i < 6; ++i) {
    meet();  // receives are posted, or nothing
    send_all();
    meet();
  }
}

static void exchanges(void) {
  meet();
  begin();
  for (int i = 0; i < kCalls; ++i)
    MPI_Sendrecv(&data[i], 8, MPI_BYTE, 1, kTag, &data[kCalls + i], 8, MPI_BYTE, 1, kTag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  end_row("sendrecv", kCalls);
  meet();
}

static void other_of_exchanges(void) {
  send_all();
  meet();
  receive_all();
  meet();
}

#ifndef WITHOUT_WINDOWS
static void put_one(int i, MPI_Win window) { MPI_Put(&data[i], 8, MPI_BYTE, 1, 8L * i, 8, MPI_BYTE, window); }
static void get_one(int i, MPI_Win window) { MPI_Get(&data[i], 8, MPI_BYTE, 1, 8L * i, 8, MPI_BYTE, window); }
static void accumulate_one(int i, MPI_Win window) {
  MPI_Accumulate(&data[i], 1, MPI_LONG, 1, 8L * i, 1, MPI_LONG, MPI_SUM, window);
}
static void fetch_and_add_one(int i, MPI_Win window) {
  MPI_Fetch_and_op(&data[i], &data[kCalls + i], MPI_LONG, 1, 8L * i, MPI_SUM, window);
}

// Counts the calls, each followed by its flush if `flushes`.
static inline __attribute__((always_inline)) void one_sided(const char* name, void (*call)(int, MPI_Win),
                                                            int flushes, MPI_Win window) {
  begin();
  for (int i = 0; i < kCalls; ++i) {
    call(i, window);
    if (flushes) MPI_Win_flush(1, window);
  }
  end_row(name, kCalls);
  MPI_Win_flush(1, window);
}

// Rank 0 uses the window of rank 1, in an epoch that all targets share.
static void window_calls(void) {
  void* mine = NULL;
  void* parts[2] = {NULL, NULL};
  MPI_Win window;
  MPI_Win_allocate(8 * kCalls, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, parts, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  meet();
  if (rank == 0) {
    one_sided("put", put_one, 0, window);
    one_sided("get", get_one, 0, window);
    one_sided("put-flush", put_one, 1, window);
    one_sided("get-flush", get_one, 1, window);
    one_sided("accumulate-flush", accumulate_one, 1, window);
    one_sided("fetch-and-op-flush", fetch_and_add_one, 1, window);
#ifdef WITH_RMA
    begin();
    for (int i = 0; i < kCalls; ++i) rma_put((long*)parts[1] + i, &data[i], 8, 1);
    end_row("rma_put", kCalls);
#endif
  }
  meet();
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}
#endif

// The other rank has gone in first, as long before as a collective of two takes, and waits.
static void collective(int reduces) {
  for (int i = 0; i < kCalls; ++i) {
    meet();
    if (rank == 0) {
      usleep(20000);
      CALLGRIND_TOGGLE_COLLECT;
    }
    if (reduces) {
      MPI_Allreduce(&data[0], &data[1], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) CALLGRIND_TOGGLE_COLLECT;
  }
}

static void collectives(int reduces) {
  if (rank == 0) CALLGRIND_ZERO_STATS;
  collective(reduces);
  if (rank != 0) return;
  CALLGRIND_TOGGLE_COLLECT;
  end_row(reduces ? "allreduce" : "barrier", kCalls);
}

static void all(void (*counted)(void), void (*other)(void)) {
  MPI_Barrier(MPI_COMM_WORLD);
  meet();
  (rank == 0 ? counted : other)();
  meet();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!map_meetings("calls", argc, argv)) return 2;
  // Twice, because the first call of each kind opens paths and fills lists. The second round counts.
  for (int round = 0; round < 2; ++round) {
    all(sends, other_of_sends);
    all(receives, other_of_receives);
    all(exchanges, other_of_exchanges);
    for (int reduces = 0; reduces < 2; ++reduces) collectives(reduces);
#ifndef WITHOUT_WINDOWS
    window_calls();
#endif
  }
  MPI_Finalize();
  return 0;
}
