/*
 * Active messages: every rank asks rank 0 to add a number to a sum, and rank 0's answer says what the sum was
 * then. Rank 0's program takes no part in that: a handler adds.
 *
 *   rmarun -n 4 example-active_messages
 */
#include <rma/active_messages.h>
#include <rma/rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Every call returns a status. After a failure rma_last_error() describes it. */
static void check(rma_status_t status) {
  if (status != RMA_SUCCESS) rma_abort(EXIT_FAILURE, rma_last_error());
}

static int add, answer;        /* the numbers of the two handlers, which are the same on all ranks */
static uint64_t sum;           /* of rank 0; handlers of other ranks' messages run one at a time */
static _Atomic uint64_t known; /* the sum after this rank's number; 0: the answer has not come */

/* Runs at rank 0. It may reply once, and it never waits. */
static void add_up(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
  (void)context;
  sum += message->words[0];
  const uint64_t words[] = {sum};
  if (rma_am_reply(token, answer, words, 1) != RMA_SUCCESS) abort();
}

/* Runs at the rank that asked, in whichever of its threads takes the answer in. */
static void answered(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
  (void)context;
  (void)token;
  known = message->words[0];
}

static int is_known(void* context) {
  (void)context;
  return known != 0;
}

int main(void) {
  const rma_status_t status = rma_init();
  if (status != RMA_SUCCESS) {
    fprintf(stderr, "%s: %s\n", rma_strerror(status), rma_last_error());
    return EXIT_FAILURE;
  }
  const int rank = rma_rank();
  const int size = rma_size();
  check(rma_am_register(add_up, NULL, &add));
  check(rma_am_register(answered, NULL, &answer));

  /* A rank handles a message to itself at once, beside the handler of another rank's message. So rank 0 adds
   * its own number before the others begin. */
  if (rank == 0) sum = 1;
  check(rma_barrier(rma_team_world()));
  if (rank != 0) {
    const uint64_t words[] = {(uint64_t)rank + 1};
    check(rma_am_request(0, add, words, 1));
    check(rma_am_wait(is_known, NULL, 0)); /* sleeps if the answer takes long */
    printf("rank %d of %d: the sum was %llu\n", rank, size, (unsigned long long)known);
  }
  check(rma_barrier(rma_team_world())); /* all numbers are in the sum */

  const int is_right = rank != 0 || sum == (uint64_t)size * ((uint64_t)size + 1) / 2;
  if (rank == 0) printf("rank 0: the sum is %llu\n", (unsigned long long)sum);
  check(rma_finalize());
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
