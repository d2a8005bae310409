// Distributed locks in the heap and in static data: they exclude, nobody starves, and an unlocked lock is
// zero.

#include <array>

#include "check.hpp"

namespace {

std::array<long, 3> static_words;

/// Returns how often each PE takes a lock. A round between emulated hosts takes a thousand times as long as
/// within one.
long rounds_of(const long* heap) {
  for (int pe = 0; pe < shmem_n_pes(); ++pe) {
    if (shmem_ptr(heap, pe) == nullptr) return 40;
  }
  return 200;
}

/// All PEs count on PE `home` by a get and a put, which only the lock makes right.
void check_counting(long* words, int home, long rounds) {
  long* const lock = &words[0];
  long* const counter = &words[1];
  words[0] = 0;
  words[1] = 0;
  words[2] = 0;
  shmem_barrier_all();
  for (long i = 0; i < rounds; ++i) {
    if (i % 3 == 0) {
      while (shmem_test_lock(lock) != 0) {
        // Another PE holds the lock.
        shmem_long_atomic_inc(&words[2], shmem_my_pe());
      }
    } else {
      shmem_set_lock(lock);
    }
    CHECK(shmem_test_lock(lock) == 1);
    const long seen = shmem_long_g(counter, home);
    shmem_long_p(counter, seen + 1, home);
    shmem_clear_lock(lock);
  }
  shmem_barrier_all();
  CHECK(shmem_long_g(counter, home) == rounds * shmem_n_pes());
  CHECK(*lock == 0);
  shmem_barrier_all();
}

}  // namespace

int main() {
  shmem_init();
  auto* const heap = static_cast<long*>(shmem_calloc(3, sizeof(long)));
  const long rounds = rounds_of(heap);
  for (long* const words : {heap, static_words.data()}) {
    check_counting(words, 0, rounds);
    check_counting(words, shmem_n_pes() - 1, rounds);
  }
  shmem_free(heap);
  return shmem_tests::result();
}
