/**
 * @file bandwidth.cpp
 * Bandwidth by size, and how busy the two hosts were meanwhile. As many operations are under way as the
 * library allows (RMA_QP_DEPTH: 127; perftest has 128).
 */
#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "harness/clock.hpp"
#include "network/job.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;
constexpr std::size_t kPage = 4096;

/** The times of this host's processors since it started, in the kernel's ticks. */
struct HostTime {
  std::uint64_t busy = 0;
  std::uint64_t all = 0;

  static HostTime now() {
    // user, nice, system, idle, iowait, irq, softirq, steal
    std::array<std::uint64_t, 8> ticks = {};
    std::ifstream file("/proc/stat");
    std::string name;
    file >> name;
    HostTime time;
    for (std::uint64_t& each : ticks) {
      file >> each;
      time.all += each;
    }
    time.busy = time.all - ticks[3] - ticks[4];
    return time;
  }
  [[nodiscard]] double percent_since(const HostTime& start) const {
    if (all == start.all) return 0;
    return 100.0 * static_cast<double>(busy - start.busy) / static_cast<double>(all - start.all);
  }
};

/** Calls op `count` times and completes the operations together. The row is in MiB/s, as
 * perftest's average is. */
template <typename Op>
void measure(const Job& job, const SharedMemory& memory, const char* call, std::size_t bytes, Op&& op) {
  const std::string row = std::string(call) + " bandwidth " + size_text(bytes);
  const std::size_t count = std::max<std::size_t>(job.options.megabytes * kMebi / bytes, 1);
  check(rma_barrier(rma_team_world()));
  const HostTime start = HostTime::now();
  if (job.rank == 0) {
    const double begin = now_ns();
    for (std::size_t i = 0; i < count; ++i) check(op());
    check(rma_fence(1));
    const double elapsed = now_ns() - begin;
    job.record("bandwidth", row, "MiB/s", bytes,
               {static_cast<double>(count * bytes) / static_cast<double>(kMebi) / elapsed * 1e9});
  }
  check(rma_barrier(rma_team_world()));
  auto* const busy = reinterpret_cast<double*>(memory.of(0));
  if (job.rank <= 1) {
    const double mine = HostTime::now().percent_since(start);
    check(rma_put(busy + job.rank, &mine, sizeof mine, 0));
  }
  check(rma_barrier(rma_team_world()));
  job.record("bandwidth", row + ": busy here", "%", 0, {reinterpret_cast<double*>(memory.mine())[0]});
  job.record("bandwidth", row + ": busy there", "%", 0, {reinterpret_cast<double*>(memory.mine())[1]});
}

}  // namespace

void measure_bandwidth(const Job& job) {
  const std::size_t most = *std::max_element(job.options.sizes.begin(), job.options.sizes.end());
  const SharedMemory memory(kPage + most, job.size);
  char* const here = memory.mine() + kPage;
  char* const there = memory.of(1) + kPage;
  std::fill_n(here, most, '\1');
  // Connects, and touches the pages on both sides.
  check(rma_barrier(rma_team_world()));
  if (job.rank == 0) check(rma_put(there, here, most, 1));
  for (const std::size_t bytes : job.options.sizes) {
    measure(job, memory, "put", bytes, [&] { return rma_put_nbi(there, here, bytes, 1); });
    measure(job, memory, "get", bytes, [&] { return rma_get_nbi(here, there, bytes, 1); });
  }
}

}  // namespace rma::bench
