/**
 * @file placement.h
 * How far the processors of ranks 0 and 1 are from each other while a row is measured. A virtual machine's
 * processors move: a cache line takes 40 ns between them now and 160 ns a second later, and every row with
 * them. compare_table.py holds rows against each other that were measured at the same distance.
 *
 * The two ranks bounce a flag in a file that both map, because the measured libraries have no memory in
 * common. The file is named by the environment variable BENCH_PLACEMENT and has at least 8 bytes of zeros.
 * Without it nothing is measured. In C, because programs in C measure as well.
 */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

struct placement {
  uint64_t* flag; /* null if nothing is measured */
  uint64_t value; /* what the flag holds when both ranks come */
  int rank;
};

/** Each rank calls it once. */
static inline struct placement placement_open(int rank) {
  struct placement placement = {NULL, 0, rank};
  const char* const name = getenv("BENCH_PLACEMENT");
  if (name == NULL || rank > 1) return placement;
  const int file = open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return placement;
  void* const memory = mmap(NULL, sizeof *placement.flag, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) placement.flag = (uint64_t*)memory;
  return placement;
}

/** Ranks 0 and 1 call it at the same time; other ranks may call it too. Returns the time in nanoseconds in
 * which a cache line crosses from one processor to the other, and 0 if it is not measured. */
static inline double placement_crossing(struct placement* placement) {
  enum { kRounds = 100 };
  struct timespec start, end;
  if (placement->flag == NULL) return 0;
  for (int round = -1; round < kRounds; ++round) {
    if (round == 0)
      clock_gettime(CLOCK_MONOTONIC, &start); /* the first round only brings the ranks together */
    /* Release and acquire: the flag is all that they exchange. */
    if (placement->rank == 0) __atomic_store_n(placement->flag, placement->value + 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(placement->flag, __ATOMIC_ACQUIRE) !=
           placement->value + 1 + (placement->rank == 0)) {
    }
    if (placement->rank == 1) __atomic_store_n(placement->flag, placement->value + 2, __ATOMIC_RELEASE);
    placement->value += 2;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (2 * kRounds);
}

#ifdef __cplusplus
}
#endif
