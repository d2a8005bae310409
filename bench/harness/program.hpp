/**
 * @file program.hpp
 * The main function of every measuring program: it reads the options, joins the job, measures and prints.
 */
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <vector>

#include "harness/measure.hpp"
#include "harness/options.hpp"

namespace rma::bench {

template <Process B>
struct Suite {
  SuiteName name;
  void (*run)(Measure<B>&);
  std::size_t arena = Arena::kBytes;  ///< bytes that it needs of every rank's arena, if there are arenas
};

/** The exit code of a program that found wrong data. It did not measure those rows. */
inline constexpr int kWrongData = 3;

/** Joins the job. A backend that depends on the options gets them. */
template <Process B>
B join(int& argc, char**& argv, const Options& options) {
  if constexpr (std::constructible_from<B, int&, char**&, const Options&>) {
    return B(argc, argv, options);
  } else {
    return B(argc, argv);
  }
}

/** Gives every rank an arena of zeros that is large enough for the selected suites. */
template <Member B>
void allocate_arena(B& backend, const std::vector<Suite<B>>& suites, const Options& options) {
  std::size_t arena = Arena::kBytes;
  for (const Suite<B>& suite : suites) {
    if (options.wants(suite.name.name)) arena = std::max(arena, suite.arena);
  }
  backend.allocate(arena);
  std::memset(backend.local(), 0, arena);
}

/** Reads the options before it joins the job, so that --help needs no launcher. */
template <Process B>
int run_program(int argc, char** argv, const std::vector<Suite<B>>& suites) {
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

  B backend = join<B>(argc, argv, options);
  const auto ranks = static_cast<std::size_t>(backend.size());
  if (ranks < 2 || ranks > Arena::kMaxRanks) {
    if (backend.rank() == 0) {
      std::fprintf(stderr,
                   "%s: measures between 2 and %zu processes, and was started as %zu; try: rmarun -n 2 "
                   "--bind core %s\n",
                   argv[0], Arena::kMaxRanks, ranks, argv[0]);
    }
    return backend.leave(2);
  }
  if constexpr (Member<B>) allocate_arena(backend, suites, options);
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
    } else if (measure.wrong() > 0) {
      exit_code = kWrongData;
    }
  }
  return backend.leave(exit_code);
}

}  // namespace rma::bench
