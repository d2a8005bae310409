/* A rank is killed while it sends blocks of malloc, or receives them. The other one copies from its mapped
 * memory, or has memory that it copies from. Every message that arrives is whole, and the survivor is told of
 * the loss.
 *
 * usage: killed sender|receiver     which of the two is killed */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "rma/variables.h"

enum { kBytes = 1 << 20, kTag = 5, kContext = 0, kMessages = 20, kVictim = 1 };

static uint64_t counter(const char* name) {
  size_t which = 0;
  while (strcmp(rma_counter_name(which), name) != 0) ++which;
  return rma_counter_value(which);
}

/* Message `number` has this value in all bytes. */
static unsigned char value_of(int number) { return (unsigned char)(number % 251); }

static rma_status_t send_block(int number, int to) {
  unsigned char* const block = malloc(kBytes);
  memset(block, value_of(number), kBytes);
  const rma_status_t status = rma_send(block, kBytes, to, kTag, kContext);
  free(block);
  return status;
}

static rma_status_t receive_block(int number, int from) {
  unsigned char* const block = malloc(kBytes);
  const rma_status_t status = rma_recv(block, kBytes, from, kTag, kContext, NULL);
  for (size_t at = 0; status == RMA_SUCCESS && at < kBytes; ++at) CHECK(block[at] == value_of(number));
  free(block);
  return status;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int sender_dies = strcmp(argv[1], "sender") == 0;
  CHECK(rma_init() == RMA_SUCCESS && rma_size() == 2);
  const int rank = rma_rank();
  const int other = 1 - rank;
  pid_t victim = getpid();
  if (rank == kVictim) {
    CHECK(rma_send(&victim, sizeof victim, other, kTag, kContext) == RMA_SUCCESS);
  } else {
    CHECK(rma_recv(&victim, sizeof victim, other, kTag, kContext, NULL) == RMA_SUCCESS);
  }
  const int sends = (rank == kVictim) == sender_dies;
  rma_status_t status = RMA_SUCCESS;
  int number = 0;
  for (; status == RMA_SUCCESS; ++number) {
    if (rank != kVictim && number == kMessages) CHECK(kill(victim, SIGKILL) == 0);
    status = sends ? send_block(number, other) : receive_block(number, other);
  }
  CHECK(rank != kVictim && status == RMA_ERR_PEER_LOST && number > kMessages);
  if (!sends) CHECK(counter("receive_mapped") >= kMessages);
  puts("survivor: right");
  fflush(stdout);
  _exit(0); /* nobody could complete rma_finalize */
}
