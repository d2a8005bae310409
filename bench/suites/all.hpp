/**
 * @file all.hpp
 * The list of suites, and the main function that every measuring program has.
 */
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "harness/measure.hpp"
#include "harness/options.hpp"
#include "suites/atomic.hpp"
#include "suites/collective.hpp"
#include "suites/contiguous.hpp"
#include "suites/noncontiguous.hpp"

namespace rma::bench {

template <Backend B>
struct Suite {
  SuiteName name;
  void (*run)(Measure<B>&);
};

template <Backend B>
std::vector<Suite<B>> all_suites() {
  return {{{"put", "put by size, hot and cold buffers: latency and bandwidth"}, put_suite<B>},
          {{"get", "get by size, hot and cold buffers: latency and bandwidth"}, get_suite<B>},
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

/** Parses, measures, prints. Options are read before the job is joined: --help needs no launcher. */
template <Backend B>
int bench_main(int argc, char** argv) {
  const std::vector<Suite<B>> suites = all_suites<B>();
  std::vector<SuiteName> names;
  names.reserve(suites.size());
  for (const Suite<B>& suite : suites) names.push_back(suite.name);
  const Parsed parsed = parse_options(argc, argv, B::name(), names);
  if (parsed.leave) return parsed.exit_code;
  const Options& options = parsed.options;
  if (options.list) {
    for (const SuiteName& name : names) std::printf("%-12s %s\n", name.name.c_str(), name.about.c_str());
    return 0;
  }

  B backend(argc, argv);
  const auto ranks = static_cast<std::size_t>(backend.size());
  if (ranks < 2 || ranks > Arena::kMaxRanks) {
    if (backend.rank() == 0) {
      std::fprintf(stderr, "%s: measures between 2 and %zu processes, and was started as %zu; try: %s\n",
                   argv[0], Arena::kMaxRanks, ranks, "rmarun -n 2 --bind core rma-bench");
    }
    return backend.leave(2);
  }
  const std::size_t arena = options.wants("put") || options.wants("get") ? Arena::kLargeBytes : Arena::kBytes;
  backend.allocate(arena);
  std::memset(backend.local(), 0, arena);
  backend.sync();

  Measure<B> measure(backend, options);
  for (const Suite<B>& suite : suites) {
    if (options.wants(suite.name.name)) suite.run(measure);
  }

  int exit_code = 0;
  if (backend.rank() == 0) {
    if (options.json != "-") measure.report().print();
    if (!options.json.empty() && !measure.report().write_json(options.json)) {
      std::fprintf(stderr, "%s: cannot write the results to %s\n", argv[0], options.json.c_str());
      exit_code = 1;
    }
  }
  return backend.leave(exit_code);
}

}  // namespace rma::bench
