#pragma once

// What the programs of bench/instructions.sh share. They count calls between two processes under Callgrind,
// which writes a part of its output for each row, named after the row and its number of calls.

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

// Fewer than the 64 cells in which MPICH keeps messages between processes of a host.
enum { kCalls = 32 };

static int rank;
static _Atomic int* meetings;  // by rank
static long data[2 * kCalls];

// Maps the file that the command line names, in which the processes meet. Returns 0 if that fails.
static int map_meetings(const char* program, int argc, char** argv) {
  const int file = argc == 2 ? open(argv[1], O_RDWR) : -1;
  if (file < 0) {
    fprintf(stderr, "usage: %s FILE, on 2 ranks\n", program);
    return 0;
  }
  meetings = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (meetings != MAP_FAILED) return 1;
  perror(program);
  return 0;
}

// Waits until the other rank is here too. That is no communication of the library that is counted.
static void meet(void) {
  const int mine = atomic_fetch_add(&meetings[rank], 1) + 1;
  while (atomic_load(&meetings[1 - rank]) < mine) usleep(200);
}

static void begin(void) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
}

// Ends a row of so many calls.
static void end_row(const char* name, int calls) {
  CALLGRIND_TOGGLE_COLLECT;
  char text[64];
  snprintf(text, sizeof text, "%s=%d", name, calls);
  CALLGRIND_DUMP_STATS_AT(text);
}
