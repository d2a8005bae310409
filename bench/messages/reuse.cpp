/**
 * @file reuse.cpp
 * Bandwidth by how often buffers are used at both ends (Shipman et al., EuroPVM/MPI 2006, section 6.1).
 * Outside the heap, the library registers them, or copies.
 */
#include "harness/clock.hpp"
#include "messages/job.hpp"
#include "network/fresh_buffer.hpp"

namespace rma::bench {
namespace {

/** Rank 0 sends from a new buffer into a new one, `uses` times. Returns the time until the reply. */
double send_fresh(const Job& job, std::size_t bytes, std::size_t uses) {
  const FreshBuffer buffer(bytes);
  const std::span<char> data(static_cast<char*>(buffer.data()), bytes);
  // Both have their buffers.
  if (job.rank() == 0) {
    recv(std::span<char>(), 1, kPong);
  } else {
    send(std::span<char>(), 0, kPong);
  }
  const double begin = now_ns();
  for (std::size_t use = 0; use < uses; ++use) {
    if (job.rank() == 0) {
      send(data, 1, kPing);
    } else {
      recv(data, 0, kPing);
    }
  }
  if (job.rank() == 0) {
    recv(std::span<char>(), 1, kPong);
  } else {
    send(std::span<char>(), 0, kPong);
  }
  return now_ns() - begin;
}

}  // namespace

void measure_reuse(const Job& job) {
  for (const std::size_t bytes : job.sizes({8 * kMebi})) {
    for (const std::size_t uses : job.options.uses) {
      if (job.rank() <= 1) {
        send_fresh(job, bytes, 1);  // connects, and warms up
        std::vector<double> samples;
        for (std::size_t i = 0; i < job.options.buffers; ++i) {
          const double seconds = send_fresh(job, bytes, uses) / 1e9;
          samples.push_back(static_cast<double>(uses * bytes) / static_cast<double>(kMebi) / seconds);
        }
        job.record("reuse", "used " + std::to_string(uses) + " times", "MiB/s", bytes, std::move(samples));
      }
      job.world.barrier();
    }
  }
}

}  // namespace rma::bench
