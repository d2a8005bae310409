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
#include "harness/modes.hpp"

namespace rma::bench {
namespace {

constexpr Mode<Job> kModes[] = {
    {"contiguous", "bandwidth of contiguous transfers by size", measure_contiguous},
    {"strided", "bandwidth of strided transfers by the segment's size", measure_strided},
    {"cpu-tolerance", "both, with the target idle and computing; its own slowdown", measure_tolerance},
    {"overlap", "how much of a nonblocking transfer computation hides", measure_overlaps},
    {"message-overlap", "how much of a message's receive computation hides", measure_message_overlaps},
    {"rmw", "latency of read-modify-write", measure_rmw},
    {"idle", "CPU time of the library's threads while nothing happens", measure_idle}};

int measure(const FiguresOptions& options) {
  const rma::Environment environment;
  if (rma::size() < 2) {
    std::fprintf(stderr, "figures-bench: measures between 2 ranks or more, and was started as 1\n");
    return 2;
  }
  Report report;
  report.backend = "rma";
  report.ranks = rma::size();
  const Job job = {.options = options, .report = report, .world = rma::Team::world()};
  run_modes<Job>(job, kModes, options.modes);
  return job.initiator() ? publish(report, options.json, "figures-bench") : EXIT_SUCCESS;
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
  add_modes<Job>(app, kModes, options.modes, options.json);
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
  try {
    return measure(options);
  } catch (const rma::Error& error) {
    std::fprintf(stderr, "figures-bench: %s\n", error.what());
    // The other ranks wait for this one.
    if (rma_initialized() == 1) rma::abort(EXIT_FAILURE, "a measured operation failed");
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
