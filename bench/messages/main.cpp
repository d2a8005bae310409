/**
 * @file main.cpp
 * messages-bench: the measurements of the figures of three papers on messages. bench/figures.sh runs it.
 */
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "harness/modes.hpp"
#include "messages/job.hpp"

namespace rma::bench {

void Job::record(const std::string& suite, const std::string& row, const std::string& unit, std::size_t bytes,
                 std::vector<double> samples) const {
  if (rank() != 0) return;
  report.rows.push_back({.name = {.suite = suite, .row = row, .form = options.form, .bytes = bytes},
                         .unit = unit,
                         .spread = summarize(std::move(samples))});
}

namespace {

constexpr Mode<Job> kModes[] = {
    {"latency", "half a round trip, by size", measure_latency},
    {"overhead", "processor time of a message at its sender and its receiver, by size", measure_overhead},
    {"bandwidth", "windows of messages with one reply: bandwidth and message rate, by size",
     measure_bandwidth},
    {"reuse", "bandwidth by size and by how often the buffers at both ends are used", measure_reuse},
    {"effective", "b_eff: all ranks in rings", measure_effective},
    {"peers", "half a round trip of 8 bytes, by the number of rank 0's peers", measure_peers},
    {"active", "a round trip of active messages while both ranks poll", measure_active}};

int measure(const MessagesOptions& options) {
  const rma::Environment environment;
  const int size = rma::size();
  const std::size_t most = options.peers.empty() ? 0 : std::ranges::max(options.peers);
  const bool peers = std::ranges::find(options.modes, "peers") != options.modes.end();
  if (size < 2 || (peers && most >= static_cast<std::size_t>(size))) {
    std::fprintf(stderr, "messages-bench: too few ranks: %d\n", size);
    return 2;
  }
  Report report;
  report.backend = "rma";
  report.ranks = size;
  const Job job = {.options = options, .report = report, .world = Team::world()};
  run_modes<Job>(job, kModes, options.modes);
  return job.rank() == 0 ? publish(report, options.json, "messages-bench") : EXIT_SUCCESS;
}

int run(int argc, char** argv) {
  MessagesOptions options;
  CLI::App app{"Measures two-sided messages, as the figures of the papers do"};
  const auto count = [&](const std::string& name, std::size_t& value, const std::string& text) {
    app.add_option("--" + name, value, text)->check(CLI::Range(1, 1'000'000))->capture_default_str();
  };
  add_modes<Job>(app, kModes, options.modes, options.json);
  app.add_option("--form", options.form, "Goes with each row, to tell settings apart");
  count("iterations", options.iterations, "Messages of a latency or an overhead");
  count("window", options.window, "Messages of a bandwidth before the reply");
  count("windows", options.windows, "Samples of a bandwidth");
  count("pause", options.pause, "Microseconds in which a message arrives, for overhead");
  count("buffers", options.buffers, "Buffers for reuse; each is a sample");
  app.add_option("--sizes", options.sizes, "Bytes of a message; each mode has defaults")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--uses", options.uses, "How often buffers are used, for reuse")
      ->delimiter(',')
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--peers", options.peers, "Numbers of peers, for peers")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--longest", options.longest, "Longest message of effective, 8 KiB or more")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1} << 13, std::size_t{1} << 30));
  app.add_option("--budget", options.budget, "Bytes that a sample of effective sends to each neighbour")
      ->transform(CLI::AsSizeValue(false));
  CLI11_PARSE(app, argc, argv);
  try {
    return measure(options);
  } catch (const rma::Error& error) {
    std::fprintf(stderr, "messages-bench: %s\n", error.what());
    // The other ranks wait for this one.
    if (rma_initialized() == 1) rma::abort(EXIT_FAILURE, "a measured operation failed");
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::run(argc, argv); }
