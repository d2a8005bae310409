/* Two ranks of one host put, get, add to and send ordinary memory of each other.
 *
 * usage: transfers mapped|plain     whether malloc gives out memory that the other rank maps */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "rma/messages.h"
#include "rma/rma.h"

enum { kBytes = 4 << 20, kTag = 5, kContext = 0 };

static void succeed(rma_status_t status) {
  if (status == RMA_SUCCESS) return;
  fprintf(stderr, "rank %d: %s\n", rma_rank(), rma_last_error());
  abort();
}

static void expect(const unsigned char* block, size_t bytes, int value) {
  for (size_t at = 0; at < bytes; ++at) CHECK(block[at] == (unsigned char)value);
}

static void exchange(const void* sent, void* received, size_t bytes, int other) {
  rma_request_t request;
  succeed(rma_send_nb(sent, bytes, other, kTag, kContext, &request));
  succeed(rma_recv(received, bytes, other, kTag, kContext, NULL));
  succeed(rma_wait(&request));
}

/* Puts into, and gets from, the other rank's block at `theirs`. Both are full of their ranks' numbers. */
static void access(unsigned char* mine, unsigned char* theirs, size_t bytes, int rank, int other) {
  unsigned char* const copy = malloc(bytes);
  succeed(rma_get(copy, theirs, bytes, other));
  expect(copy, bytes, other);
  succeed(rma_barrier(rma_team_world()));
  memset(copy, 100 + rank, bytes);
  succeed(rma_put(theirs, copy, bytes, other));
  succeed(rma_barrier(rma_team_world()));
  expect(mine, bytes, 100 + other);
  free(copy);
}

static void use(int mapped) {
  const int rank = rma_rank();
  const int other = 1 - rank;
  const size_t sizes[] = {40, 3000, 70000, kBytes};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    unsigned char* mine = malloc(sizes[i] / 2 + 1);
    mine = realloc(mine, sizes[i]);
    memset(mine, rank, sizes[i]);
    unsigned char* theirs = NULL;
    exchange(&mine, &theirs, sizeof mine, other);
    if (mapped) {
      access(mine, theirs, sizes[i], rank, other);
    } else {
      CHECK(rma_put(theirs, mine, sizes[i], other) == RMA_ERR_ADDRESS);
      succeed(rma_barrier(rma_team_world()));
    }
    /* A block that its owner has registered is reached either way. */
    memset(mine, rank, sizes[i]);
    succeed(rma_register(mine, sizes[i]));
    succeed(rma_barrier(rma_team_world()));
    access(mine, theirs, sizes[i], rank, other);
    succeed(rma_unregister(mine));
    free(mine);
  }
  uint64_t* const count = calloc(1, sizeof *count);
  uint64_t* their_count = NULL;
  exchange(&count, &their_count, sizeof count, other);
  for (int i = 0; mapped && i < 1000; ++i) {
    uint64_t* const to = i % 2 == 0 ? their_count : count;
    succeed(rma_atomic64(RMA_FETCH_ADD, to, 1, 0, NULL, i % 2 == 0 ? other : rank));
  }
  succeed(rma_barrier(rma_team_world()));
  CHECK(*count == (mapped ? 1000 : 0));
  free(count);

  unsigned char* const sent = malloc(kBytes);
  unsigned char* const received = malloc(kBytes);
  memset(sent, 50 + rank, kBytes);
  exchange(sent, received, kBytes, other);
  expect(received, kBytes, 50 + other);
  free(sent);
  free(received);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const int mapped = strcmp(argv[1], "mapped") == 0;
  void* const before = malloc(kBytes); /* lives on between the two jobs */
  memset(before, 77, kBytes);
  for (int job = 0; job < 2; ++job) {
    succeed(rma_init());
    CHECK(rma_size() == 2);
    use(mapped);
    succeed(rma_finalize());
    expect(before, kBytes, 77);
  }
  free(before);
  puts("transfers: right");
  return 0;
}
