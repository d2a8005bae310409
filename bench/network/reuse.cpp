/**
 * @file reuse.cpp
 * Bandwidth by how often a buffer outside the heap is used. This shows the cost of its registration.
 */
#include <cstring>
#include <string>

#include "harness/clock.hpp"
#include "network/fresh_buffer.hpp"
#include "network/job.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {

void measure_reuse(const Job& job) {
  const std::size_t bytes = job.options.buffer;
  const SharedMemory memory(bytes, job.size);
  if (job.rank == 0) {
    std::memset(memory.mine(), 1, bytes);
    check(rma_put(memory.of(1), memory.mine(), bytes, 1));  // connects, and touches the target's pages
    for (const std::size_t uses : job.options.uses) {
      std::vector<double> samples;
      for (std::size_t i = 0; i < job.options.buffers; ++i) {
        const FreshBuffer buffer(bytes);
        const double begin = now_ns();
        for (std::size_t use = 0; use < uses; ++use) {
          check(rma_put(memory.of(1), buffer.data(), bytes, 1));
        }
        check(rma_fence(1));
        const double elapsed = now_ns() - begin;
        samples.push_back(static_cast<double>(uses * bytes) / static_cast<double>(std::size_t{1} << 20) /
                          elapsed * 1e9);
      }
      job.record("reuse", size_text(bytes) + " used " + std::to_string(uses) + " times", "MiB/s", bytes,
                 std::move(samples));
    }
  }
  check(rma_barrier(rma_team_world()));
}

}  // namespace rma::bench
