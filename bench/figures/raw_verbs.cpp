/**
 * @file raw_verbs.cpp
 * raw-verbs: overlap and CPU tolerance of the device itself, measured as figures-bench measures the library.
 * Without --connect it is the target.
 */
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "figures/raw_pair.hpp"

namespace rma::bench {
namespace {

int run(int argc, char** argv) {
  RawOptions options;
  CLI::App app{"Measures overlap and CPU tolerance of an RDMA device; both sides need the same options"};
  app.add_option("--device", options.device, "RDMA device")->capture_default_str();
  app.add_option("--connect", options.connect,
                 "Host on which the target runs; without it this is the target");
  app.add_option("--port", options.port, "TCP port by which the two meet")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--json", options.json, "Write the results as JSON to this file (- for standard output)");
  app.add_option("--repetitions", options.repetitions, "Samples of each row")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--window", options.window, "Transfers of a bandwidth that are under way at once")
      ->check(CLI::Range(1, static_cast<int>(RawDevice::kDepth)))
      ->capture_default_str();
  app.add_option("--sizes", options.sizes, "Bytes of a transfer")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber);
  app.add_option("--segments", options.segments,
                 "Bytes of the segments of strided transfers, by gathers and scatters; also measures "
                 "two-dimensional ones of --sizes")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber);
  app.add_option("--form", options.form, "Goes with each row")->capture_default_str();
  app.add_flag("--asleep", options.asleep, "Whoever waits sleeps; else it polls without pause");
  app.add_flag("--cold", options.cold, "Empty the caches before each overlapped transfer");
  CLI11_PARSE(app, argc, argv);
  for (const std::size_t segment : options.segments) {
    if (options.total % segment != 0) {
      std::fprintf(stderr, "raw-verbs: segments divide %zu\n", options.total);
      return 2;
    }
  }
  const Wire wire(options.connect, options.port);
  RawPair pair(options, wire);
  if (options.connect.empty()) {
    pair.obey();
    return EXIT_SUCCESS;
  }
  Report report;
  report.backend = "raw verbs";
  report.ranks = 2;
  pair.initiate(report);
  if (options.json != "-") report.print();
  if (!options.json.empty() && !report.write_json(options.json)) {
    std::fprintf(stderr, "raw-verbs: cannot write the results to %s\n", options.json.c_str());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
