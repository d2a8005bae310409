/* Loads a library late, as plug-ins and extension modules do. Uses it from the thread that loaded it and from
 * one that existed before: per-thread state must not need space that only the program's start reserves.
 *
 * usage: late rma|armci LIBRARY
 *        late only LIBRARY        loads and unloads it
 * Each rank puts its number to the next one, twice; prints "late: right" when both arrived. */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci.h"
#include "message.h"
#include "rma/rma.h"

static void* library;
static sem_t loaded;

static void fail(const char* text) {
  fprintf(stderr, "late: %s\n", text);
  exit(1);
}
static void* symbol(const char* name) {
  void* const found = dlsym(library, name);
  if (found == NULL) fail(dlerror());
  return found;
}
/* A function of the library, by its declaration. */
#define CALL(name) ((__typeof__(name)*)symbol(#name))
#define CHECK(call) \
  if ((call) != 0) fail(#call " failed")

/* One round: `slots` are the addresses of every rank's word. */
static void put_with_rma(void** slots) {
  const int rank = CALL(rma_rank)(), next = (rank + 1) % CALL(rma_size)();
  const int64_t number = 100 + rank;
  CHECK(CALL(rma_put)(slots[next], &number, sizeof number, next));
  CHECK(CALL(rma_fence)(next));
}
static void put_with_armci(void** slots) {
  const int rank = CALL(armci_msg_me)(), next = (rank + 1) % CALL(armci_msg_nproc)();
  int64_t number = 100 + rank;
  CHECK(CALL(ARMCI_Put)(&number, slots[next], sizeof number, next));
  CALL(ARMCI_Fence)(next);
}

static void* slots[64];
static void (*put)(void** slots);

/* Was there before the library. */
static void* early_thread(void* unused) {
  sem_wait(&loaded);
  if (put != NULL) put(slots);
  return unused;
}
static void put_by_early_thread(pthread_t thread) {
  sem_post(&loaded);
  pthread_join(thread, NULL);
}

/* The word of this rank holds what the rank before it put. */
static void expect(int64_t* mine, int rank, int size) {
  if (*mine != 100 + (rank + size - 1) % size) fail("the word is wrong");
  *mine = 0;
}

static void use_rma(pthread_t early) {
  CHECK(CALL(rma_init)());
  const rma_team_t world = CALL(rma_team_world)();
  const int rank = CALL(rma_rank)(), size = CALL(rma_size)();
  int64_t* mine = NULL;
  CHECK(CALL(rma_malloc)(world, sizeof *mine, 0, slots, (void**)&mine));
  put = put_with_rma;
  for (int round = 0; round < 2; ++round) {
    CHECK(CALL(rma_barrier)(world));
    if (round == 0) put(slots);
    if (round == 1) put_by_early_thread(early);
    CHECK(CALL(rma_barrier)(world));
    expect(mine, rank, size);
  }
  CHECK(CALL(rma_free)(world, mine));
  CHECK(CALL(rma_finalize)());
}

static void use_armci(pthread_t early) {
  CALL(armci_msg_init)(NULL, NULL);
  CHECK(CALL(ARMCI_Init)());
  const int rank = CALL(armci_msg_me)(), size = CALL(armci_msg_nproc)();
  CHECK(CALL(ARMCI_Malloc)(slots, sizeof(int64_t)));
  put = put_with_armci;
  for (int round = 0; round < 2; ++round) {
    CALL(ARMCI_Barrier)();
    if (round == 0) put(slots);
    if (round == 1) put_by_early_thread(early);
    CALL(ARMCI_Barrier)();
    expect(slots[rank], rank, size);
  }
  CHECK(CALL(ARMCI_Free)(slots[rank]));
  CALL(ARMCI_Finalize)();
  CALL(armci_msg_finalize)();
}

int main(int count, char** words) {
  if (count != 3) fail("usage: late rma|armci|only LIBRARY");
  sem_init(&loaded, 0, 0);
  pthread_t early;
  CHECK(pthread_create(&early, NULL, early_thread, NULL));
  library = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail(dlerror());
  if (strcmp(words[1], "rma") == 0) {
    use_rma(early);
  } else if (strcmp(words[1], "armci") == 0) {
    use_armci(early);
  } else {
    put_by_early_thread(early);
  }
  CHECK(dlclose(library));
  puts("late: right");
  return 0;
}
