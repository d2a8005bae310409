/**
 * @file complete.cpp
 * Transfers that are complete at the target when the clock stops, in the rows of raw-fabric, while the target
 * polls, waits in a barrier, computes, or sleeps.
 */
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/clock.hpp"
#include "network/job.hpp"
#include "network/ticks.hpp"
#include "rma/messages.h"

namespace rma::bench {
namespace {

constexpr std::size_t kFirstOps = 50;
constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kWindow = 8;  ///< transfers of a megabyte under way

/** Runs `measure` on rank 0, while rank 1 calls `meanwhile` again and again until it is over. */
template <typename Measure, typename Meanwhile>
void while_target(const Job& job, const SharedMemory& flag, const Measure& measure,
                  const Meanwhile& meanwhile) {
  const std::atomic_ref<std::uint64_t> over(*reinterpret_cast<std::uint64_t*>(flag.mine()));
  over.store(0, std::memory_order_relaxed);
  check(rma_barrier(rma_team_world()));
  if (job.rank == 0) {
    measure();
    const std::uint64_t is_over = 1;
    check(rma_put(flag.of(1), &is_over, sizeof is_over, 1));
  } else if (job.rank == 1) {
    while (over.load(std::memory_order_acquire) == 0) meanwhile();
  }
  check(rma_barrier(rma_team_world()));
}

/** Returns the durations in nanoseconds of transfers of a megabyte, kWindow of which are under way. */
template <typename Start>
std::vector<double> windows(std::size_t megabytes, const Start& start) {
  std::vector<double> times;
  std::array<rma_request_t, kWindow> requests = {};
  for (std::size_t done = 0; done < megabytes + kWindow; done += kWindow) {
    const double begin = now_ns();
    for (std::size_t i = 0; i < kWindow; ++i) start(i * kMegabyte, &requests[i]);
    for (rma_request_t& request : requests) check(rma_wait(&request));
    check(rma_fence(1));
    times.push_back((now_ns() - begin) / kWindow);
  }
  times.erase(times.begin());  // the first one connects and registers
  return times;
}

void measure_rows(const Job& job, const SharedMemory& memory, const std::string& target) {
  char* const here = memory.mine();
  char* const there = memory.of(1);
  const auto record = [&](const std::string& row, std::size_t bytes, std::vector<double> samples) {
    job.record("complete", row + ", " + target, "ns", bytes, std::move(samples));
  };
  record("write 8 B", 8, time_each(job.options.iterations, kFirstOps, [&](std::size_t) {
           check(rma_put(there, here, 8, 1));
           check(rma_fence(1));
         }));
  record("read 8 B", 8, time_each(job.options.iterations, kFirstOps, [&](std::size_t) {
           check(rma_get(here, there, 8, 1));
         }));
  record("write 1 MiB", kMegabyte,
         windows(job.options.megabytes, [&](std::size_t at, rma_request_t* request) {
           check(rma_put_nb(there + at, here + at, kMegabyte, 1, request));
         }));
  record("read 1 MiB", kMegabyte, windows(job.options.megabytes, [&](std::size_t at, rma_request_t* request) {
           check(rma_get_nb(here + at, there + at, kMegabyte, 1, request));
         }));
}

}  // namespace

void measure_complete(const Job& job) {
  const SharedMemory memory(kWindow * kMegabyte, job.size);
  const SharedMemory flag(sizeof(std::uint64_t), job.size);
  // A target that waits in a call polls for its own operations.
  if (job.rank == 0) measure_rows(job, memory, "target waits");
  check(rma_barrier(rma_team_world()));
  while_target(
      job, flag, [&] { measure_rows(job, memory, "target polls"); },
      [] {
        int found = 0;
        check(rma_iprobe(0, 0, 0, &found, nullptr));
      });
  while_target(
      job, flag, [&] { measure_rows(job, memory, "target computes"); }, [] {});
  while_target(
      job, flag, [&] { measure_rows(job, memory, "target sleeps"); },
      [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
}

}  // namespace rma::bench
