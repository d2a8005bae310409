/**
 * @file main.cpp
 * figures-bench: the measurements of the paper's figures, between ranks 0 and 1 on two hosts.
 * bench/figures.sh runs it with every protocol.
 */
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "figures/job.hpp"

namespace rma::bench {
namespace {

struct Mode {
  const char* name;
  const char* about;
  void (*run)(const Job&);
};
constexpr Mode kModes[] = {
    {"contiguous", "bandwidth of contiguous transfers by size", measure_contiguous},
    {"strided", "bandwidth of strided transfers by the segment's size", measure_strided},
    {"cpu-tolerance", "both, with the target idle and computing; its own slowdown", measure_tolerance},
    {"overlap", "how much of a nonblocking transfer computation hides", measure_overlaps},
    {"message-overlap", "how much of a message's receive computation hides", measure_message_overlaps},
    {"rmw", "latency of read-modify-write", measure_rmw},
    {"idle", "CPU time of the library's threads while nothing happens", measure_idle}};

void run_modes(const FiguresOptions& options, int& exit_code) {
  const rma::Environment environment;
  if (rma::size() < 2) {
    std::fprintf(stderr, "figures-bench: measures between 2 ranks or more, and was started as 1\n");
    exit_code = 2;
    return;
  }
  Report report;
  report.backend = "rma";
  report.ranks = rma::size();
  const Job job = {.options = options, .report = report, .world = rma::Team::world()};
  for (const Mode& mode : kModes) {
    if (std::find(options.modes.begin(), options.modes.end(), mode.name) != options.modes.end())
      mode.run(job);
  }
  if (!job.initiator()) return;
  if (options.json != "-") report.print();
  if (!options.json.empty() && !report.write_json(options.json)) {
    std::fprintf(stderr, "figures-bench: cannot write the results to %s\n", options.json.c_str());
    exit_code = EXIT_FAILURE;
  }
}

/** Returns a text that says which sizes are invalid; empty if none is. */
std::string refuse(const FiguresOptions& options) {
  const auto zero = [](std::size_t size) { return size == 0; };
  if (options.segment == 0 || std::any_of(options.segments.begin(), options.segments.end(), zero))
    return "segments are 1 byte or more";
  for (const std::size_t segment : options.segments) {
    if (options.total % segment != 0) return "--total is a multiple of each of --segments";
  }
  for (const std::size_t size : options.sizes) {
    if (size < 2 || size % 2 != 0) return "--sizes are even";
    if (size > options.segment && size % options.segment != 0)
      return "--sizes larger than --segment are multiples of it";
  }
  return "";
}

int run(int argc, char** argv) {
  FiguresOptions options;
  CLI::App app{"Measures what the paper's figures show, between ranks 0 and 1 on two hosts"};
  std::vector<std::string> names;
  std::string about = "What to measure, separated by commas:";
  for (const Mode& mode : kModes) {
    names.emplace_back(mode.name);
    about += std::string("\n") + mode.name + ": " + mode.about;
  }
  app.add_option("--mode", options.modes, about)->delimiter(',')->check(CLI::IsMember(names))->required();
  app.add_option("--json", options.json, "Write the results as JSON to this file (- for standard output)");
  app.add_option("--form", options.form, "Goes with each row, to tell settings apart");
  app.add_option("--repetitions", options.repetitions, "Samples of each row")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "Operations of a latency")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  app.add_option("--window", options.window, "Transfers of a bandwidth that are under way at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--idle-seconds", options.idle_seconds, "How long mode idle waits")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_option("--sizes", options.sizes, "Bytes of contiguous and of overlapped transfers")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--segments", options.segments, "Bytes of the segments of strided transfers")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--total", options.total, "Bytes of a strided transfer")->transform(CLI::AsSizeValue(false));
  app.add_option("--segment", options.segment, "Bytes of a segment of overlapped two-dimensional transfers")
      ->transform(CLI::AsSizeValue(false));
  app.add_flag("--cold", options.cold, "Empty the caches before each overlapped transfer");
  app.add_flag("--copied", options.copied,
               "Contiguous data in two halves with a cache line between them, which every protocol moves");
  CLI11_PARSE(app, argc, argv);
  if (const std::string wrong = refuse(options); !wrong.empty()) {
    std::fprintf(stderr, "figures-bench: %s\n", wrong.c_str());
    return 2;
  }
  int exit_code = EXIT_SUCCESS;
  try {
    run_modes(options, exit_code);
  } catch (const rma::Error& error) {
    std::fprintf(stderr, "figures-bench: %s\n", error.what());
    // The other ranks wait for this one.
    if (rma_initialized() == 1) rma::abort(EXIT_FAILURE, "a measured operation failed");
    return EXIT_FAILURE;
  }
  return exit_code;
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
