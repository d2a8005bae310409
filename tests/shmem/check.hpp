#pragma once

#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <random>

// Checks of the SHMEM tests. A program exits with 1 if one has failed on any PE.

namespace shmem_tests {

inline int failures = 0;

inline void check(bool holds, const char* text, const char* file, int line) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "%s:%d: PE %d: %s\n", file, line, shmem_my_pe(), text);
}

/// Returns the generator of all draws, the same on every PE: its seed is LIBRMA_TEST_SEED, or a fixed number.
/// PE 0 prints it.
[[nodiscard]] inline std::mt19937_64 generator() {
  constexpr unsigned kUsual = 20261124;
  const char* const given = std::getenv("LIBRMA_TEST_SEED");
  const auto seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : kUsual;
  if (shmem_my_pe() == 0) std::printf("LIBRMA_TEST_SEED=%u\n", seed);
  return std::mt19937_64(seed);
}

/// Returns the exit code of the program: 1 on all PEs if a check has failed on any. Finalizes.
[[nodiscard]] inline int result() {
  auto* const sums = static_cast<int*>(shmem_calloc(2, sizeof(int)));
  sums[0] = failures;
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sums[1], &sums[0], 1);
  const int sum = sums[1];
  if (sum == 0 && shmem_my_pe() == 0) std::puts("all checks passed");
  shmem_free(sums);
  shmem_finalize();
  return sum == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace shmem_tests

#define CHECK(condition) shmem_tests::check(condition, #condition, __FILE__, __LINE__)
