/**
 * @file all.hpp
 * The list of suites of a backend, and the main function of the programs that measure them.
 */
#pragma once

#include <vector>

#include "harness/program.hpp"
#include "suites/atomic.hpp"
#include "suites/collective.hpp"
#include "suites/contiguous.hpp"
#include "suites/noncontiguous.hpp"

namespace rma::bench {

template <Backend B>
std::vector<Suite<B>> all_suites() {
  return {
      {{"put", "put by size, hot and cold buffers: latency and bandwidth"}, put_suite<B>, Arena::kLargeBytes},
      {{"get", "get by size, hot and cold buffers: latency and bandwidth"}, get_suite<B>, Arena::kLargeBytes},
      {{"rate", "nonblocking puts, 64 at a time: time per message"}, rate_suite<B>},
      {{"strided", "strided put and get by segment size"}, strided_suite<B>},
      {{"vector", "I/O vector put and get by segment size, shuffled"}, vector_suite<B>},
      {{"accumulate", "accumulate of doubles by count"}, accumulate_suite<B>},
      {{"fetch-add", "fetch-add of one rank, and of all on one counter"}, fetch_add_suite<B>},
      {{"barrier", "barrier of all ranks"}, barrier_suite<B>},
      {{"allreduce", "allreduce of doubles by size, all ranks"}, allreduce_suite<B>},
      {{"notify", "put with notification, ping-pong: one way"}, notify_suite<B>},
      {{"idle", "processor time of a rank that waits in a barrier"}, idle_suite<B>}};
}

template <Backend B>
int bench_main(int argc, char** argv) {
  return run_program<B>(argc, argv, all_suites<B>());
}

}  // namespace rma::bench
