/**
 * @file overlap.cpp
 * Overlap of nonblocking transfers with computation: contiguous ones, and two-dimensional ones with segments
 * of one size.
 */
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "figures/job.hpp"
#include "rma/messages.h"

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

namespace {

constexpr int kTag = 1;
constexpr std::uint32_t kContext = 3;

void require(rma_status_t status) {
  if (status != RMA_SUCCESS) rma_abort(EXIT_FAILURE, rma_last_error());
}

}  // namespace

// Rank 1 sends when rank 0 has posted its receive and says so by an empty message.
void measure_message_overlaps(const Job& job) {
  CacheScrubber scrubber;
  Samples samples(job.options.cold ? "message overlap cold" : "message overlap");
  const std::size_t most = *std::max_element(job.options.sizes.begin(), job.options.sizes.end());
  std::vector<std::byte> buffer(most);
  const auto serve = [&](std::size_t bytes) {
    require(rma_recv(nullptr, 0, 0, kTag, kContext, nullptr));
    require(rma_send(buffer.data(), bytes, 0, kTag, kContext));
  };
  for (std::size_t i = 0; i < job.options.repetitions * kOverlapsPerRepetition; ++i) {
    for (const std::size_t bytes : job.options.sizes) {
      const Case each = {
          .put = false, .layout = "message", .bytes = bytes, .segment = bytes, .gap = 0, .named = bytes};
      rma_request_t request = RMA_REQUEST_NULL;
      if (job.world.rank() == 1) {
        serve(bytes);  // alone
        serve(bytes);  // beside computation
      } else if (job.initiator()) {
        measure_overlap(
            each, samples, job.options.cold ? &scrubber : nullptr,
            [&] {
              require(rma_recv_nb(buffer.data(), bytes, 1, kTag, kContext, nullptr, &request));
              require(rma_send(nullptr, 0, 1, kTag, kContext));
            },
            [&] { require(rma_wait(&request)); });
      }
    }
  }
  if (job.initiator()) samples.give(job.report, job.options.form);
  job.world.barrier();
}

}  // namespace rma::bench
