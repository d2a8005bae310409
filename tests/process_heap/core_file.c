/* A rank dumps core. The file has its own blocks, of malloc and of rma_malloc, and not those of the other
 * rank, which it maps. The system has no pages made for addresses that are not in use.
 *
 * usage: core_file DIRECTORY     an empty one, where the core file comes to lie */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "rma/messages.h"
#include "rma/rma.h"

enum { kBytes = 1 << 20, kMostBytes = 256 << 20, kTag = 5, kContext = 0, kVictim = 1, kSkipped = 77 };

/* A word that no other file has, with the number of the rank. */
enum { kWord = 16 };
static void write_word(int rank, char* word) {
  memcpy(word, "own word of rank", kWord);
  word[kWord - 1] = (char)('0' + rank);
}

static void fill(int rank, char* block) {
  for (int at = 0; at < kBytes; at += kWord) write_word(rank, block + at);
}

/* Returns how many bytes of a file are words of the rank. */
static size_t words_of(int rank, FILE* file) {
  static char piece[kBytes];
  char word[kWord];
  write_word(rank, word);
  size_t found = 0;
  rewind(file);
  for (size_t got = fread(piece, 1, kBytes, file); got != 0; got = fread(piece, 1, kBytes, file)) {
    for (size_t at = 0; at + kWord <= got; at += kWord) {
      if (memcmp(piece + at, word, kWord) == 0) found += kWord;
    }
  }
  return found;
}

static FILE* open_core(const char* directory) {
  DIR* const list = opendir(directory);
  CHECK(list != NULL && chdir(directory) == 0);
  FILE* file = NULL;
  for (struct dirent* entry = readdir(list); entry != NULL; entry = readdir(list)) {
    if (entry->d_name[0] != '.') file = fopen(entry->d_name, "rb");
  }
  closedir(list);
  return file;
}

/* Returns whether this process can have a core file in its directory. */
static int dumps_core(void) {
  char pattern[128] = {0};
  FILE* const file = fopen("/proc/sys/kernel/core_pattern", "r");
  CHECK(file != NULL && fgets(pattern, sizeof pattern, file) != NULL);
  fclose(file);
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_CORE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  return strpbrk(pattern, "|/") == NULL && limit.rlim_max == RLIM_INFINITY &&
         setrlimit(RLIMIT_CORE, &limit) == 0;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  if (!dumps_core()) {
    fprintf(stderr, "core_file: the system writes no core files into the directory of a process\n");
    return kSkipped;
  }
  CHECK(rma_init() == RMA_SUCCESS && rma_size() == 2);
  const int rank = rma_rank();
  char* const mine = malloc(kBytes);
  char* theirs = NULL;
  void* heap[2];
  void* of_heap = NULL;
  CHECK(rma_malloc(rma_team_world(), kBytes, 0, heap, &of_heap) == RMA_SUCCESS);
  fill(rank, mine);
  fill(rank, of_heap);
  rma_request_t request;
  CHECK(rma_send_nb(&mine, sizeof mine, 1 - rank, kTag, kContext, &request) == RMA_SUCCESS);
  CHECK(rma_recv(&theirs, sizeof theirs, 1 - rank, kTag, kContext, NULL) == RMA_SUCCESS);
  CHECK(rma_wait(&request) == RMA_SUCCESS);
  /* The other rank's blocks are mapped, and in use. */
  char word[kWord];
  CHECK(rma_get(word, theirs, kWord, 1 - rank) == RMA_SUCCESS && word[kWord - 1] == '0' + 1 - rank);
  CHECK(rma_barrier(rma_team_world()) == RMA_SUCCESS);
  if (rank == kVictim) {
    CHECK(chdir(argv[1]) == 0 && raise(SIGSEGV) == 0);
  }
  CHECK(rma_recv(&theirs, sizeof theirs, kVictim, kTag, kContext, NULL) == RMA_ERR_PEER_LOST);
  FILE* const core = open_core(argv[1]);
  CHECK(core != NULL);
  struct stat about;
  CHECK(fstat(fileno(core), &about) == 0 && (size_t)about.st_blocks * 512 < kMostBytes);
  CHECK(words_of(kVictim, core) >= 2 * kBytes);
  /* The get has left some in its memory and in registers. */
  CHECK(words_of(rank, core) < 100 * kWord);
  fclose(core);
  puts("core file: right");
  fflush(stdout);
  _exit(0); /* nobody could complete rma_finalize */
}
