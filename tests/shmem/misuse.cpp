// Programs that do one thing wrong, or end in one way, each: the argument says which. cases.py looks at what
// they say.

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "shmem.h"

namespace {

long static_word;
std::array<int, 2> static_words;

int other() { return shmem_n_pes() - 1; }

shmem_team_t destroyed_team() {
  shmem_team_t team = SHMEM_TEAM_INVALID;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), nullptr, 0, &team);
  const shmem_team_t freed = team;
  shmem_team_destroy(team);
  return freed;
}

shmem_ctx_t destroyed_context() {
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  shmem_ctx_create(0, &ctx);
  shmem_ctx_destroy(ctx);
  return ctx;
}

const std::map<std::string, std::function<void()>> kCases = {
    {"bad-pe", [] { shmem_int_p(static_words.data(), 1, shmem_n_pes()); }},
    {"bad-pe-of-nothing", [] { shmem_putmem(nullptr, nullptr, 0, shmem_n_pes()); }},
    {"bad-pe-of-no-blocks", [] { shmem_long_iget(nullptr, nullptr, 1, 1, 0, -1); }},
    {"outside-the-set",
     [] {
       long work = 0;
       for (int i = 0; i < 3; ++i) shmem_barrier(0, 0, 1, &work);
       for (int i = 0; i < 3; ++i) shmem_broadcast64(static_words.data(), &static_word, 1, 0, 0, 0, 1, &work);
     }},
    {"negative-pe", [] { shmem_long_g(&static_word, -1); }},
    {"not-symmetric",
     [] {
       long local = 0;
       shmem_long_put(&local, &static_word, 1, other());
     }},
    {"beyond-the-heap",
     [] { shmem_char_put(static_cast<char*>(shmem_malloc(8)), nullptr, SIZE_MAX / 2, 0); }},
    {"atomic-not-symmetric",
     [] {
       int local = 0;
       shmem_int_atomic_inc(&local, 0);
     }},
    {"destroyed-team", [] { shmem_long_sum_reduce(destroyed_team(), &static_word, &static_word, 1); }},
    {"invalid-team", [] { shmem_long_sum_reduce(SHMEM_TEAM_INVALID, &static_word, &static_word, 1); }},
    {"destroyed-context", [] { shmem_ctx_long_p(destroyed_context(), &static_word, 1, 0); }},
    {"destroy-world", [] { shmem_team_destroy(SHMEM_TEAM_WORLD); }},
    {"free-twice",
     [] {
       void* const block = shmem_malloc(8);
       shmem_free(block);
       shmem_free(block);
     }},
    {"free-local", [] { shmem_free(&static_word); }},
    {"alignment", [] { shmem_align(24, 8); }},
    {"comparison", [] { shmem_long_wait_until(&static_word, 17, 0); }},
    {"signal-operation", [] { shmem_long_put_signal(&static_word, &static_word, 1, nullptr, 0, 9, 0); }},
    {"not-locked", [] { shmem_clear_lock(&static_word); }},
    {"locked-twice",
     [] {
       if (shmem_my_pe() != 0) return shmem_barrier_all();
       shmem_set_lock(&static_word);
       shmem_set_lock(&static_word);
     }},
    {"active-set",
     [] {
       long work = 0;
       shmem_barrier(0, 0, shmem_n_pes() + 1, &work);
     }},
    {"different-sizes", [] { shmem_malloc(static_cast<std::size_t>(shmem_my_pe()) + 1); }},
    {"debug-not-symmetric",
     [] {
       long local = 0;
       shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &local, &static_word, 1);
     }},
    {"global-exit",
     [] {
       if (shmem_my_pe() == 0) shmem_global_exit(37);
       shmem_barrier_all();  // the others do not get beyond this
       shmem_barrier_all();
     }},
    {"global-exit-of-success",
     [] {
       if (shmem_my_pe() == 0) shmem_global_exit(0);
       shmem_barrier_all();
       shmem_barrier_all();
     }},
    {"after-finalize",
     [] {
       shmem_finalize();
       shmem_long_p(&static_word, 1, 0);
     }},
    {"return", [] {}},
    {"again",
     [] {
       shmem_finalize();
       shmem_init();
       shmem_long_p(&static_word, 5, other());
       shmem_barrier_all();
       std::printf("again: %ld\n", shmem_long_g(&static_word, other()));
     }},
    {"heap-size",
     [] {
       void* const fits = shmem_malloc(900 << 10);
       void* const not_any_more = shmem_malloc(900 << 10);
       std::printf("heap: %d %d\n", fits != nullptr, not_any_more != nullptr);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "before-init") shmem_long_p(&static_word, 1, 0);
  shmem_init();
  const auto found = kCases.find(name);
  if (found == kCases.end()) return 2;
  found->second();
  std::puts("done");
  return 0;
}
