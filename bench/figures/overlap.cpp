/**
 * @file overlap.cpp
 * Overlap of nonblocking transfers with computation: contiguous ones, and two-dimensional ones with segments
 * of one size.
 */
#include "figures/job.hpp"

namespace rma::bench {

void measure_overlaps(const Job& job) {
  std::vector<Case> cases = contiguous_cases(job.options);
  for (const std::size_t bytes : job.options.sizes) {
    if (bytes < 2 * job.options.segment) continue;
    for (const bool put : {true, false}) {
      cases.push_back({.put = put,
                       .layout = "2-D",
                       .bytes = bytes,
                       .segment = job.options.segment,
                       .gap = job.options.segment,
                       .named = bytes});
    }
  }
  const Buffers buffers(job, cases);
  if (job.initiator()) {
    CacheScrubber scrubber;
    Samples samples(job.options.cold ? "overlap cold" : "overlap");
    for (const Case& each : cases) buffers.move(each);
    for (std::size_t i = 0; i < job.options.repetitions * kOverlapsPerRepetition; ++i) {
      for (const Case& each : cases) {
        rma::Request request;
        measure_overlap(
            each, samples, job.options.cold ? &scrubber : nullptr, [&] { request = buffers.start(each); },
            [&] { Buffers::finish(each, request); });
      }
    }
    samples.give(job.report, job.options.form);
  }
  job.world.barrier();
}

}  // namespace rma::bench
