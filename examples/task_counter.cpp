// Dynamic load balancing. One shared counter hands out tasks of very different length. A rank that is free
// takes the next task by an atomic fetch_add on rank 0's counter. Rank 0's program takes no part in that.
//
//   rmarun -n 4 example-task_counter

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <rma/rma.hpp>

namespace {

constexpr std::uint64_t kTasks = 2000;

// A task: steps of the Collatz sequence, few for some numbers, many for others.
long work(std::uint64_t task) {
  long steps = 0;
  for (std::uint64_t n = task + 1; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

int run() {
  const rma::Environment environment;
  const rma::Team world = rma::Team::world();

  // Rank 0's memory holds the counter and, for the check at the end, how often each task was done.
  const bool keeper = rma::rank() == 0;
  const rma::SharedArray<std::uint64_t> counter(world, keeper ? 1 : 0);
  const rma::SharedArray<std::uint64_t> done(world, keeper ? kTasks : 0);
  for (std::uint64_t& value : counter.local()) value = 0;
  for (std::uint64_t& value : done.local()) value = 0;
  world.barrier();

  long mine = 0;
  long steps = 0;
  while (true) {
    const std::uint64_t task = rma::fetch_add(counter[0], 1);
    if (task >= kTasks) break;
    steps += work(task);
    rma::fetch_add(done[0] + static_cast<std::ptrdiff_t>(task), 1);
    ++mine;
  }
  std::printf("rank %d did %ld tasks\n", rma::rank(), mine);
  world.barrier();

  // Every task was done exactly once, the counts add up, and the result is right.
  bool good = true;
  for (const std::uint64_t times : done.local()) good = good && times == 1;
  long expected = 0;
  for (std::uint64_t task = 0; task < kTasks; ++task) expected += work(task);
  good = good && world.allreduce(mine, rma::Reduction::kSum) == static_cast<long>(kTasks);
  good = good && world.allreduce(steps, rma::Reduction::kSum) == expected;
  const int all_good = world.allreduce(static_cast<int>(good), rma::Reduction::kMin);
  if (keeper)
    std::printf("%s\n", all_good != 0 ? "every task was done exactly once" : "WRONG: tasks lost or repeated");
  return all_good != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const rma::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
