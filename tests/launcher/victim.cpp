// A rank that communicates until it is ended. usage: victim [stubborn] [abort] [leave RANK MICROSECONDS]
// stubborn: ignores SIGTERM, and so does a process that it starts in a session of its own.
// abort: when a call fails, the rank aborts the job with code 5; without this word it exits with code 1.
// leave: rank RANK exits with code 3, this many microseconds after its start, wherever it is then.

#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "rma/rma.h"

namespace {

bool aborts = false;

void check(rma_status_t status) {
  if (status == RMA_SUCCESS) return;
  if (aborts) rma_abort(5, rma_last_error());
  std::fprintf(stderr, "victim: %s\n", rma_last_error());
  std::_Exit(1);
}

void be_stubborn() {
  std::signal(SIGTERM, SIG_IGN);
  if (::fork() != 0) return;
  ::setsid();
  while (true) ::pause();
}

void leave_after(useconds_t pause) {
  std::thread([pause] {
    ::usleep(pause);
    ::_exit(3);
  }).detach();
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const rank = std::getenv("PMIX_RANK");
    if (word == "stubborn") be_stubborn();
    if (word == "abort") aborts = true;
    if (word == "leave" && i + 2 < argc && rank != nullptr && rank == std::string_view(argv[i + 1]))
      leave_after(static_cast<useconds_t>(std::atol(argv[i + 2])));
  }
  check(rma_init());
  const int next = (rma_rank() + 1) % rma_size();
  void* addresses[64] = {};
  void* mine = nullptr;
  check(rma_malloc(rma_team_world(), sizeof(uint64_t), 0, addresses, &mine));
  for (uint64_t round = 0;; ++round) {
    check(rma_put(addresses[next], &round, sizeof round, next));
    check(rma_barrier(rma_team_world()));
  }
}
