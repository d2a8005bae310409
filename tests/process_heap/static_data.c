/* Two ranks of an MPI program send from static data to each other. A child that one of them forks keeps its
 * own. */
#include <mpi.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { kBytes = 1 << 20, kTag = 3 };

static unsigned char zeroed[kBytes];
static unsigned char initialized[kBytes] = {1, 2, 3};
static unsigned char received[kBytes];

static void exchange(unsigned char* sent, int rank, int value) {
  memset(sent + 3, 10 * value + rank, kBytes - 3);
  CHECK(MPI_Sendrecv(sent, kBytes, MPI_BYTE, 1 - rank, kTag, received, kBytes, MPI_BYTE, 1 - rank, kTag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (int at = 3; at < kBytes; ++at) CHECK(received[at] == 10 * value + 1 - rank);
}

int main(int argc, char** argv) {
  zeroed[5] = 77;
  CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
  int rank = -1;
  CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS);
  CHECK(zeroed[5] == 77 && zeroed[6] == 0 && initialized[1] == 2);
  exchange(zeroed, rank, 1);
  exchange(initialized, rank, 2);
  CHECK(received[0] == 1 && received[1] == 2 && received[2] == 3);
  const pid_t child = fork();
  if (child == 0) {
    memset(initialized, 9, sizeof initialized);
    _exit(zeroed[kBytes - 1] == 10 + rank ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(initialized[0] == 1 && initialized[4] == 20 + rank);
  exchange(zeroed, rank, 3);
  CHECK(MPI_Finalize() == MPI_SUCCESS);
  if (rank == 0) puts("static data: right");
  return 0;
}
