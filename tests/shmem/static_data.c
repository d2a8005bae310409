/* Static data of every kind, on PEs whose executable a linker has laid out in one way or another
 * (CMakeLists.txt): what was there before shmem_init, what other PEs put there, a forked child's copy, and a
 * gigabyte that nobody touches.
 *
 * usage: shmem-static-data-X shared|registered|mixed
 * `shared`: static data lie in shared memory. `registered`: they do not (RMA_ALIAS=0), with the same results.
 * `mixed`: they do on all PEs but PE 1, which has a thread before shmem_init. */
#define _GNU_SOURCE
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096, kTable = 12 * kPage };

static long first = 11;
/* Not touched before shmem_init, so that most of its pages are the executable's. (The kernel maps some next
 * to a page that is touched.) */
static long table[kTable] = {1, 2, [kTable / 2] = 4, [kTable - 1] = 3};
static const char* const texts[] = {"read", "only"}; /* relocated: RELRO */
static const char* volatile chosen = "chosen";
static char touched[8 * kPage];
static char large[1UL << 30]; /* nobody touches more than a few pages */
static long last;

static int failures;

static void check(int holds, const char* text) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "PE %d: %s\n", shmem_my_pe(), text);
}

/* The bytes of memory behind the shared file. */
static long long bytes_of_file(void) {
  for (int fd = 0; fd < 1024; ++fd) {
    char path[64], name[256];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(path, name, sizeof name - 1);
    if (length <= 0) continue;
    name[length] = 0;
    struct stat about;
    if (strstr(name, "rma-alias") != NULL && fstat(fd, &about) == 0) return (long long)about.st_blocks * 512;
  }
  return -1;
}

static void check_contents(void) {
  check(first == 11 && table[0] == 1 && table[1] == 2 && table[kTable / 2] == 4 && table[kTable - 1] == 3,
        "initialized data");
  check(strcmp(texts[1], "only") == 0 && strcmp(chosen, "chosen") == 0, "pointers");
  check(touched[0] == 5 && touched[3 * kPage] == 6 && touched[5 * kPage] == 0,
        "data stored before shmem_init");
}

static void transfer(int me, int next, int previous) {
  const long word = 100 + me;
  shmem_long_p(&first, word, next);
  shmem_long_put(&table[kTable - 2], &word, 1, next);
  shmem_long_p(&last, word, next);
  shmem_char_p(&large[700UL << 20], (char)(1 + me), next);
  shmem_barrier_all();
  check(first == 100 + previous && last == 100 + previous, "p");
  check(table[kTable - 2] == 100 + previous && table[kTable - 1] == 3, "put");
  check(shmem_long_g(&last, next) == 100 + me, "g");
  shmem_barrier_all();
  check(shmem_long_atomic_fetch_add(&first, 1, next) == 100 + me, "fetch_add");
  shmem_barrier_all();
  check(first == 101 + previous, "what fetch_add leaves");
  shmem_barrier_all();
}

/* The child of a fork has what the parent had, and changes nothing of the parent's. PE 0 has not touched the
 * page of `large` that another PE has written to. */
static void fork_child(int me, int previous) {
  int down[2], up[2];
  if (pipe(down) != 0 || pipe(up) != 0) abort();
  last = 1;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(down[0], &byte, 1) != 1) _exit(1); /* the parent has stored 2 */
    if (last != 1) _exit(2);
    if (large[700UL << 20] != 1 + previous || large[0] != 0) _exit(3);
    if (table[kTable - 1] != 3 || touched[3 * kPage] != 6) _exit(4);
    last = 99;
    touched[0] = 99;
    large[0] = 99;
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(last == 99 && large[0] == 99 ? 0 : 1);
    int status = -1;
    if (waitpid(grandchild, &status, 0) != grandchild || status != 0) _exit(5);
    if (write(up[1], "", 1) != 1) _exit(6);
    _exit(0);
  }
  close(up[1]); /* so that the child's end is noticed */
  last = 2;
  if (write(down[1], "", 1) != 1) abort();
  char byte = 0;
  if (read(up[0], &byte, 1) != 1) fprintf(stderr, "PE %d: the child ended early\n", me);
  int status = -1;
  check(waitpid(child, &status, 0) == child && status == 0, "the child has a copy");
  if (status != 0) fprintf(stderr, "PE %d: the child's status is %d\n", me, status);
  check(last == 2 && touched[0] == 5 && large[0] == 0, "the child changes nothing");
  shmem_barrier_all();
  check(shmem_long_g(&last, (me + 1) % shmem_n_pes()) == 2, "other PEs still reach the data");
  shmem_barrier_all();
}

static int is_shared(const char* mode, int pe) {
  return strcmp(mode, "shared") == 0 || (strcmp(mode, "mixed") == 0 && pe != 1);
}

static void run(const char* mode) {
  const int me = shmem_my_pe(), size = shmem_n_pes(), next = (me + 1) % size,
            previous = (me + size - 1) % size;
  check(shmem_ptr(&last, me) == &last, "shmem_ptr of this PE");
  check((shmem_ptr(&last, next) != NULL) == (is_shared(mode, next) || next == me),
        "shmem_ptr of the next PE");
  transfer(me, next, previous);
  fork_child(me, previous);
  const long long most = (long long)sizeof table + (4 << 20);
  check(bytes_of_file() < most, "untouched data take no memory");
  check((bytes_of_file() >= 0) == is_shared(mode, me), "a shared file lies behind the data");
}

static void* sleep_forever(void* nothing) {
  for (;;) pause();
  return nothing;
}

static int lost(void) { return touched[0] != 5 || last != 2 || table[kTable - 1] != 3; }

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "shared";
  const char* const rank = getenv("PMIX_RANK");
  pthread_t other;
  if (strcmp(mode, "mixed") == 0 && rank != NULL && strcmp(rank, "1") == 0) {
    if (pthread_create(&other, NULL, sleep_forever, NULL) != 0) abort();
  }
  touched[0] = 5;
  touched[3 * kPage] = 6;
  /* The second job finds the data where the first has left them. */
  for (int job = 0; job < 2; ++job) {
    shmem_init();
    if (job == 0) check_contents();
    shmem_barrier_all();
    run(mode);
    shmem_finalize();
    if (lost()) {
      fputs("shmem_finalize has lost data\n", stderr);
      ++failures;
    }
  }
  if (failures == 0) puts("right");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
