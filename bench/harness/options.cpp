#include "harness/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace rma::bench {

bool Options::wants(const std::string& suite) const {
  return suites.empty() || std::find(suites.begin(), suites.end(), suite) != suites.end();
}

Parsed parse_options(int argc, char** argv, const std::string& backend,
                     const std::vector<SuiteName>& suites) {
  Parsed parsed;
  Options& options = parsed.options;
  std::vector<std::string> names;
  names.reserve(suites.size());
  for (const SuiteName& suite : suites) names.push_back(suite.name);

  CLI::App app{
      "Measures communication between processes on one host (" + backend +
      "). Start at least two of them with a launcher, for example: rmarun -n 2 --bind core rma-bench"};
  double batch_us = 400;
  double idle_seconds = 10;
  app.add_option("--suite", options.suites, "Suites to run, separated by commas (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_flag("--list", options.list, "List the suites and leave");
  app.add_option("--json", options.json, "Write the results as JSON to this file (- for standard output)");
  app.add_flag("--quick", options.quick,
               "Take at most three very short samples of each row: shows that it works, measures nothing");
  app.add_option("--repetitions", options.repetitions, "Samples of each row")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--batch", batch_us, "Least length of one sample in microseconds")
      ->check(CLI::Range(1.0, 1e7))
      ->capture_default_str();
  app.add_option("--idle-seconds", idle_seconds, "How long the idle suite lets the ranks wait")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.leave = true;
    parsed.exit_code = app.exit(error);
    return parsed;
  }

  if (options.quick) {
    options.repetitions = std::min(options.repetitions, 3);
    batch_us = std::min(batch_us, 5.0);
    idle_seconds = std::min(idle_seconds, 0.05);
  }
  options.batch = std::chrono::nanoseconds(static_cast<long long>(batch_us * 1e3));
  options.idle_wait = std::chrono::milliseconds(static_cast<long long>(idle_seconds * 1e3));
  return parsed;
}

}  // namespace rma::bench
