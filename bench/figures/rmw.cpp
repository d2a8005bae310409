/**
 * @file rmw.cpp
 * Latency of read-modify-write on 8 bytes of another host.
 */
#include "figures/job.hpp"
#include "network/ticks.hpp"

namespace rma::bench {

void measure_rmw(const Job& job) {
  constexpr std::size_t kWarmUp = 20;
  const rma::SharedArray<std::uint64_t> counter(job.world, 1);
  counter.local()[0] = 0;
  job.world.barrier();
  if (job.initiator()) {
    Samples samples("rmw");
    const auto record = [&](const std::string& row, const std::vector<double>& times) {
      for (const double time : times) samples.add(row, "ns", 0, time);
    };
    record("fetch-add",
           time_each(job.options.iterations, kWarmUp, [&](std::size_t) { rma::fetch_add(counter[1], 1); }));
    record("compare-swap", time_each(job.options.iterations, kWarmUp,
                                     [&](std::size_t i) { rma::compare_swap(counter[1], i, i + 1); }));
    samples.give(job.report, job.options.form);
  }
  job.world.barrier();
}

}  // namespace rma::bench
