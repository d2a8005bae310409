/* Two ranks have locked all memory that they will map (mlockall with MCL_FUTURE) before rma_init. The system
 * takes no memory for the addresses of their heaps and messages that are not in use. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "rma/messages.h"
#include "rma/rma.h"

enum { kBytes = 1 << 20, kMostKilobytes = 512 << 10, kTag = 7, kContext = 0, kSkipped = 77 };

/* Returns the kilobytes that /proc/self/status has under this name. */
static long status_of(const char* name) {
  FILE* const file = fopen("/proc/self/status", "r");
  CHECK(file != NULL);
  long value = -1;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) CHECK(sscanf(line + strlen(name), ": %ld kB", &value) == 1);
  }
  fclose(file);
  CHECK(value >= 0);
  return value;
}

int main(void) {
  /* If the test fails, this process shall end, and no other one. */
  FILE* const adjustment = fopen("/proc/self/oom_score_adj", "w");
  if (adjustment != NULL) {
    fputs("1000", adjustment);
    fclose(adjustment);
  }
  if (mlockall(MCL_FUTURE) != 0) {
    printf("skipped: the system refuses mlockall: %s\n", strerror(errno));
    return kSkipped;
  }
  /* The addresses of a heap count as locked, so a user with a limit cannot reserve them. */
  const size_t addresses = (size_t)1 << 40;
  void* const reserved = mmap(NULL, addresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    printf("skipped: memory that may be locked is limited (ulimit -l): %s\n", strerror(errno));
    return kSkipped;
  }
  munmap(reserved, addresses);
  const rma_status_t begun = rma_init();
  if (begun != RMA_SUCCESS) fprintf(stderr, "%s\n", rma_last_error());
  CHECK(begun == RMA_SUCCESS);
  const int other = 1 - rma_rank();
  char* const block = malloc(kBytes);
  CHECK(block != NULL);
  memset(block, 'a' + rma_rank(), kBytes);
  if (rma_rank() == 0) {
    CHECK(rma_send(block, kBytes, other, kTag, kContext) == RMA_SUCCESS);
    CHECK(rma_recv(block, kBytes, other, kTag, kContext, NULL) == RMA_SUCCESS);
  } else {
    char* const sent = malloc(kBytes);
    CHECK(sent != NULL);
    memcpy(sent, block, kBytes);
    CHECK(rma_recv(block, kBytes, other, kTag, kContext, NULL) == RMA_SUCCESS);
    CHECK(rma_send(sent, kBytes, other, kTag, kContext) == RMA_SUCCESS);
    free(sent);
  }
  for (int at = 0; at < kBytes; ++at) CHECK(block[at] == 'a' + other);
  free(block);
  const long kilobytes = status_of("VmRSS");
  printf("rank %d has %ld kB\n", rma_rank(), kilobytes);
  CHECK(kilobytes < kMostKilobytes);
  CHECK(rma_finalize() == RMA_SUCCESS);
  puts("locked memory: right");
  return 0;
}
