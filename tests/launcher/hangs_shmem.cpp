// OpenSHMEM jobs that hang. tests/launcher/hang_cases.py has rmarun explain them.

#include <shmem.h>

#include <functional>
#include <map>
#include <string>

namespace {

long word = 0;
long lock = 0;

[[noreturn]] void compute() {
  for (volatile unsigned count = 0;;) count = count + 1;
}

void wait_until() {
  if (shmem_my_pe() == 0) compute();
  shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
}

void missing_barrier() {
  if (shmem_my_pe() == 1) compute();
  shmem_barrier_all();
}

void missing_reduction() {
  if (shmem_my_pe() == 1) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &word, &word, 1);
}

void held_lock() {
  if (shmem_my_pe() == 0) shmem_set_lock(&lock);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) compute();
  shmem_set_lock(&lock);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> hangs = {{"wait_until", wait_until},
                                                              {"missing_barrier", missing_barrier},
                                                              {"missing_reduction", missing_reduction},
                                                              {"held_lock", held_lock}};
  const auto hang = argc == 2 ? hangs.find(argv[1]) : hangs.end();
  if (hang == hangs.end()) return 2;
  shmem_init();
  hang->second();
  shmem_finalize();
}
