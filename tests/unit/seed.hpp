#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// Returns and prints the seed of a random test: LIBRMA_TEST_SEED if it is set, else a fixed number.
inline std::uint64_t test_seed() {
  const char* const given = std::getenv("LIBRMA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::stoull(given) : 20;
  std::printf("LIBRMA_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}
