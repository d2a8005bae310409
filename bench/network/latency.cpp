/**
 * @file latency.cpp
 * Latencies of 8 bytes.
 */
#include <atomic>

#include "network/job.hpp"
#include "network/ticks.hpp"

namespace rma::bench {
namespace {

constexpr std::size_t kWarmUp = 20;
constexpr std::size_t kPing = 0;  ///< offsets of the words, on cache lines of their own
constexpr std::size_t kRead = 64;
constexpr std::size_t kCounter = 128;
constexpr std::size_t kBytes = 4096;

std::uint64_t* word(char* base, std::size_t offset) {
  return reinterpret_cast<std::uint64_t*>(base + offset);
}

/** Each rank puts and then waits for the other's put. ib_write_lat polls memory too, without any pause. */
void put_latency(const Job& job, const SharedMemory& memory) {
  const std::atomic_ref<std::uint64_t> mine(*word(memory.mine(), kPing));
  mine.store(0, std::memory_order_relaxed);
  check(rma_barrier(rma_team_world()));
  if (job.rank <= 1) {
    const int partner = 1 - job.rank;
    std::uint64_t* const there = word(memory.of(partner), kPing);
    std::vector<double> samples = time_each(job.options.iterations, kWarmUp, [&](std::size_t i) {
      const std::uint64_t turn = i + 1;
      if (job.rank == 0) check(rma_put(there, &turn, sizeof turn, partner));
      while (mine.load(std::memory_order_acquire) < turn) {
      }
      if (job.rank == 1) check(rma_put(there, &turn, sizeof turn, partner));
    });
    for (double& sample : samples) sample /= 2;
    job.record("latency", "put latency 8 B", "ns", 8, std::move(samples));
  }
  check(rma_barrier(rma_team_world()));
}

}  // namespace

void measure_latency(const Job& job) {
  const SharedMemory memory(kBytes, job.size);
  put_latency(job, memory);
  if (job.rank == 0) {
    // The destination is in the heap, because ib_read_lat and ib_atomic_lat use registered memory too.
    std::uint64_t* const here = word(memory.mine(), kRead);
    job.record("latency", "get latency 8 B", "ns", 8,
               time_each(job.options.iterations, kWarmUp,
                         [&](std::size_t) { check(rma_get(here, memory.of(1) + kRead, sizeof *here, 1)); }));
    std::uint64_t before = 0;
    job.record("latency", "fetch-add latency", "ns", 0,
               time_each(job.options.iterations, kWarmUp, [&](std::size_t) {
                 check(rma_atomic64(RMA_FETCH_ADD, word(memory.of(1), kCounter), 1, 0, &before, 1));
               }));
  }
  check(rma_barrier(rma_team_world()));
}

}  // namespace rma::bench
