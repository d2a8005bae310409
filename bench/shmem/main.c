/* Measures calls of OpenSHMEM between PE 0 and PE 1, on the symmetric heap and on static data. It uses
 * OpenSHMEM 1.4 only, so that it measures other implementations too: bench/compare.sh --suite shmem.
 *
 * usage: rmarun -n 2 shmem-bench [--json FILE] [--quick] [--no-cswap] [--suite shmem]
 *   --json FILE    write the rows as JSON too
 *   --quick        a tenth of the calls: shows that it works, measures little
 *   --no-cswap     leave compare-and-swap out, which Debian's OpenSHMEM aborts in
 *   --suite shmem  the only suite; for bench/compare.sh
 * Each line has the call, where its memory is, and the time of one call in nanoseconds: the median of several
 * samples. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/placement.h"

#ifndef RMA_BENCH_SHMEM
#define RMA_BENCH_SHMEM "rma" /* the library that this program measures */
#endif

enum { kSamples = 15, kBytes = 65536 };

struct options {
  const char* json;
  int quick;
  int no_cswap;
};
static struct options options;
static FILE* json;
static struct placement placement;

/* Each in a cache line of its own, as in the heap. */
static struct {
  _Alignas(64) long word;
  _Alignas(64) long flag;
  _Alignas(64) long lock;
  _Alignas(64) char block[kBytes];
} data;
static long sync_words[SHMEM_REDUCE_SYNC_SIZE];
static long work_words[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long source_word, sum_word;

struct memory {
  const char* name;
  long* word;
  long* flag;
  long* lock;
  char* block;
};

static char local_block[kBytes];
static volatile long sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef void measured(const struct memory* memory, long i);

static void p(const struct memory* memory, long i) { shmem_long_p(memory->word, i, 1); }
static void g(const struct memory* memory, long i) { sink = shmem_long_g(memory->word, 1) + i; }
static void put64(const struct memory* memory, long i) {
  (void)i, shmem_putmem(memory->block, local_block, 64, 1);
}
static void get64(const struct memory* memory, long i) {
  (void)i, shmem_getmem(local_block, memory->block, 64, 1);
}
static void put64k(const struct memory* memory, long i) {
  (void)i, shmem_putmem(memory->block, local_block, kBytes, 1);
}
static void fetch_add(const struct memory* memory, long i) {
  sink = shmem_long_atomic_fetch_add(memory->word, i, 1);
}
static void cswap(const struct memory* memory, long i) {
  sink = shmem_long_atomic_compare_swap(memory->word, 0, i, 1);
}
static void barrier(const struct memory* memory, long i) { (void)memory, (void)i, shmem_barrier_all(); }
static void lock(const struct memory* memory, long i) {
  (void)i;
  shmem_set_lock(memory->lock);
  shmem_clear_lock(memory->lock);
}
static void allocate(const struct memory* memory, long i) {
  (void)memory, (void)i, shmem_free(shmem_malloc(256));
}
static void sum(const struct memory* memory, long i) {
  (void)memory, (void)i;
  shmem_long_sum_to_all(&sum_word, &source_word, 1, 0, 0, shmem_n_pes(), work_words, sync_words);
}
/* There and back: the caller divides by two. */
static void ping_pong(const struct memory* memory, long i) {
  if (shmem_my_pe() != 0) shmem_long_wait_until(memory->flag, SHMEM_CMP_EQ, i);
  shmem_long_p(memory->flag, i, 1 - shmem_my_pe());
  if (shmem_my_pe() == 0) shmem_long_wait_until(memory->flag, SHMEM_CMP_EQ, i);
}

/* `both`: PE 1 makes the calls too, else it waits in a barrier. */
static void measure(const char* name, const struct memory* memory, measured* call, long calls, int both,
                    double parts) {
  double samples[kSamples];
  long i = 0;
  if (options.quick) calls = calls / 10 + 1;
  *memory->flag = 0;
  shmem_barrier_all();
  double crossing = placement_crossing(&placement);
  for (int sample = 0; sample < kSamples; ++sample) {
    const double start = now();
    if (both || shmem_my_pe() == 0) {
      for (long k = 0; k < calls; ++k) call(memory, ++i);
    }
    shmem_quiet();
    samples[sample] = (now() - start) / (double)calls / parts;
    shmem_barrier_all();
  }
  const double after = placement_crossing(&placement);
  if (after > crossing) crossing = after;
  qsort(samples, kSamples, sizeof *samples, ascending);
  if (shmem_my_pe() != 0) return;
  printf("%-12s %-7s %10.1f\n", name, memory->name, samples[kSamples / 2]);
  fflush(stdout);
  if (json == NULL) return;
  static const char* before = "";
  fprintf(json,
          "%s{\"suite\": \"shmem\", \"row\": \"shmem %s %s\", \"unit\": \"ns\", \"median\": %.2f, "
          "\"crossing\": %.2f}",
          before, name, memory->name, samples[kSamples / 2], crossing);
  before = ",\n";
}

/* Returns 0 if the arguments are wrong. */
static int read_options(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const int valued = i + 1 < argc;
    if (strcmp(argv[i], "--no-cswap") == 0) {
      options.no_cswap = 1;
    } else if (strcmp(argv[i], "--quick") == 0) {
      options.quick = 1;
    } else if (strcmp(argv[i], "--json") == 0 && valued) {
      options.json = argv[++i];
    } else if (strcmp(argv[i], "--suite") == 0 && valued && strcmp(argv[i + 1], "shmem") == 0) {
      ++i;
    } else {
      return 0;
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  static const char* const usage =
      "usage: rmarun -n 2 shmem-bench [--json FILE] [--quick] [--no-cswap] [--suite shmem]\n"
      "Measures calls of OpenSHMEM between two ranks, on the heap and on static data, in nanoseconds.\n";
  shmem_init();
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    if (shmem_my_pe() == 0) fputs(usage, stdout);
    shmem_finalize();
    return 0;
  }
  if (!read_options(argc, argv) || shmem_n_pes() != 2) {
    if (shmem_my_pe() == 0) fputs(usage, stderr);
    return 2;
  }
  if (options.json != NULL && shmem_my_pe() == 0) {
    json = fopen(options.json, "w");
    if (json == NULL) {
      perror(options.json);
      return 1;
    }
    fputs("{\"backend\": \"" RMA_BENCH_SHMEM "\", \"ranks\": 2, \"rows\": [\n", json);
  }
  placement = placement_open(shmem_my_pe());
  char* const heap = shmem_malloc(kBytes + 3 * 64);
  const struct memory memories[2] = {
      {"heap", (long*)heap, (long*)(heap + 64), (long*)(heap + 128), heap + 192},
      {"static", &data.word, &data.flag, &data.lock, data.block},
  };
  for (int k = 0; k < SHMEM_REDUCE_SYNC_SIZE; ++k) sync_words[k] = SHMEM_SYNC_VALUE;
  for (int kind = 0; kind < 2; ++kind) {
    const struct memory* const memory = &memories[kind];
    *memory->word = *memory->lock = 0;
    measure("p", memory, p, 20000, 0, 1);
    measure("g", memory, g, 20000, 0, 1);
    measure("put64", memory, put64, 20000, 0, 1);
    measure("get64", memory, get64, 20000, 0, 1);
    measure("put64k", memory, put64k, 300, 0, 1);
    measure("fetch_add", memory, fetch_add, 20000, 0, 1);
    if (!options.no_cswap) measure("cswap", memory, cswap, 20000, 0, 1);
    measure("p+wait", memory, ping_pong, 1000, 1, 2);
    measure("lock", memory, lock, 2000, 0, 1);
  }
  measure("barrier_all", &memories[0], barrier, 1000, 1, 1);
  measure("sum_to_all", &memories[0], sum, 500, 1, 1);
  measure("malloc+free", &memories[0], allocate, 500, 1, 1);
  if (json != NULL) {
    fputs("\n]}\n", json);
    fclose(json);
  }
  /* shmem_finalize of Open MPI 4.1 may crash after everything is done. */
  shmem_barrier_all();
  fflush(NULL);
  shmem_global_exit(0);
  return 0;
}
