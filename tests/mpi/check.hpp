#pragma once

#include <cstdio>
#include <cstdlib>

#include "mpi.h"

// Checks of the MPI tests. A program exits with 1 if one has failed on any rank.

namespace mpi_test {

inline int failures = 0;

inline void check(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++failures;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, text);
}

[[nodiscard]] inline int rank_in(MPI_Comm comm) {
  int rank = -1;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
[[nodiscard]] inline int size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// A communicator as a ring: each rank talks to the one behind it and the one before.
struct Ring {
  explicit Ring(MPI_Comm ring_comm)
      : comm(ring_comm),
        rank(rank_in(ring_comm)),
        size(size_of(ring_comm)),
        next((rank + 1) % size),
        previous((rank + size - 1) % size) {}
  MPI_Comm comm;
  int rank;
  int size;
  int next;
  int previous;
};

/// Returns the seed of all draws, the same on every rank: LIBRMA_TEST_SEED, or a fixed number. Rank 0 prints
/// it.
[[nodiscard]] inline unsigned test_seed() {
  constexpr unsigned kUsual = 20261124;
  unsigned seed = kUsual;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    const char* const given = std::getenv("LIBRMA_TEST_SEED");
    if (given != nullptr) seed = static_cast<unsigned>(std::strtoul(given, nullptr, 10));
    std::printf("LIBRMA_TEST_SEED=%u\n", seed);
    std::fflush(stdout);
  }
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  return seed;
}

/// Returns the exit code of the program: 1 on all ranks if a check has failed on any.
[[nodiscard]] inline int result() {
  int sum = 0;
  MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum == 0 && rank_in(MPI_COMM_WORLD) == 0) std::puts("all checks passed");
  return sum == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace mpi_test

#define CHECK(condition) mpi_test::check(condition, #condition, __FILE__, __LINE__)
#define SUCCEEDS(call) mpi_test::check((call) == MPI_SUCCESS, #call, __FILE__, __LINE__)
