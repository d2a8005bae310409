/**
 * @file main.cpp
 * network-bench: librma between hosts, in the patterns in which perftest measures the device itself.
 * compare_verbs.sh runs both.
 */
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "harness/modes.hpp"
#include "network/job.hpp"

namespace rma::bench {

void check(rma_status_t status) {
  if (status == RMA_SUCCESS) return;
  std::fprintf(stderr, "network-bench: %s: %s\n", rma_strerror(status), rma_last_error());
  rma_abort(EXIT_FAILURE, "a measured operation failed");
}

void Job::record(const std::string& suite, const std::string& row, const std::string& unit, std::size_t bytes,
                 std::vector<double> samples) const {
  if (rank != 0) return;
  report.rows.push_back({.name = {.suite = suite, .row = options.label + row, .form = "", .bytes = bytes},
                         .unit = unit,
                         .spread = summarize(std::move(samples))});
}

SharedMemory::SharedMemory(std::size_t bytes, int ranks) : all_(static_cast<std::size_t>(ranks)) {
  check(rma_malloc(rma_team_world(), bytes, 4096, all_.data(), &mine_));
}

SharedMemory::~SharedMemory() { check(rma_free(rma_team_world(), mine_)); }

namespace {

constexpr Mode<Job> kModes[] = {
    {"latency", "put, get and fetch-add of 8 bytes", measure_latency},
    {"bandwidth", "put and get by size, many at once, and how busy the hosts are", measure_bandwidth},
    {"reuse", "puts from a buffer outside the heap, by how often it is used", measure_reuse},
    {"complete", "puts with a fence, and gets, while the target waits, computes or sleeps", measure_complete},
    {"messages", "two-sided messages: latency, and bandwidth by size", measure_messages},
    {"memory", "memory of each rank by its connections (one host, RMA_SHM=off, --meet)", measure_memory}};

int run(int argc, char** argv) {
  NetworkOptions options;
  CLI::App app{"Measures librma over the network, between ranks 0 and 1; mode memory between all"};
  add_modes<Job>(app, kModes, options.modes, options.json);
  app.add_option("--label", options.label, "Begins each row's name");
  app.add_option("--iterations", options.iterations, "Operations of a latency")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  app.add_option("--megabytes", options.megabytes, "What a bandwidth moves")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--sizes", options.sizes, "Bytes of a transfer, for bandwidth and messages")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--uses", options.uses, "How often a buffer is used, for reuse")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--buffer", options.buffer, "Bytes of a buffer, for reuse")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--buffers", options.buffers, "How many buffers are used, one after the other, for reuse")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--meet", options.meet, "File that the ranks of one host share, for memory: empty, new");
  app.add_flag("--messages", options.messages, "Ranks communicate by messages instead of puts, for memory");
  CLI11_PARSE(app, argc, argv);
  const bool memory = std::find(options.modes.begin(), options.modes.end(), "memory") != options.modes.end();
  if (memory && (options.meet.empty() || options.modes.size() > 1)) {
    std::fprintf(stderr, "network-bench: mode memory is run alone, and needs --meet\n");
    return 2;
  }
  if (std::any_of(options.sizes.begin(), options.sizes.end(), [](std::size_t size) { return size == 0; })) {
    std::fprintf(stderr, "network-bench: --sizes are 1 byte or more\n");
    return 2;
  }

  if (const rma_status_t status = rma_init(); status != RMA_SUCCESS) {
    std::fprintf(stderr, "network-bench: %s: %s\n", rma_strerror(status), rma_last_error());
    return EXIT_FAILURE;
  }
  Report report;
  report.backend = "rma";
  report.ranks = rma_size();
  const Job job = {.options = options, .report = report, .rank = rma_rank(), .size = rma_size()};
  int exit_code = 0;
  if (job.size < 2) {
    std::fprintf(stderr, "network-bench: measures between 2 ranks or more, and was started as 1\n");
    exit_code = 2;
  } else {
    run_modes<Job>(job, kModes, options.modes);
    if (job.rank == 0) exit_code = publish(report, options.json, "network-bench");
  }
  check(rma_finalize());
  return exit_code;
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
