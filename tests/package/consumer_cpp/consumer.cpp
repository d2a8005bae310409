// A C++ program as a user would write it: built against the installed library only, by each way to find it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <rma/rma.hpp>

int main() {
  try {
    const rma::Environment environment;
    const rma::Team world = rma::Team::world();
    rma::SharedArray<std::int64_t> numbers(world, 1);
    const int right = (world.rank() + 1) % world.size();
    rma::put(numbers[right], 100 + world.rank());
    world.barrier();
    const std::int64_t expected = 100 + (world.rank() + world.size() - 1) % world.size();
    const bool is_right = numbers.local()[0] == expected;
    std::printf("consumer of C++, rank %d of %d: %s\n", world.rank(), world.size(),
                is_right ? "right" : "WRONG");
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const rma::Error& error) {
    std::fprintf(stderr, "consumer: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
