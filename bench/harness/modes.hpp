/**
 * @file modes.hpp
 * What the programs with a --mode option have in common. Each has a Job type of its own.
 */
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "harness/report.hpp"

namespace rma::bench {

/** A value of --mode: one function that measures. */
template <class Job>
struct Mode {
  const char* name;
  const char* about;
  void (*run)(const Job&);
};

/** Adds --mode, whose help lists the modes, and --json. */
template <class Job>
void add_modes(CLI::App& app, std::span<const Mode<Job>> modes, std::vector<std::string>& chosen,
               std::string& json) {
  std::vector<std::string> names;
  std::string about = "What to measure, separated by commas:";
  for (const Mode<Job>& mode : modes) {
    names.emplace_back(mode.name);
    about += std::string("\n") + mode.name + ": " + mode.about;
  }
  app.add_option("--mode", chosen, about)->delimiter(',')->check(CLI::IsMember(names))->required();
  app.add_option("--json", json, "Write the results as JSON to this file (- for standard output)");
}

/** Runs the chosen modes, in the order of `modes`. */
template <class Job>
void run_modes(const Job& job, std::span<const Mode<Job>> modes, const std::vector<std::string>& chosen) {
  for (const Mode<Job>& mode : modes) {
    if (std::find(chosen.begin(), chosen.end(), mode.name) != chosen.end()) mode.run(job);
  }
}

/** Prints the results, and writes them to the file `json` if it is given. Returns the exit code. */
[[nodiscard]] inline int publish(const Report& report, const std::string& json, const char* program) {
  if (json != "-") report.print();
  if (json.empty() || report.write_json(json)) return EXIT_SUCCESS;
  std::fprintf(stderr, "%s: cannot write the results to %s\n", program, json.c_str());
  return EXIT_FAILURE;
}

}  // namespace rma::bench
