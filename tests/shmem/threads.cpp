// Threads at the level MULTIPLE: each has a context of its own. They put, count, wait for each other's
// partners on other PEs, and use a team each.

#include <array>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

constexpr std::size_t kThreads = 3;
constexpr long kRounds = 100;

struct Shared {
  long* counter;           ///< on PE 0
  std::uint64_t* signals;  ///< one for each thread
  long* boxes;             ///< one for each thread
  std::vector<shmem_team_t> teams;
};

void work(const Shared& shared, std::size_t thread, bool& right) {
  const int me = shmem_my_pe();
  const int size = shmem_n_pes();
  const int next = (me + 1) % size;
  const int previous = (me + size - 1) % size;
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  right = shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0;
  long* const box = shared.boxes + thread;
  std::uint64_t* const signal = shared.signals + thread;
  for (long round = 1; round <= kRounds; ++round) {
    shmem_ctx_long_atomic_inc(ctx, shared.counter, 0);
    const long value = me * 1000 + round;
    shmem_ctx_long_put_signal(ctx, box, &value, 1, signal, static_cast<std::uint64_t>(round),
                              SHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, static_cast<std::uint64_t>(round));
    right = right && *box == previous * 1000 + round;
    shmem_ctx_quiet(ctx);
    // Nobody writes the next value before all have read this one.
    shmem_team_sync(shared.teams[thread]);
  }
  shmem_ctx_destroy(ctx);
}

}  // namespace

int main() {
  int provided = -1;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  CHECK(provided == SHMEM_THREAD_MULTIPLE);
  shmem_query_thread(&provided);
  CHECK(provided == SHMEM_THREAD_MULTIPLE);
  Shared shared = {};
  shared.counter = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  shared.signals = static_cast<std::uint64_t*>(shmem_calloc(kThreads, sizeof(std::uint64_t)));
  shared.boxes = static_cast<long*>(shmem_calloc(kThreads, sizeof(long)));
  shared.teams.resize(kThreads);
  for (shmem_team_t& team : shared.teams) {
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team) == 0);
  }
  std::vector<std::thread> threads;
  std::array<bool, kThreads> right = {};
  for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { work(shared, i, right[i]); });
  for (std::thread& thread : threads) thread.join();
  for (const bool one : right) CHECK(one);
  shmem_barrier_all();
  CHECK(shmem_long_g(shared.counter, 0) == kRounds * static_cast<long>(kThreads) * shmem_n_pes());
  for (const shmem_team_t team : shared.teams) shmem_team_destroy(team);
  shmem_free(shared.counter);
  shmem_free(shared.signals);
  shmem_free(shared.boxes);
  return shmem_tests::result();
}
