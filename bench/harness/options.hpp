/**
 * @file options.hpp
 * The command line of a measuring program.
 */
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace rma::bench {

struct Options {
  std::vector<std::string> suites;  ///< empty: all
  std::string json;                 ///< file for the results as JSON; "-" is standard output; empty: none
  bool list = false;
  bool quick = false;
  int repetitions = 25;                         ///< samples taken of each row
  std::chrono::nanoseconds batch{400'000};      ///< the least duration of one sample
  std::chrono::milliseconds idle_wait{10'000};  ///< time for which a rank waits in the idle suite

  /** Returns whether `suite` was selected. */
  [[nodiscard]] bool wants(const std::string& suite) const;
};

/** The name of a suite, as in --suite and --list. */
struct SuiteName {
  std::string name;
  std::string about;
};

/** The result of parsing: the options, or an exit code after --help or an error, whose text
 * is already printed. */
struct Parsed {
  Options options;
  bool leave = false;
  int exit_code = 0;
};

/** Reads the command line of the program that measures `backend`. Unknown suites are refused, with the list.
 */
Parsed parse_options(int argc, char** argv, const std::string& backend, const std::vector<SuiteName>& suites);

}  // namespace rma::bench
