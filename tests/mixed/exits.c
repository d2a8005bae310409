/* The last rank ends without finalizing, in the given way, while the others wait for it. With `zero` all end.
 * exits.py looks at the job's exit code.
 *
 * usage: mixed-exits shmem|mpi|armci|rma|all WAY */

#include <armci.h>
#include <mpi.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rma/rma.h"

static int uses(const char* interface, const char* name) {
  return strcmp(interface, name) == 0 || strcmp(interface, "all") == 0;
}

static void begin(const char* interface) {
  if (uses(interface, "mpi")) MPI_Init(NULL, NULL);
  if (uses(interface, "armci")) ARMCI_Init();
  if (uses(interface, "shmem")) shmem_init();
  if (uses(interface, "rma") && rma_init() != RMA_SUCCESS) exit(99);
}

static void meet(const char* interface) {
  if (uses(interface, "shmem")) shmem_barrier_all();
  if (uses(interface, "mpi")) MPI_Barrier(MPI_COMM_WORLD);
  if (uses(interface, "armci")) ARMCI_Barrier();
  if (uses(interface, "rma")) rma_barrier(rma_team_world());
}

static void* exit_in_thread(void* code) { exit(*(int*)code); }

static void say_so(void) { puts("an exit handler of the program ran"); }

/* A child that is forked from a rank ends by exit(): the rank must not notice. */
static void fork_children(void) {
  for (int code = 0; code < 2; ++code) {
    const pid_t child = fork();
    if (child == 0) exit(code);
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != code) exit(98);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 97;
  const char* const interface = argv[1];
  const char* const way = argv[2];
  static int code = 7;
  atexit(say_so);
  begin(interface);
  meet(interface);
  /* 256 is 0 to the process that waits for this one. */
  if (strcmp(way, "zero") == 0) exit(256);
  if (rma_rank() == rma_size() - 1) {
    if (strcmp(way, "exit") == 0) exit(code);
    if (strcmp(way, "return") == 0) return code;
    if (strcmp(way, "_exit") == 0) _exit(code);
    if (strcmp(way, "quick_exit") == 0) quick_exit(code);
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "thread") == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, exit_in_thread, &code);
      meet(interface); /* waits for the others, which wait for this rank's next meeting */
      pthread_join(thread, NULL);
    }
    if (strcmp(way, "fork") == 0) {
      fork_children();
      exit(code);
    }
    if (strcmp(way, "_exit-zero") == 0) _exit(0);
  }
  meet(interface);
  meet(interface);
  return 0;
}
