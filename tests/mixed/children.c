/* A rank starts other programs of librma, in the ways that programs know. Each is a job of one, and the
 * rank's own job goes on.
 *
 * usage: mixed-children child INTERFACE   prints what it is, for the parent
 *        mixed-children INTERFACE         a rank */

#include <armci.h>
#include <mpi.h>
#include <shmem.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rma/rma.h"

extern char** environ;

static int begin(const char* interface) {
  if (strcmp(interface, "mpi") == 0) return MPI_Init(NULL, NULL) != MPI_SUCCESS;
  if (strcmp(interface, "armci") == 0) return ARMCI_Init() != 0;
  if (strcmp(interface, "shmem") == 0) return shmem_init(), 0;
  if (rma_init() == RMA_SUCCESS) return 0;
  fprintf(stderr, "%s\n", rma_last_error());
  return 1;
}

static void meet(const char* interface) {
  if (strcmp(interface, "mpi") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(interface, "armci") == 0) {
    ARMCI_Barrier();
  } else if (strcmp(interface, "shmem") == 0) {
    shmem_barrier_all();
  } else {
    rma_barrier(rma_team_world());
  }
}

static void end(const char* interface) {
  if (strcmp(interface, "mpi") == 0) {
    MPI_Finalize();
  } else if (strcmp(interface, "armci") == 0) {
    ARMCI_Finalize();
  } else if (strcmp(interface, "shmem") == 0) {
    shmem_finalize();
  } else {
    rma_finalize();
  }
}

/* Two rounds, so that nothing of the first one changes what the second one finds. */
static int be_a_child(const char* interface) {
  const int rounds = strcmp(interface, "mpi") == 0 ? 1 : 2;
  for (int round = 0; round < rounds; ++round) {
    if (begin(interface) != 0) return 20;
    meet(interface);
    if (rma_rank() != 0 || rma_size() != 1) {
      printf("the child is rank %d of %d\n", rma_rank(), rma_size());
      return 21;
    }
    end(interface);
  }
  return 0;
}

static int failures = 0;

static void expect_success(const char* what, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  printf("%s: status %#x\n", what, (unsigned)status);
  ++failures;
}

static void wait_for(const char* what, pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  expect_success(what, status);
}

static pid_t execute(char** arguments, char** environment) {
  const pid_t child = fork();
  if (child != 0) return child;
  execve("/proc/self/exe", arguments, environment);
  _exit(22);
}

int main(int argc, char** argv) {
  if (argc == 3) return be_a_child(argv[2]);
  if (argc != 2) return 23;
  const char* const interface = argv[1];
  char* arguments[] = {argv[0], "child", argv[1], NULL};
  char command[4096];
  snprintf(command, sizeof command, "'%s' child %s", argv[0], interface);

  /* The environment as it was before the job began, as Python keeps it. */
  size_t entries = 0;
  while (environ[entries] != NULL) ++entries;
  char** const before = malloc((entries + 1) * sizeof *before);
  for (size_t i = 0; i <= entries; ++i) before[i] = environ[i] != NULL ? strdup(environ[i]) : NULL;

  /* This one is forked before the rank begins, and begins after it. */
  int go[2];
  if (pipe(go) != 0) return 24;
  const pid_t early = fork();
  if (early == 0) {
    char word = 0;
    close(go[1]);
    if (read(go[0], &word, 1) != 1) _exit(25);
    exit(be_a_child(interface));
  }

  if (begin(interface) != 0) return 26;
  const int ranks = rma_size();
  meet(interface);
  if (write(go[1], "x", 1) != 1) return 27;
  wait_for("forked before the job", early);
  expect_success("system", system(command));
  wait_for("fork and exec", execute(arguments, before));
  pid_t spawned = 0;
  if (posix_spawn(&spawned, argv[0], NULL, NULL, arguments, environ) != 0) return 28;
  wait_for("posix_spawn", spawned);
  /* Several at a time, and one of another session whose parent has gone. */
  pid_t several[4];
  for (int i = 0; i < 4; ++i) several[i] = execute(arguments, before);
  for (int i = 0; i < 4; ++i) wait_for("one of several", several[i]);
  snprintf(command, sizeof command, "setsid sh -c \"'%s' child %s & wait\"", argv[0], interface);
  expect_success("setsid", system(command));

  meet(interface);
  if (rma_size() != ranks) ++failures;
  end(interface);
  /* The rank has left the job, and still is the one that it knows. */
  wait_for("after the end", execute(arguments, before));
  const pid_t late = fork();
  if (late == 0) exit(strcmp(interface, "mpi") == 0 ? 0 : be_a_child(interface));
  wait_for("forked after the end", late);
  if (failures == 0) printf("a rank of %d passed\n", ranks);
  return failures != 0;
}
