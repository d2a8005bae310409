// Prints the sum of all PEs, counted from 1.
#include <mpp/shmem.h>

#include <iostream>

int main() {
  shmem_init();
  auto* const sum = static_cast<long*>(shmem_calloc(1, sizeof(long)));
  for (int pe = 0; pe < shmem_n_pes(); ++pe) shmem_atomic_add(sum, static_cast<long>(shmem_my_pe()) + 1, pe);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) std::cout << "sum " << *sum << " of " << shmem_n_pes() << '\n';
  shmem_finalize();
}
